package scenario

import (
	"errors"
	"path"
	"slices"

	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/sim"
	"github.com/csisim/csisim/sim/expect"
)

// boot starts the clusters and waits until their nodes are Ready and their drivers are registered.
func (r *runner) boot() error {
	err := r.cluster.Boot()
	if waited := (*sim.StuckError)(nil); errors.As(err, &waited) {
		if refused := r.refusedRegistration(); refused != nil {
			if r.scenario.awaitsRegistration() {
				return nil // the scenario tests the rejection
			}
			return refused
		}
	}
	return stuck(err, func(f *Failure) {
		f.Expected = "all nodes Ready and all drivers registered on them"
		f.About = r.evidence.News(expect.IsFailedCall)
	})
}

// awaitsRegistration reports whether a step waits until a driver is registered.
func (s *Scenario) awaitsRegistration() bool {
	return slices.ContainsFunc(s.Steps, func(step Step) bool {
		wait, ok := step.action.(*waitStep)
		return ok && wait.Registered != nil
	})
}

// registrationRefused is the form of a verdict on a driver that the kubelet refuses to register.
const registrationRefused verdict.Form = "is not registered"

// refusedRegistration returns the failure of a driver that the kubelet refused to register and has
// not registered since; nil for none.
func (r *runner) refusedRegistration() *Failure {
	var last *trace.Event
	count := 0
	for _, e := range r.cluster.Trace().Events() {
		if e.Kind != trace.Registration || e.Method != "Registration/NotifyRegistrationStatus" {
			continue
		}
		refused, is := e.Request.(interface{ GetError() string })
		if !is || refused.GetError() == "" {
			continue
		}
		if last == nil || last.Node != e.Node || last.Name != e.Name {
			count = 0
		}
		last, count = e, count+1
	}
	if last == nil {
		return nil
	}
	why := last.Request.(interface{ GetError() string }).GetError()
	driver, line := r.ofRegistration(last)
	v := verdict.Verdict{Form: registrationRefused, Node: last.Node, Event: last.Seq, Found: []string{why}}
	return &Failure{
		Verdict: v.Worded(verdict.Say("driver %s %s on %s", driver, verdict.Kept(registrationRefused), last.Node).
			Aside(": %s (refused %d times)", why, count)),
		Line: line, About: last, Expected: "all nodes Ready and all drivers registered on them",
	}
}

// ofRegistration returns the driver that registers at the socket of an event, and the driver's line
// in the scenario.
func (r *runner) ofRegistration(e *trace.Event) (driver string, line int) {
	for i, d := range r.scenario.Drivers {
		if name := r.driver(d.Name); path.Base(e.Name) == name+"-reg.sock" {
			return name, r.scenario.lineOf("", "drivers", i)
		}
	}
	return e.Name, r.scenario.line("drivers")
}
