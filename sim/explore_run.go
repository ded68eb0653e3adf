package sim

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/explore"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/kernel"
)

// explored is a test that is run again and again.
type explored struct {
	name   string
	space  fault.Space
	learns bool // the strategy uses the events of earlier runs
	test   func(T, Option)
}

// Run makes one run of a search.
func (e *explored) Run(_ context.Context, s Strategy, stacks *kernel.Stacks) (explore.Outcome, error) {
	var outcome explore.Outcome
	t := &attempt{name: e.name}
	t.run(func() {
		e.test(t, func(o *Options) {
			o.Strategy, o.FaultSpace, o.NoChoices, o.Stacks = s, e.space, true, stacks
			if e.learns {
				o.Sinks = append(slices.Clip(o.Sinks), outcome.Learn)
			}
		})
	})
	outcome.Shown = t.shown()
	return outcome, nil
}

// run makes one run and returns its findings.
func (e *explored) run(s Strategy) []explore.Shown {
	outcome, _ := e.Run(context.Background(), s, nil) // errors are in the outcome
	return outcome.Shown
}

// shown returns the findings of the run.
func (a *attempt) shown() (all []explore.Shown) {
	for _, f := range a.failures {
		all = append(all, explore.Shown{Verdict: f})
	}
	return all
}

// attempt is the T of one run of an explored test. Its failures fail only the run.
type attempt struct {
	name     string
	failures []verdict.Verdict
	cleanups []func()
}

// over ends a run by FailNow.
type over struct{}

func (*attempt) Helper()             {}
func (*attempt) Logf(string, ...any) {}

func (a *attempt) Name() string           { return a.name }
func (a *attempt) Failed() bool           { return len(a.failures) > 0 }
func (a *attempt) Cleanup(cleanup func()) { a.cleanups = append(a.cleanups, cleanup) }

func (a *attempt) Errorf(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	a.add(verdict.Plain(first), text)
}

// add keeps a verdict and the full text of its failure.
func (a *attempt) add(v verdict.Verdict, text string) {
	v.Text = text
	a.failures = append(a.failures, v)
}

// judges is a T that accepts verdicts directly.
type judges interface {
	add(v verdict.Verdict, text string)
}

// FailNow unwinds the test. Its caller has already reported the reason.
func (a *attempt) FailNow() {
	if !a.Failed() {
		a.Errorf("the test failed without saying why")
	}
	panic(over{})
}

// run runs a test and then its cleanups.
func (a *attempt) run(test func()) {
	a.protect(test)
	for len(a.cleanups) > 0 {
		last := len(a.cleanups) - 1
		cleanup := a.cleanups[last]
		a.cleanups = a.cleanups[:last]
		a.protect(cleanup)
	}
}

// protect makes a failure of a panic.
func (a *attempt) protect(f func()) {
	defer func() {
		switch r := recover().(type) {
		case nil, over:
		default:
			a.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	f()
}
