package sim

import (
	"fmt"

	"github.com/csisim/csisim/sim/expect"
)

// Expect checks expectations now: expect.Object, expect.Event, expect.Calls and others. It checks
// all of them, and fails the test for each unmet expectation.
func (c *Cluster) Expect(expectations ...expect.Expectation) {
	c.t.Helper()
	c.report(c.evidence, expectations...)
}

// ExpectCalls expects that the driver received CSI calls in this order. Other calls may occur
// between them. A call is an expect.Call or the name of a method, in which * matches any letters.
func (c *Cluster) ExpectCalls(calls ...any) {
	c.t.Helper()
	c.Expect(expect.Calls{Patterns: c.patterns(calls)})
}

// ExpectExactCalls expects that the driver received these CSI calls and no others, except requests
// for capabilities. "..." stands for any number of calls.
func (c *Cluster) ExpectExactCalls(calls ...any) {
	c.t.Helper()
	c.Expect(expect.Calls{Patterns: c.patterns(calls), Exact: true})
}

// ExpectNoCalls expects that the driver received none of these CSI calls, given as in ExpectCalls.
func (c *Cluster) ExpectNoCalls(calls ...any) {
	c.t.Helper()
	for _, pattern := range c.patterns(calls) {
		c.Expect(expect.Forbidden{Pattern: pattern})
	}
}

// ExpectNothingLeft expects that each mount, directory, process and object belongs to a pod, claim,
// volume or attachment at this point. AllowLeftovers lists exceptions. The end of a test checks
// this anyway.
func (c *Cluster) ExpectNothingLeft() {
	c.t.Helper()
	c.Expect(expect.Leftovers(c.allowed.leftovers))
}

// AllowLeftovers allows leftovers by patterns such as "mount */globalmount on node-a", in which *
// matches any text.
func (c *Cluster) AllowLeftovers(patterns ...string) {
	c.allowed.leftovers.Patterns = append(c.allowed.leftovers.Patterns, patterns...)
}

// AllowViolations allows breaches of the CSI spec by drivers. Its patterns match the reports of
// breaches, and * matches any text.
func (c *Cluster) AllowViolations(patterns ...string) {
	c.allowed.violations.Patterns = append(c.allowed.violations.Patterns, patterns...)
}

// FromHere makes later expectations ignore the calls and events before now. New calls it when the
// cluster is up.
func (c *Cluster) FromHere() {
	c.world.Exclusively(func() { c.evidence.Since = c.world.Last() })
}

// patterns returns patterns of calls, each given by its name or in full.
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

// report fails the test for expectations that do not hold. It fails the test outside of the
// cluster's code, so that the failure names the line of the test.
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

// fail fails the test, and prints the preceding events.
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
