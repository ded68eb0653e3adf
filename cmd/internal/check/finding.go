package check

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/defect"
	"github.com/csisim/csisim/internal/driver/program"
	"github.com/csisim/csisim/internal/input/calls"
	"github.com/csisim/csisim/internal/invariant"
	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/judge/ledger"
	"github.com/csisim/csisim/internal/world/trace"
)

// Finding is one thing that is wrong, and the trials that show it.
type Finding struct {
	// Name is the same in every run that finds it.
	Name string
	// Verdict is how the simplest trial shows it.
	Verdict string
	// Failure is that of the simplest trial; empty for a trial that could not be run.
	Failure scenario.Failure
	// Shown are the outcomes that show it, the one with the fewest driver calls first.
	Shown []Outcome
	// Then are the names of what comes of it: other things that are wrong in these trials,
	// and in none without a cause such as this.
	Then []string
	// Known says that a baseline has it.
	Known bool

	rank  invariant.Rank
	found *Found // by a search; nil if not
}

// calls is the number of driver calls.
func (o Outcome) calls() int {
	if o.Result == nil {
		return 0
	}
	return o.Result.Calls
}

// shownBy is what a trial shows, causes first.
func shownBy(o Outcome) []Finding {
	shown := []Outcome{o}
	if o.Err != nil {
		verdict := firstLine(o.Err.Error())
		failure := scenario.Failure{Verdict: verdict, Got: rest(o.Err.Error())}
		return []Finding{{Name: defect.NameOf(verdict), Verdict: verdict, Failure: failure, Shown: shown, rank: invariant.Waits}}
	}
	if !o.Failed() {
		return nil
	}
	if o.Search != nil && len(o.Search.Found) > 0 {
		return o.Search.shown(o)
	}
	var all []Finding
	add := func(f scenario.Failure, r invariant.Rank) {
		name := defect.NameOf(f.Verdict)
		if about := o.Trial.Known; about != "" && strings.HasPrefix(f.Verdict, about) {
			name = about
		}
		if !slices.ContainsFunc(all, func(other Finding) bool { return other.Name == name }) {
			all = append(all, Finding{Name: name, Verdict: f.Verdict, Failure: f, Shown: shown, rank: r})
		}
	}
	for _, f := range breaches(o.Result.Trace) {
		add(f, breachRank(f.Verdict))
	}
	for _, f := range o.Result.Failures {
		if f.Spec != "" {
			continue // its breaches have been entered
		}
		f.Verdict = firstLine(f.Verdict)
		r := rankOf(f.Verdict)
		if call := refusal(o.Result.Trace, strings.Contains(f.Verdict+" ", " gone ")); call != nil && r == invariant.Waits {
			f, r = refused(f, call), invariant.Refuses
		}
		if o.Trial.Known != "" {
			f.Verdict = o.Trial.Known + ": " + f.Verdict
		}
		if strings.Contains(f.Got, program.EndOfLog) {
			f.Hint = "" // what the program wrote says more
		}
		add(f, r)
	}
	slices.SortStableFunc(all, func(a, b Finding) int { return cmp.Compare(a.rank, b.rank) })
	return all
}

// rankOf is the rank of what breaks no invariant, too.
func rankOf(verdict string) invariant.Rank {
	if broken := invariant.Of(verdict); broken != nil {
		return broken.Rank
	}
	return invariant.Spoils
}

// breachRank is the rank of a breach of the CSI spec.
func breachRank(verdict string) invariant.Rank {
	if broken := invariant.Of(verdict); broken != nil {
		return broken.Rank
	}
	return invariant.Breach
}

// breaches are the breaches of the CSI spec in a run, each kind once.
func breaches(events []*trace.Event) []scenario.Failure {
	var all []scenario.Failure
	for _, e := range events {
		if e.Kind == trace.Violation && e.Method != "" {
			all = append(all, scenario.Failure{Verdict: e.Message, Hint: contract.Advice(e.Message), Spec: section(e), About: e})
		}
	}
	return all
}

// section is the address of the CSI spec's section about a call.
func section(call *trace.Event) string { return contract.Violation{Method: call.Method}.Section() }

// refusal is the last call that a driver refused by itself and has not done since; nil
// if there is none. What should be gone waits for calls that undo something only.
func refusal(events []*trace.Event, gone bool) *trace.Event {
	done := map[string]bool{} // methods that came to a good end later
	down := callsWhileDown(events)
	for _, e := range slices.Backward(events) {
		switch {
		case e.Kind != trace.Call || calls.IsAsking(e), down[e]:
		case e.Code == "":
			done[e.Method] = true
		case gone && ledger.Makes(e):
		case e.Injected == "" && !done[e.Method] && !mayNotAttach(events, e) && !mayNotStage(events, e):
			return e
		}
	}
	return nil
}

// callsWhileDown are those to drivers that a fault had killed and that were not started again yet: nobody was there to refuse them.
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
			about, is := strings.CutPrefix(e.Message, "driver ")
			driver, _, _ := strings.Cut(about, " ")
			if driver = strings.TrimSuffix(driver, ","); is {
				killed[plugin{e.Cluster, driver, e.Node}] = strings.HasSuffix(about, " killed")
			}
		}
	}
	return calls
}

// mayNotAttach reports whether a driver had to refuse a call, since the volume was attached elsewhere: who detaches it is another question,
// and nobody may ask the driver again before a wait is over.
func mayNotAttach(events []*trace.Event, call *trace.Event) bool {
	if call.Code != codes.FailedPrecondition.String() {
		return false
	}
	before := invariant.New()
	before.OnBreach, before.OnDisorder = func(*trace.Event, contract.Violation) {}, func(*trace.Event, string) {}
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

// mayNotStage reports whether a driver was asked to stage a volume that is staged elsewhere on the node, as by a kubelet of another version: it may
// refuse that, since a volume is staged at one path at a time.
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
			if r.GetVolumeId() == asked.GetVolumeId() && (e.Code == "" || e.Injected != "") { // the driver may have done it
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

// refused is the failure of a wait, described by the call that stands in the way.
func refused(f scenario.Failure, call *trace.Event) scenario.Failure {
	f.Verdict = fmt.Sprintf("%s fails for good: %s: %s", path.Base(call.Method), call.Code, firstLine(call.Message))
	f.Got, f.Hint, f.Spec = firstLine(f.Got), "", section(call)
	return f
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
