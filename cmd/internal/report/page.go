package report

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/view"
	"github.com/csisim/csisim/internal/world/plural"
	"github.com/csisim/csisim/internal/world/trace"
)

// Page writes the browser report of a run to one file, with the trace of the encoder.
func Page(w io.Writer, run Run, shown *view.Encoder) error {
	page := pageOf(run)
	shown.Explain(&page)
	chunks, err := shown.Chunks()
	if err != nil {
		return fmt.Errorf("report of %s: %w", scenarioName(run), err)
	}
	return view.Write(w, page, chunks)
}

func pageOf(run Run) view.Report {
	page := view.Report{Name: wholeName(run), Verdict: verdictFailed, Replay: run.Replay()}
	switch {
	case errors.Is(run.Err, context.Canceled): // by an interrupt
		page.Verdict, page.Sentence = verdictInterrupted, "The run was interrupted; the page shows it up to then."
	case run.Err != nil:
		page.Verdict, page.Sentence = verdictError, firstLine(run.Err.Error())
		page.Findings = []view.Finding{{Verdict: run.Err.Error()}}
	case run.Passed():
		page.Verdict, page.Sentence = verdictPassed, "All expectations of the scenario held."
	}
	result := run.Result
	if result == nil {
		return page
	}
	if page.Verdict != verdictInterrupted { // the interrupt made the step fail
		page.Findings = append(page.Findings, findingsOf(run)...)
	}
	if len(page.Findings) > 0 {
		page.Sentence = cmp.Or(page.Sentence, firstLine(page.Findings[0].Verdict))
	}
	for _, s := range result.Steps {
		page.Steps = append(page.Steps, view.Step{Number: s.Number, Title: s.Title, State: string(s.State), At: s.Began.Milliseconds(), Took: s.Took.Milliseconds()})
	}
	page.Facts, page.Notes, page.End = facts(run), slices.Concat(result.Notes, result.Litter), result.VirtualTime.Milliseconds()
	if page.Verdict == verdictInterrupted {
		interrupted(&page)
	}
	return page
}

// interrupted marks the step that was interrupted, and the end of the page.
func interrupted(page *view.Report) {
	for i := range page.Steps {
		s := &page.Steps[i]
		page.End = max(page.End, s.At+s.Took)
		if s.State == string(scenario.StepFailed) {
			s.State = verdictInterrupted
		}
	}
}

func findingsOf(run Run) (all []view.Finding) {
	for _, f := range run.Result.Failures {
		all = append(all, findingOf(run, f))
	}
	return all
}

func findingOf(run Run, f scenario.Failure) view.Finding {
	shown := view.Finding{Verdict: f.Verdict.Text, Judged: f.Verdict, Expected: f.Expected, Got: f.Got, Hint: f.Hint, Spec: f.Spec, Where: place(run, f), Blame: run.Blame}
	for _, e := range f.Trail {
		shown.Trail = append(shown.Trail, e.Seq)
	}
	if f.About != nil {
		shown.About = f.About.Seq
	}
	return shown
}

func facts(run Run) [][2]string {
	result := run.Result
	rows := rowsOf([2]string{"Scenario", run.File})
	if !errors.Is(run.Err, context.Canceled) { // an interrupted run has no measurements
		rows = append(rows, [2]string{"Calls", plural.Of(result.Calls, "driver call")},
			[2]string{"Time", trace.Span(result.VirtualTime) + " of cluster time in " + trace.Span(result.WallTime)})
	}
	if run.Strategy != "" && run.Strategy != "calm" {
		rows = append(rows, [2]string{"Strategy", run.Strategy + ", seed " + strconv.FormatUint(run.Seed, 10)})
	}
	return append(rows, rowsOf([2]string{"Versions", run.Versions}, [2]string{"Nodes", result.Apart}, [2]string{"Trace", run.Trace}, [2]string{"Logs", run.Logs})...)
}

// rowsOf returns the rows that are not empty.
func rowsOf(rows ...[2]string) [][2]string {
	var kept [][2]string
	for _, row := range rows {
		if row[1] != "" {
			kept = append(kept, row)
		}
	}
	return kept
}
