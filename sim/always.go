package sim

import (
	"fmt"
	"time"

	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/sim/expect"
)

// Always requires a condition to hold at the end of each instant of virtual time from this call on,
// in any order and with any fault of a search. holds reads the cluster and must not change it. The
// test fails at its end if the condition was false at some instant. because gives the reason for
// the condition, and is printed.
func (c *Cluster) Always(because string, holds func(*Simulation) bool) {
	c.t.Helper()
	c.onlySimulated("Always", "a real cluster has no instants: say it with Expect, or in a search")
	c.always = append(c.always, &always{because: because, holds: holds})
	c.simulation.EachInstant(func() {
		for _, a := range c.always {
			a.look(c.simulation)
		}
	})
}

// always is an invariant that a test defines.
type always struct {
	because string
	holds   func(*Simulation) bool
	broken  bool
	at      time.Duration // when it was broken
}

func (a *always) look(c *Simulation) {
	if !a.broken && !a.holds(c) {
		a.broken, a.at = true, c.World.Kernel.Elapsed()
	}
}

// String returns the reason why the invariant must hold.
func (a *always) String() string { return a.because }

// Failure returns the failure if the statement did not hold.
func (a *always) Failure(*expect.Evidence) *expect.Failure {
	if !a.broken {
		return nil
	}
	return &expect.Failure{Verdict: verdict.OfStatement(a.because), Expected: "true at every instant", Got: fmt.Sprintf("false at %v", a.at)}
}
