package scenario

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/csisim/csisim/internal/input/calls"
	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/world/plural"
	"github.com/csisim/csisim/sim"
	"github.com/csisim/csisim/sim/expect"
)

func init() {
	register("wait", "Lets virtual time pass until a condition on an object, CSI calls, events or a registration is true.", `
wait: {pod: web, phase: Running, for: 5m}
`, &waitStep{})
}

// waitStep waits for one condition.
type waitStep struct {
	waitFields
	call   *calls.Pattern
	object *ObjectCondition
}

type waitFields struct {
	Event      *expect.Event     `json:"event,omitempty" doc:"Waits for an event: {reason: FailedMount, about: pod/web}."`
	Registered *registration     `json:"registered,omitempty" doc:"Waits until a driver is registered on a node."`
	Gone       *registrationGone `json:"unregistered,omitempty" doc:"Waits until a driver is no longer registered on a node."`
	For        strict.Duration   `json:"for,omitempty" default:"10m" doc:"The limit, in virtual time."`
}

type registration struct {
	Driver string `json:"driver,omitempty" doc:"The driver; default the only one."`
	Node   string `json:"node" want:"required" example:"node-a" doc:"The node."`
}

type registrationGone registration

const wantWait = "the condition to wait for: an object such as {pod: web, phase: Running}, call, event, registered or unregistered"

// UnmarshalStrict reads one of the forms.
func (s *waitStep) UnmarshalStrict(n *strict.Node) {
	if !n.IsMap() {
		n.ReportWrong(wantWait)
		return
	}
	ways := s.ways(n)
	switch {
	case len(ways) > 1:
		n.Report(strings.Join(ways, " and "), "one thing to wait for")
	case n.Value("call") != nil:
		s.call = &calls.Pattern{}
		n.Without("for").Decode(s.call)
		n.Without(keys(n, "for")...).Decode(&s.waitFields)
	case len(ways) == 1:
		n.Decode(&s.waitFields)
	default:
		s.object = &ObjectCondition{}
		n.Without("for").Decode(s.object)
		n.Without(keys(n, "for")...).Decode(&s.waitFields)
	}
}

func (*waitStep) forms() []any { return []any{objectFields{}, calls.Pattern{}} }

func (s *waitStep) ways(n *strict.Node) []string {
	var found []string
	for _, way := range []string{"call", "event", "registered", "unregistered"} {
		if n.Value(way) != nil {
			found = append(found, way)
		}
	}
	return found
}

// keys returns the keys of a map, without the key but.
func keys(n *strict.Node, but string) []string {
	var names []string
	for _, entry := range n.Entries() {
		if entry.Name != but {
			names = append(names, entry.Name)
		}
	}
	return names
}

func (s *waitStep) check(c *checker) {
	switch {
	case s.call != nil:
		c.pattern(s.call)
		if s.call.Count.Given && s.call.Count.Min == 0 {
			c.report("count", "a wait for no call", "a count from 1; that no call comes is said with expect: {forbidden: [...]}")
		}
	case s.Event != nil:
		c.at(c.in("event"), func() { c.event(s.Event) })
	case s.Registered != nil:
		c.at(c.in("registered"), func() { s.Registered.check(c) })
	case s.Gone != nil:
		c.at(c.in("unregistered"), func() { (*registration)(s.Gone).check(c) })
	case s.object != nil:
		s.object.check(c)
	}
}

func (g *registration) check(c *checker) {
	c.driver("driver", g.Driver)
	if g.Node != "" {
		c.node("node", g.Node)
	}
}

func (s *waitStep) do(r *runner) error {
	limit := s.For.Duration + r.options.Longer
	switch {
	case s.call != nil:
		return r.waitForCall(*s.call, limit)
	case s.Event != nil:
		return r.waitForEvent(*s.Event, limit)
	case s.Registered != nil:
		return r.waitForDriver(*s.Registered, true, limit)
	case s.Gone != nil:
		return r.waitForDriver(registration(*s.Gone), false, limit)
	}
	return r.waitForObject(s.object, limit)
}

func (r *runner) waitForCall(p calls.Pattern, limit time.Duration) error {
	c := &expect.Counter{Journal: r.evidence.Journal, Pattern: p}
	least := max(1, p.Count.Min)
	err := r.cluster.WaitFor(p.String(), limit, func() bool { return c.Count() >= least })
	return stuck(err, func(f *Failure) {
		f.Expected, f.Got = p.String(), plural.Of(c.Fitting, "such call")
		f.About = r.evidence.News(expect.IsFailedCall)
	})
}

func (r *runner) waitForEvent(p expect.Event, limit time.Duration) error {
	least, looked, found := max(1, p.Count.Min), 0, 0
	err := r.cluster.WaitFor("event "+p.String(), limit, func() bool {
		r.evidence.Update()
		for ; looked < len(r.evidence.Events); looked++ {
			if p.Matches(r.evidence.Events[looked]) {
				found++
			}
		}
		return found >= least
	})
	return stuck(err, func(f *Failure) {
		f.Expected, f.Got = "event "+p.String(), "it was "+expect.Emitted(found)
		f.About = r.evidence.News(expect.IsWarning)
	})
}

func (r *runner) waitForDriver(g registration, want bool, limit time.Duration) error {
	driver := r.driver(g.Driver)
	what := fmt.Sprintf("driver %s to be registered on %s", driver, g.Node)
	if !want {
		what = fmt.Sprintf("driver %s to be unregistered on %s", driver, g.Node)
	}
	err := r.cluster.WaitFor(what, limit, func() bool { return r.isRegistered(driver, g.Node) == want })
	return stuck(err, func(f *Failure) { f.Expected = what })
}

// isRegistered reports whether a node has registered the driver.
func (r *runner) isRegistered(driver, node string) bool {
	return r.cluster.IsInstalled(driver, node)
}

func (r *runner) waitForObject(o *ObjectCondition, limit time.Duration) error {
	var (
		seen   uint64
		holds  bool
		got    string
		failed error
	)
	object := o.object(&failed)
	err := r.cluster.WaitFor(o.String(), limit, func() bool {
		if now := r.store().Revision(); now != seen {
			var wrong error
			seen = now
			holds, got, wrong = object.Look(r.evidence)
			failed = errors.Join(failed, wrong)
		}
		return holds || failed != nil
	})
	if failed != nil {
		return failed
	}
	return stuck(err, func(f *Failure) {
		f.Expected, f.Got = o.String(), withReason(got, o.because(r.evidence))
		f.About = r.evidence.LastAbout(o.Reference)
		if o.Gone {
			f.Verdict.Form = expect.NeverGone
		}
	})
}

// stuck makes the failure of a wait that timed out. The failure contains the list of waiting
// processes.
func stuck(err error, complete func(*Failure)) error {
	var waited *sim.StuckError
	if !errors.As(err, &waited) {
		return err
	}
	f := &Failure{}
	complete(f)
	failure := expect.NeverCame(err, f.Expected, f.Got, waited.Waiting)
	failure.About = f.About
	if f.Verdict.Form != "" {
		failure.Verdict.Form = f.Verdict.Form
	}
	return failure
}
