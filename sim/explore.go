package sim

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/explore"
)

// Exploration configures the search of Explore. The zero value makes 200 runs with up to three
// faults of all kinds.
type Exploration struct {
	// Runs is the number of runs, after the calm one. Default: 200, or no limit with Time.
	Runs int
	// Time is the wall time after which the search ends. Default: no limit.
	Time time.Duration
	// Strategy is pct, guided, swarm, random or exhaustive; see docs/reference/explore.md. Default:
	// first each fault alone, then pct.
	Strategy string
	// Seed is the seed of the first run with the strategy; later runs use the following seeds.
	// Default: 1.
	Seed uint64
	// Faults are the kinds that may happen. Default: all; with OrdersOnly none.
	Faults     []fault.Kind
	OrdersOnly bool
	// Budget bounds the faults in a run. Default: 3.
	Budget int
	// Deviations is the number of decisions, besides faults, in which a run of the strategy
	// exhaustive differs from the calm run. Default: 0.
	Deviations int
	// Jobs is the number of concurrent runs. Default: 1.
	Jobs int
}

// Explore runs a test as often as the Exploration says. The runs differ in the order of processes,
// in stale views, and in faults at driver calls and API writes. The test creates its cluster with
// the given option and the given T. Each run has a fresh cluster and driver. Explore shrinks a
// failure to the few decisions that it needs. The outer test then fails and prints these decisions.
// Explore keeps each failure in a file in testdata/explore, which the next go test tries first. A
// test without expectations still fails for leftovers, for lost data, and for breaches of the CSI
// spec.
//
// Expectations must hold in every order and with every fault: wait for state, and do not count
// calls.
func Explore(t T, o Exploration, test func(t T, explored Option)) {
	t.Helper()
	if isPromoted() {
		skip(t, &NotPromotedError{"a search", "a real cluster runs in an order of its own"})
	}
	subject := &explored{name: t.Name(), space: o.space(), learns: o.Strategy == explore.Guided, test: test}
	if shown := subject.run(Calm{}); len(shown) > 0 {
		t.Errorf("it fails in the calm run, without any fault, so it was not explored:\n%s", shown[0].Text)
		return
	}
	kept := keptOf(t.Name())
	if kept.fail(t, subject) {
		return
	}
	found, err := explore.Of(context.Background(), func() (explore.Subject, error) { return subject, nil }, explore.Options{
		Strategy: cmp.Or(o.Strategy, explore.Strategies()[0]), Seed: cmp.Or(o.Seed, 1), Runs: o.runs(), Time: o.Time,
		Budget: subject.space.Budget, Deviations: o.Deviations, Jobs: o.Jobs,
	})
	if err != nil {
		t.Errorf("explore: %v", err)
		return
	}
	for _, f := range found.Findings {
		file, err := kept.write(f)
		if err != nil {
			t.Errorf("keep the finding: %v", err)
		}
		t.Errorf("in %d of %d runs, such as %s, shrunk to:\n%s%s\n\nThe next go test tries this first: %s", f.Runs, found.Runs, f.Found, choicesIn(f.Choices), indented(f.Text), file)
	}
	t.Logf("explored %d runs, %d findings", found.Runs, len(found.Findings))
}

func (o Exploration) runs() int {
	const usual = 200
	if o.Runs == 0 && o.Time == 0 {
		return usual
	}
	return o.Runs
}

func (o Exploration) space() fault.Space {
	const usual = 3
	switch {
	case o.OrdersOnly:
		return fault.Space{}
	case o.Faults == nil:
		o.Faults = fault.Usual()
	}
	return fault.Space{Kinds: o.Faults, Budget: cmp.Or(o.Budget, usual)}
}

// choicesIn returns choices as text, one per line.
func choicesIn(choices []explore.Choice) string {
	var b strings.Builder
	for _, c := range choices {
		fmt.Fprintf(&b, "    %v\n", c)
	}
	return b.String()
}

func indented(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ")
}
