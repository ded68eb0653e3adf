package sim

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/csisim/csisim/sim/expect"
)

// Until advances virtual time until all expectations hold, at most 10 minutes.
func (c *Cluster) Until(expectations ...expect.Expectation) {
	c.t.Helper()
	c.Within(settleLimit, expectations...)
}

// Within is Until with a limit of virtual time.
func (c *Cluster) Within(limit time.Duration, expectations ...expect.Expectation) {
	c.t.Helper()
	words := make([]string, len(expectations))
	for i, e := range expectations {
		words[i] = e.String()
	}
	what := strings.Join(words, " and ")
	c.say("until " + what)
	w := &wait{evidence: c.evidence, expectations: expectations}
	c.waited(c.await(what, limit, w.over), what, w.last)
}

// Settle advances virtual time until only housekeeping is left, at most 10 minutes.
func (c *Cluster) Settle() {
	c.t.Helper()
	c.standsStill("Settle")
	c.say("settle")
	c.waited(c.world.Settle(settleLimit), "nothing left to do but housekeeping", nil)
}

// Advance advances virtual time by d.
func (c *Cluster) Advance(d time.Duration) {
	c.t.Helper()
	c.standsStill("Advance")
	c.say(fmt.Sprintf("advance %v", d))
	c.waited(c.world.Advance(d), fmt.Sprintf("%v to pass", d), nil)
}

// wait checks expectations while the cluster runs, after each change.
type wait struct {
	evidence     *expect.Evidence
	expectations []expect.Expectation
	looked       bool
	revision     uint64          // revision of the store at the last check
	last         *expect.Failure // the first expectation that did not hold then
}

// over reports whether all expectations hold, or can never hold.
func (w *wait) over() bool {
	revision := w.evidence.Store.Revision()
	news := w.evidence.Update()
	if w.looked && !news && revision == w.revision {
		return w.last == nil
	}
	w.looked, w.revision, w.last = true, revision, nil
	for _, e := range w.expectations {
		if w.last = e.Failure(w.evidence); w.last != nil {
			return false
		}
	}
	return true
}

// waited ends the test if a wait failed, and prints the missing condition, the waiting processes,
// and the preceding events.
func (c *Cluster) waited(err error, what string, missing *expect.Failure) {
	c.t.Helper()
	var stuck *StuckError
	if !errors.As(err, &stuck) {
		c.must(err, "wait for "+what)
		return
	}
	if missing == nil {
		missing = &expect.Failure{Expected: what, About: c.evidence.News(expect.IsFailedCall)}
	}
	if died := expect.Alive(c.allowed.violations).Failure(c.evidence); died != nil {
		c.fail(c.evidence, died)
	}
	f := expect.NeverCame(err, missing.Expected, missing.Got, stuck.Waiting)
	f.About, f.Hint = missing.About, missing.Hint
	c.fail(c.evidence, f)
	c.t.FailNow()
}

// say records the test's next action in the trace.
func (c *Cluster) say(what string) {
	c.world.Exclusively(func() { c.world.Say(what) })
}
