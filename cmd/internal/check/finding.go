package check

import (
	"cmp"
	"slices"
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/driver/program"
	patterns "github.com/csisim/csisim/internal/input/calls"
	"github.com/csisim/csisim/internal/judge/calls"
	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/judge/ledger"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/sim/expect"
)

// Finding is one defect and the trials that show it.
type Finding struct {
	// Verdict is from the simplest trial that shows the defect. Its name is the same in all trials.
	verdict.Verdict
	// Failure is from the simplest trial; empty if that could not be run.
	Failure scenario.Failure
	// Shown are the outcomes that show the defect, the one with the fewest driver calls first.
	Shown []Outcome
	// Then are the names of its consequences: other defects that these trials show and that no
	// trial shows without such a cause.
	Then []string
	// Harm is the worst effect of the defect or of its consequences.
	Harm Harm
	// Known says that a baseline contains the finding, or that Release is OldRelease.
	Known bool
	// Likewise are the other calls that fail for good with its code, in an upgrade.
	Likewise []string
	// Release says which release of an upgrade shows the finding if it replaces itself. Default:
	// none, or there is no upgrade.
	Release Release

	rank  verdict.Rank
	shows string // the name of the verdict of the trial that speaks for it, before forms were united
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
			continue // its breaches have been entered
		}
		f.Verdict.Text = firstLine(f.Verdict.Text)
		r := f.Verdict.Rank(verdict.Spoils)
		if r == verdict.Waits {
			if call := refusal(o.Result.Trace, f.Verdict.Form == expect.NeverGone); call != nil {
				f, r = refused(f, call), verdict.Refuses
			}
		}
		if o.Trial.Known != "" {
			f.Verdict = f.Verdict.Under(o.Trial.Known)
			f.Verdict.Name, f.Verdict.Breaks = o.Trial.Known, verdict.Answers
		}
		if strings.Contains(f.Got, program.EndOfLog) {
			f.Hint = "" // the output of the program says more
		}
		add(f, r)
	}
	slices.SortStableFunc(all, func(a, b Finding) int { return cmp.Compare(a.rank, b.rank) })
	return all
}

// breaches are the breaches of the CSI spec in a run, each kind once.
func breaches(events []*trace.Event) []scenario.Failure {
	var all []scenario.Failure
	for _, e := range events {
		if v, judged := verdict.OfEvent(e.Detail, e.Message); judged && e.Kind == trace.Violation && e.Method != "" {
			all = append(all, scenario.Failure{Verdict: v, Hint: contract.Advice(v), Spec: contract.Section(e.Method), About: e})
		}
	}
	return all
}

// refusal returns the last call that a driver refused by itself and has not performed since; nil if
// there is none. If an object should have been deleted, only calls that undo something count.
func refusal(events []*trace.Event, gone bool) *trace.Event {
	done := map[string]bool{} // methods that came to a good end later
	down := callsWhileDown(events)
	for _, e := range slices.Backward(events) {
		switch {
		case e.Kind != trace.Call || patterns.IsAsking(e), down[e]:
		case e.Code == "":
			done[e.Method] = true
		case gone && ledger.Makes(e):
		case e.Injected == "" && !done[e.Method] && !mayNotAttach(events, e) && !mayNotStage(events, e):
			return e
		}
	}
	return nil
}

// callsWhileDown returns the calls to drivers that a fault had killed and that had not been
// restarted; the driver did not refuse these calls.
func callsWhileDown(events []*trace.Event) map[*trace.Event]bool {
	type plugin struct{ cluster, driver, node string }
	killed, calls := map[plugin]bool{}, map[*trace.Event]bool{}
	for _, e := range events {
		switch e.Kind {
		case trace.Call:
			if killed[plugin{e.Cluster, e.Driver, e.Node}] {
				calls[e] = true
			}
		case trace.FaultFired:
			if t, is := e.Detail.(trace.Transition); is && t.Part == trace.Plugin {
				killed[plugin{e.Cluster, t.Driver, e.Node}] = t.Verb == trace.Killed
			}
		}
	}
	return calls
}

// mayNotAttach reports whether a driver had to refuse a call, since the volume was attached
// elsewhere. Whether it is detached later does not matter, since the driver may not get another
// call before a wait ends.
func mayNotAttach(events []*trace.Event, call *trace.Event) bool {
	if call.Code != codes.FailedPrecondition.String() {
		return false
	}
	before, ignore := calls.New(), func(*trace.Event, verdict.Verdict) {}
	before.OnBreach, before.OnDisorder = ignore, ignore
	before.InUse = func(_, _, _ string) bool { return true }
	for _, e := range events {
		if e == call {
			break
		}
		if e.Kind == trace.Call {
			before.Began(e)
			before.Ended(e)
		}
	}
	return before.IsElsewhere(call)
}

// mayNotStage reports whether a driver received a call to stage a volume that is staged elsewhere
// on the node, as by a kubelet of another version. It may refuse that, since a volume is staged at
// one path at a time.
func mayNotStage(events []*trace.Event, call *trace.Event) bool {
	asked, is := call.Request.(*csi.NodeStageVolumeRequest)
	if !is {
		return false
	}
	at := ""
	for _, e := range events {
		if e == call {
			break
		}
		if e.Cluster != call.Cluster || e.Driver != call.Driver || e.Node != call.Node {
			continue
		}
		switch r := e.Request.(type) {
		case *csi.NodeStageVolumeRequest:
			// The driver may have staged it.
			if r.GetVolumeId() == asked.GetVolumeId() && (e.Code == "" || e.Injected != "") {
				at = r.GetStagingTargetPath()
			}
		case *csi.NodeUnstageVolumeRequest:
			if r.GetVolumeId() == asked.GetVolumeId() && e.Code == "" {
				at = ""
			}
		}
	}
	return at != "" && at != asked.GetStagingTargetPath()
}

// refused returns the failure of a wait, described by the refused call that prevents its success.
func refused(f scenario.Failure, call *trace.Event) scenario.Failure {
	message := firstLine(call.Message)
	f.Verdict = contract.Broken(call.Method, contract.FailsForGood, verdict.Say("%s", verdict.Kept(call.Code)).Aside(": %s", message))
	if strings.Contains(call.Method, ".") { // CSI-Addons: the CSI spec says nothing about its errors
		f.Verdict.Breaks = ""
	}
	f.Verdict.Code, f.Verdict.Found, f.Verdict.Event = call.Code, []string{message}, call.Seq
	f.Got, f.Hint, f.Spec = firstLine(f.Got), "", contract.Section(call.Method)
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
