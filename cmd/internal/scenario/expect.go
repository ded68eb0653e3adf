package scenario

import (
	"fmt"
	"strings"

	"github.com/csisim/csisim/internal/input/calls"
	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/sim/expect"
)

// Expectations must hold for a run, at its end or at an expect step. All expectations are
// evaluated, so that a failing scenario reports everything at once.
type Expectations struct {
	Since      string                  `json:"since,omitempty" doc:"The name of a step: only calls and events since its start count; default since the first step."`
	Calls      []calls.Pattern         `json:"calls,omitempty" doc:"CSI calls that must occur in this order; others may be between them. '...' stands for any calls."`
	Exact      bool                    `json:"exact,omitempty" doc:"No other calls may be between them."`
	Forbidden  []expect.Forbidden      `json:"forbidden,omitempty" doc:"CSI calls that must not occur."`
	Objects    []ObjectCondition       `json:"objects,omitempty" doc:"Conditions on objects."`
	Events     []expect.Event          `json:"events,omitempty" doc:"Kubernetes events that must have been emitted."`
	That       []Statement             `json:"that,omitempty" doc:"CEL expressions over calls, events, elapsed, objects(\"pods\"), files(\"node-a\") and metrics(\"node-a\") that must be true. files has a line for each entry below the kubelet's directory: plugins/ 750 for a directory and its mode, (socket), (device), -> and the target after a link, = and the content after vol_data.json, and [mount SOURCE] after a mount point."`
	Leftovers  *expect.Allowed         `json:"leftovers,omitempty" doc:"Leftovers that are allowed on nodes, in the API and in drivers: none, any, or patterns such as \"mount */globalmount on node-a\"; default none at the end of a scenario."`
	Violations *expect.Allowed         `json:"violations,omitempty" doc:"Breaches of the CSI spec by the driver that may happen: none, any, or patterns; default none at the end of a scenario."`
	In         map[string]Expectations `json:"in,omitempty" example:"{east: {objects: [{pod: web, phase: Running}]}}" doc:"Expectations of each of several clusters. Beside it only leftovers, violations and fails are allowed, which apply to all clusters."`
	Fails      string                  `json:"fails,omitempty" example:"*not staged*" doc:"The verdict with which the scenario must fail; * stands for any text. For tests of csisim's findings."`

	path string // the path of the expectations in the scenario
}

func (e *Expectations) check(c *checker) {
	e.path = c.path
	c.checkExpectedIn(e)
	if e.Since != "" {
		if _, ok := c.names[e.Since]; !ok {
			var known []string
			for name := range c.names {
				known = append(known, name)
			}
			c.unknown("since", "step", e.Since, known)
		}
	}
	for i := range e.Calls {
		c.at(strict.Index(c.in("calls"), i), func() { c.pattern(&e.Calls[i]) })
	}
	for i := range e.Forbidden {
		c.at(strict.Index(c.in("forbidden"), i), func() { c.pattern(&e.Forbidden[i].Pattern) })
	}
	for i := range e.Objects {
		c.at(strict.Index(c.in("objects"), i), func() { e.Objects[i].check(c) })
	}
	for i := range e.Events {
		c.at(strict.Index(c.in("events"), i), func() { c.event(&e.Events[i]) })
	}
	if e.Exact && len(e.Calls) == 0 {
		c.report("exact", "exact without calls", "calls, or no exact")
	}
}

// pattern reports an unknown node or driver in a pattern.
func (c *checker) pattern(p *calls.Pattern) {
	if p.Node != "" {
		c.node("node", p.Node)
	}
	if p.Driver != "" {
		c.driver("driver", p.Driver)
	}
	if p.Code == calls.Code("OK") && p.Message != "" {
		c.report("message", "a message of a call that succeeds", "no message, or another code")
	}
}

// event reports a pattern that matches any event or names no object.
func (c *checker) event(p *expect.Event) {
	if p.Reason == "" && p.About == "" && p.Message == "" && p.Type == "" {
		c.report("", "an event without anything that distinguishes it from others", p.Wanted())
	}
	if p.About != "" && !p.Resolve(c.kinds) {
		kind, _, _ := strings.Cut(p.About, "/")
		c.document.ReportUnknown(c.in("about"), fmt.Sprintf("%q", p.About), kind, `kind and name, such as "pod/web"`, c.kinds.List())
	}
}

// failures returns the expectations that do not hold now.
func (e *Expectations) failures(r *runner) []*Failure {
	since := r.began
	if e.Since != "" {
		since = r.stepBegan[e.Since]
	}
	ev := r.evidence.From(since)
	ev.Update()
	var found []*Failure
	add := func(f *Failure, key string, item int) {
		if f != nil {
			f.Line = r.scenario.lineOf(e.path, key, item)
			found = append(found, f)
		}
	}
	if f := (expect.Calls{Patterns: e.Calls, Exact: e.Exact}.Failure(ev)); f != nil {
		add(f, "calls", f.Item)
	}
	for i, forbidden := range e.Forbidden {
		add(forbidden.Failure(ev), "forbidden", i)
	}
	for i := range e.Objects {
		add(e.Objects[i].failure(ev), "objects", i)
	}
	for i, event := range e.Events {
		add(event.Failure(ev), "events", i)
	}
	for i, statement := range e.That {
		add(statement.failure(r, ev), "that", i)
	}
	if e.Leftovers != nil {
		add(expect.Leftovers(*e.Leftovers).Failure(ev), "leftovers", noItem)
	}
	if e.Violations != nil {
		add(expect.Violations(*e.Violations).Failure(ev), "violations", noItem)
	}
	return found
}
