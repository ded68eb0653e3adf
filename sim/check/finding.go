package check

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/csisim/csisim/drivers/contract"
	"github.com/csisim/csisim/drivers/program"
	"github.com/csisim/csisim/sim/ledger"
	"github.com/csisim/csisim/sim/scenario"
	"github.com/csisim/csisim/sim/scenario/calls"
	"github.com/csisim/csisim/sim/trace"
)

// Finding is one thing that is wrong, and the trials that show it.
type Finding struct {
	Verdict string
	// Failure is that of the simplest trial; empty for a trial that could not be run.
	Failure scenario.Failure
	// Shown are the outcomes that show it, the one with the fewest driver calls first.
	Shown []Outcome

	breach bool // of the CSI spec
}

// Findings are what is wrong: first the breaches of the CSI spec, which say what the
// driver did, then what came of it; what most trials show first.
func (c *Card) Findings() []Finding {
	var all []Finding
	for _, o := range c.Outcomes {
		for _, f := range findingsOf(o) {
			i := slices.IndexFunc(all, func(other Finding) bool { return gist(other.Verdict) == gist(f.Verdict) })
			switch {
			case i < 0:
				all = append(all, f)
			case slices.ContainsFunc(all[i].Shown, func(shown Outcome) bool { return shown.Trial == o.Trial }):
			case o.calls() < all[i].Shown[0].calls():
				all[i].Verdict, all[i].Failure = f.Verdict, f.Failure
				all[i].Shown = append([]Outcome{o}, all[i].Shown...)
			default:
				all[i].Shown = append(all[i].Shown, o)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Or(-compareBool(a.breach, b.breach), cmp.Compare(len(b.Shown), len(a.Shown)))
	})
	return all
}

// calls is the number of driver calls.
func (o Outcome) calls() int {
	if o.Result == nil {
		return 0
	}
	return o.Result.Calls
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// findingsOf is what a trial shows, with verdicts that are the same for the same defect
// in other trials.
func findingsOf(o Outcome) []Finding {
	shown := []Outcome{o}
	if o.Err != nil {
		verdict := firstLine(o.Err.Error())
		return []Finding{{Verdict: verdict, Failure: scenario.Failure{Verdict: verdict, Got: rest(o.Err.Error())}, Shown: shown}}
	}
	if !o.Failed() {
		return nil
	}
	var all []Finding
	for _, f := range o.Result.Failures {
		if f.Spec != "" {
			for _, breach := range breaches(o.Result.Trace) {
				all = append(all, Finding{Verdict: breach.Verdict, Failure: breach, Shown: shown, breach: true})
			}
			continue
		}
		f.Verdict = firstLine(f.Verdict)
		if call := refusal(o.Result.Trace, strings.Contains(f.Verdict+" ", " gone ")); call != nil && strings.HasPrefix(f.Verdict, "timed out") {
			f = refused(f, call)
		}
		if o.Trial.Known != "" {
			f.Verdict = o.Trial.Known + ": " + f.Verdict
		}
		if strings.Contains(f.Got, program.EndOfLog) {
			f.Hint = "" // what the program wrote tells more
		}
		all = append(all, Finding{Verdict: f.Verdict, Failure: f, Shown: shown})
	}
	return all
}

// breaches are the breaches of the CSI spec in a run, each kind once.
func breaches(events []*trace.Event) []scenario.Failure {
	var all []scenario.Failure
	for _, e := range events {
		if e.Kind != trace.Violation || e.Method == "" ||
			slices.ContainsFunc(all, func(f scenario.Failure) bool { return gist(f.Verdict) == gist(e.Message) }) {
			continue
		}
		all = append(all, scenario.Failure{Verdict: e.Message, Hint: contract.Advice(e.Message), Spec: section(e), About: e})
	}
	return all
}

// section is the address of the CSI spec's section about a call.
func section(call *trace.Event) string { return contract.Violation{Method: call.Method}.Section() }

// refusal is the last call that a driver refused by itself and has not done since; nil
// if there is none. What should be gone waits for calls that undo something only.
func refusal(events []*trace.Event, gone bool) *trace.Event {
	done := map[string]bool{} // methods that came to a good end later
	for _, e := range slices.Backward(events) {
		switch {
		case e.Kind != trace.Call || calls.IsAsking(e):
		case e.Code == "":
			done[e.Method] = true
		case gone && ledger.Makes(e):
		case e.Injected == "" && !done[e.Method]:
			return e
		}
	}
	return nil
}

// refused is the failure of a wait, told by the call that stands in the way.
func refused(f scenario.Failure, call *trace.Event) scenario.Failure {
	f.Verdict = fmt.Sprintf("%s fails for good: %s: %s", path.Base(call.Method), call.Code, firstLine(call.Message))
	f.Got, f.Hint, f.Spec = firstLine(f.Got), "", section(call)
	return f
}

// own are the parts of a verdict that are those of one run: ids, paths, sizes of lists,
// which of the pods and claims it was, and where somebody was killed.
var own = regexp.MustCompile(`/(tmp|var)/[^ "]*|[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{12,}|[0-9]+|\b(pod|pvc|pv|va) [^ ]+|killed at [A-Za-z/]+`)

// gist is a verdict without what is one run's own.
func gist(verdict string) string {
	verdict, _, _ = strings.Cut(verdict, " (and ")
	return own.ReplaceAllString(verdict, "*")
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// rest is all but the first line.
func rest(text string) string {
	_, lines, _ := strings.Cut(text, "\n")
	return lines
}
