package sim

import (
	"fmt"

	"github.com/csisim/csisim/sim/expect"
)

// Expect looks, at this point, whether something holds: expect.Object, expect.Event, expect.Calls
// and others. It looks at all of them; each that does not hold fails the test.
func (c *Cluster) Expect(expectations ...expect.Expectation) {
	c.t.Helper()
	c.report(c.evidence, expectations...)
}

// ExpectCalls is that CSI calls came in this order; others may stand between. A call
// is an expect.Call or a method's name, in which * stands for any letters.
func (c *Cluster) ExpectCalls(calls ...any) {
	c.t.Helper()
	c.Expect(expect.Calls{Patterns: c.patterns(calls)})
}

// ExpectExactCalls is that these CSI calls came and no others, but for questions for
// capabilities. "..." stands for any calls, also none.
func (c *Cluster) ExpectExactCalls(calls ...any) {
	c.t.Helper()
	c.Expect(expect.Calls{Patterns: c.patterns(calls), Exact: true})
}

// ExpectNoCalls is that no such CSI call came, each as in ExpectCalls.
func (c *Cluster) ExpectNoCalls(calls ...any) {
	c.t.Helper()
	for _, pattern := range c.patterns(calls) {
		c.Expect(expect.Forbidden{Pattern: pattern})
	}
}

// ExpectNothingLeft expects that, at this point, nothing exists that no pod, claim, volume or
// attachment accounts for, except for things that AllowLeftovers allows. The end of a test looks
// for it anyway.
func (c *Cluster) ExpectNothingLeft() {
	c.t.Helper()
	c.Expect(expect.Leftovers(c.allowed.leftovers))
}

// AllowLeftovers allows things to be left behind: patterns such as "mount */globalmount on node-a",
// in which * stands for any text.
func (c *Cluster) AllowLeftovers(patterns ...string) {
	c.allowed.leftovers.Patterns = append(c.allowed.leftovers.Patterns, patterns...)
}

// AllowViolations allows breaches of the CSI spec by drivers, as patterns of their reports, in
// which * stands for any text.
func (c *Cluster) AllowViolations(patterns ...string) {
	c.allowed.violations.Patterns = append(c.allowed.violations.Patterns, patterns...)
}

// FromHere makes calls and events before now not count for later expectations. New does that when
// the cluster is up.
func (c *Cluster) FromHere() {
	c.world.Exclusively(func() { c.evidence.Since = c.world.Last() })
}

// patterns are calls given by name or in full.
func (c *Cluster) patterns(given []any) []expect.Call {
	c.t.Helper()
	all := make([]expect.Call, len(given))
	for i, call := range given {
		switch call := call.(type) {
		case string:
			all[i].Call = call
		case expect.Call:
			all[i] = call
		default:
			c.must(fmt.Errorf("it is a %T; give a method's name or an expect.Call", call), fmt.Sprintf("call %d of the list", i+1))
		}
	}
	return all
}

// report fails the test for expectations that do not hold. The test is failed outside of the
// cluster, so that it names the line of the test.
func (c *Cluster) report(ev *expect.Evidence, expectations ...expect.Expectation) {
	c.t.Helper()
	var failures []*expect.Failure
	c.world.Exclusively(func() {
		ev.Update()
		for _, e := range expectations {
			if f := e.Failure(ev); f != nil {
				failures = append(failures, f)
			}
		}
	})
	for _, f := range failures {
		c.fail(ev, f)
	}
}

// fail fails the test, with the events that led there.
func (c *Cluster) fail(ev *expect.Evidence, f *expect.Failure) {
	c.t.Helper()
	text := ""
	c.world.Exclusively(func() {
		ev.Explain(f)
		text = f.Text(ev.Names)
	})
	c.record.failures = append(c.record.failures, f)
	if attempt, explored := c.t.(judges); explored {
		attempt.add(f.Verdict, text)
		return
	}
	c.t.Errorf("%s", text)
}
