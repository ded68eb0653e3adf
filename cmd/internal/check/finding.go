package check

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/driver/program"
	"github.com/csisim/csisim/internal/judge/blame"
	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/judge/ledger"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/sim/expect"
)

// Finding is one defect and the trials that show it.
type Finding struct {
	// Verdict comes from the simplest trial that shows the defect. The verdict has the same name in
	// all trials.
	verdict.Verdict
	// Failure comes from the simplest trial; empty if the trial could not be run.
	Failure scenario.Failure
	// Shown are the outcomes that show the defect, the one with the fewest driver calls first.
	Shown []Outcome
	// Then lists the names of its consequences. A consequence is another defect that occurs in
	// these trials, and that no trial shows without such a cause.
	Then []string
	// Harm is the worst effect of the defect or of its consequences.
	Harm Harm
	// Known is true if a baseline contains the finding, or if Release is OldRelease.
	Known bool
	// Likewise lists other calls that fail permanently with the same code, in an upgrade or after a
	// restart of the driver.
	Likewise []string
	// Release is the release of an upgrade that also shows the finding when it replaces itself. It
	// is empty if no release shows the finding in this way, or if the check is not of an upgrade.
	Release Release

	rank    verdict.Rank
	follows bool // a consequence of another finding of the trial; other trials may show it alone
	// shows is the name of the representative trial's verdict before forms were united.
	shows string
	found *Found // by a search; nil if not
}

// calls is the number of driver calls.
func (o Outcome) calls() int {
	if o.Result == nil {
		return 0
	}
	return o.Result.Calls
}

// shownBy returns the findings of a trial, causes first.
func shownBy(o Outcome) []Finding {
	shown := []Outcome{o}
	if o.Err != nil {
		failure := scenario.Failure{Verdict: verdict.Of(o.Err), Got: rest(o.Err.Error())}
		failure.Verdict.Text = firstLine(o.Err.Error())
		return []Finding{{
			Verdict: failure.Verdict, Failure: failure, Shown: shown, Harm: NotStarted, rank: verdict.Waits, shows: failure.Verdict.Name,
		}}
	}
	if !o.Failed() {
		return nil
	}
	if o.Search != nil && len(o.Search.Found) > 0 {
		return o.Search.shown(o)
	}
	var all []Finding
	add := func(f scenario.Failure, r verdict.Rank) {
		if !slices.ContainsFunc(all, func(other Finding) bool { return other.Name == f.Verdict.Name }) {
			all = append(all, Finding{Verdict: f.Verdict, Failure: f, Shown: shown, Harm: harmOf(f.Verdict), rank: r, shows: f.Verdict.Name})
		}
	}
	for _, f := range breaches(o.Result.Trace) {
		add(f, f.Verdict.Rank(verdict.Breach))
	}
	for _, f := range o.Result.Failures {
		if f.Spec != "" {
			continue // its breaches have been recorded
		}
		f.Verdict.Text = firstLine(f.Verdict.Text)
		r := f.Verdict.Rank(verdict.Spoils)
		if r == verdict.Waits {
			if call := blame.Refusal(o.Result.Trace, f.Verdict.Form == expect.NeverGone); call != nil {
				f, r = refused(f, call), verdict.Refuses
			}
		}
		if o.Trial.Known != "" {
			f.Verdict = f.Verdict.Under(o.Trial.Known)
			f.Verdict.Name, f.Verdict.Breaks = o.Trial.Known, verdict.Answers
		}
		if strings.Contains(f.Got, program.EndOfLog) {
			f.Hint = "" // the output of the program has more details
		}
		add(f, r)
	}
	for i, f := range all {
		if f.Form == contract.NoEffect && slices.ContainsFunc(all, f.undoesOneOf) {
			all[i].rank, all[i].follows = verdict.Leaks, true
		}
	}
	slices.SortStableFunc(all, func(a, b Finding) int { return cmp.Compare(a.rank, b.rank) })
	return all
}

// undoesOneOf reports whether an earlier call had two effects and the call of the finding undoes
// only one of them.
func (f Finding) undoesOneOf(twice Finding) bool {
	doubles := twice.Form == contract.TwiceWhenOverlapping || twice.Form == contract.NotIdempotent && twice.Code == "" && twice.Field == ""
	return doubles && ledger.Undo(twice.Method) == path.Base(f.Method)
}

// breaches returns the breaches of the CSI spec in a run, one of each kind.
func breaches(events []*trace.Event) []scenario.Failure {
	var all []scenario.Failure
	for _, e := range events {
		if v, judged := verdict.OfEvent(e.Detail, e.Message); judged && e.Kind == trace.Violation && e.Method != "" {
			all = append(all, scenario.Failure{Verdict: v, Hint: contract.Advice(v), Spec: contract.Section(e.Method), About: e})
		}
	}
	return all
}

// refused returns the failure of a wait. It describes the refused call that prevents the success.
func refused(f scenario.Failure, call *trace.Event) scenario.Failure {
	message := firstLine(call.Message)
	f.Verdict = contract.Broken(call.Method, contract.FailsForGood, verdict.Say("%s", verdict.Kept(call.Code)).Aside(": %s", message))
	// CSI-Addons: the CSI spec says nothing about its errors.
	if strings.Contains(call.Method, ".") {
		f.Verdict.Breaks = ""
	}
	f.Verdict.Code, f.Verdict.Found, f.Verdict.Event = call.Code, []string{message}, call.Seq
	f.Got, f.Hint, f.Spec, f.About = firstLine(f.Got), "", contract.Section(call.Method), call
	return f
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// rest returns all lines except the first.
func rest(text string) string {
	_, lines, _ := strings.Cut(text, "\n")
	return lines
}
