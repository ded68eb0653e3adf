package scenario

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/trace"
)

// runTwice runs a scenario twice. It returns the result of the first run, which fails if the second
// run differed.
func runTwice(ctx context.Context, s *Scenario, o RunOptions) (*Result, error) {
	recorder, traces := &kernel.Recorder{}, traces{}
	again := o
	o.Sinks = append(slices.Clone(o.Sinks), traces.keep)
	result, err := runOnce(ctx, s, o, recorder)
	if err != nil {
		return result, err
	}
	recorder = recorder.Against()
	again.Sinks, again.Progress, again.Inspect = []trace.Sink{traces.compare}, nil, nil
	second, err := runOnce(ctx, s, again, recorder)
	if err != nil {
		return result, err
	}
	result.compare(second, cmp.Or(recorder.Err(), traces.end()))
	return result, nil
}

// traces compares the traces of two runs that should be equal. It does not render equal events,
// since rendering takes longer than a run.
type traces struct {
	first      []*trace.Event // events that the second run has not reached yet
	line       int
	difference error // describes the first line that differs
}

// keep records an event of the first run.
func (t *traces) keep(e *trace.Event) { t.first = append(t.first, e) }

// compare compares the next event of the second run; nil means its end.
func (t *traces) compare(e *trace.Event) {
	var first *trace.Event
	if len(t.first) > 0 {
		first, t.first[0] = t.first[0], nil
		t.first = t.first[1:]
	}
	t.line++
	if t.difference != nil || first != nil && e != nil && first.Same(e) {
		return
	}
	a, problem := textOf(first)
	b, err := textOf(e)
	switch {
	case problem != nil || err != nil:
		t.difference = errors.Join(problem, err)
	case !bytes.Equal(a, b):
		t.difference = fmt.Errorf("csisim is not deterministic: the traces differ in line %d\n  first run:  %s\n  second run: %s", t.line, a, b)
	}
}

// end returns the difference between the traces, which may be the length.
func (t *traces) end() error {
	if len(t.first) > 0 {
		t.compare(nil)
	}
	return t.difference
}

// textOf returns the line of an event; nothing if there is none.
func textOf(e *trace.Event) ([]byte, error) {
	if e == nil {
		return nil, nil
	}
	line, err := e.Line()
	if err != nil {
		return nil, err
	}
	return line.Text()
}

// compare adds a failure if the second run differed. difference names the place, and whether the
// driver or csisim caused the difference.
func (r *Result) compare(second *Result, difference error) {
	r.Difference = difference
	r.Overdue = append(r.Overdue, second.Overdue...)
	var found []Failure
	switch {
	case difference != nil:
		_, rest, _ := strings.Cut(difference.Error(), "\n")
		found = []Failure{{Verdict: verdict.Of(difference), Got: rest}}
	case r.Exit == Passed:
		found = second.Failures
	}
	for _, f := range found {
		f.Verdict = f.Verdict.Under("the second run was not like the first")
		f.File, f.Line = r.Scenario.File, max(f.Line, 1)
		r.Failures = append(r.Failures, f)
		r.Exit = Failed
	}
}
