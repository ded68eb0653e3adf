package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/excerpt"
	"github.com/csisim/csisim/internal/world/plural"
	"github.com/csisim/csisim/internal/world/trace"
)

// MaxStates bounds the states in a report or in the page of a live cluster.
const MaxStates = 20_000

// Report is the part of a page about the whole trace. The zero value is empty.
type Report struct {
	Name string `json:"name"`
	// Verdict is passed, failed, error, interrupted, trace (without a verdict), reading (a trace
	// that is not completely read yet) or live.
	Verdict string `json:"verdict"`
	// Sentence is the verdict in words.
	Sentence string    `json:"sentence"`
	Findings []Finding `json:"findings,omitempty"`
	Steps    []Step    `json:"steps,omitempty"`
	// Replay is the command that repeats the run.
	Replay string `json:"replay,omitempty"`
	// Facts are further information, a name and a text each.
	Facts [][2]string `json:"facts,omitempty"`
	Notes []string    `json:"notes,omitempty"`
	// Problems are the unreadable parts.
	Problems []string `json:"problems,omitempty"`
	// Compare compares the trace to another one; nil if there is none.
	Compare *Comparison `json:"compare,omitempty"`
	// End is the virtual time at the end, in ms.
	End int64 `json:"end,omitempty"`
	// Room is the estimated number of events of a trace that is still being read; there can be
	// more.
	Room int64 `json:"room,omitempty"`
}

// Finding is something that was not as expected.
type Finding struct {
	Verdict string `json:"verdict"`
	// Judged is the verdict as a value; zero for an error.
	Judged   verdict.Verdict `json:"-"`
	Short    string          `json:"short"` // for first-time readers
	Expected string          `json:"expected,omitempty"`
	Got      string          `json:"got,omitempty"`
	// Should and Found are short forms of the expected and the found state, if the trace has more
	// information than the verdict.
	Should string `json:"should,omitempty"`
	Found  string `json:"found,omitempty"`
	Hint   string `json:"hint,omitempty"`
	Spec   string `json:"spec,omitempty"`
	Where  string `json:"where,omitempty"`
	Blame  string `json:"blame,omitempty"` // the responsible party
	// About is the most relevant event, 0 if there is none. Trail are other events that led to that
	// event.
	About uint64   `json:"about,omitempty"`
	Trail []uint64 `json:"-"`
	Chain []Link   `json:"chain,omitempty"`
}

// Step is a step of a scenario.
type Step struct {
	Number int    `json:"number"`
	Title  string `json:"title"`
	State  string `json:"state"`
	At     int64  `json:"at"` // ms
	Took   int64  `json:"took"`
}

// Explain completes the findings and the facts of a report with data of the trace.
func (x *reading) Explain(r *Report) {
	r.Facts = append(r.Facts, [2]string{"Objects", x.counted()})
	if len(x.drivers) > 0 {
		r.Facts = append(r.Facts, [2]string{"Drivers", strings.Join(x.drivers, ", ")})
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		f.Short = x.headline(*f)
		f.Should, f.Found = x.contrast(f.About)
		if short := excerpt.Paths(x.narrator.Short(f.Got)); f.Found == "" && short != f.Got {
			f.Found = short
		}
		f.Chain = x.story.chain(f.About, f.Trail)
		if strings.HasPrefix(f.Hint, hintAtCall) && slices.ContainsFunc(f.Chain, x.isFailedCall) {
			f.Hint = "" // the chain contains it
		}
	}
	if len(r.Findings) > 0 {
		r.Sentence = r.Findings[0].Short
	}
}

// hintAtCall is the beginning of a hint that names the last call that failed.
const hintAtCall = "the last call that failed was "

func (x *reading) isFailedCall(l Link) bool {
	at := x.story.find(l.Seq)
	return at >= 0 && x.story.parts[at].kind == trace.Call && x.story.parts[at].failed
}

// titles begin the verdicts of events.
var titles = map[trace.Kind]string{
	trace.Violation: "CSI spec violated: ", trace.DataLost: "data lost: ", trace.Unmounted: "unmounted: ", trace.Died: "died: ",
}

// Findings returns the findings of a trace without a verdict: a driver's breaches of the CSI spec,
// lost data, foreign unmounts and crashes.
func (x *reading) Findings() []Finding {
	var found []Finding
	for _, t := range x.story.parts {
		if title, is := titles[t.kind]; is {
			found = append(found, Finding{Verdict: title + t.text, About: t.seq})
		}
	}
	return found
}

// Recorded returns the report of a trace without a run.
func (x *reading) Recorded(name string, problems []string) Report {
	r := Report{Name: name, Verdict: "trace", Findings: x.Findings(), Problems: problems}
	calls, failed := 0, 0
	for _, t := range x.story.parts {
		if t.kind == trace.Call {
			calls++
			if t.failed {
				failed++
			}
		}
	}
	ending := map[bool]string{true: "none failed", false: fmt.Sprintf("%d failed", failed)}[failed == 0]
	r.Sentence = fmt.Sprintf("A recording with %s that %s something; %s.", plural.Of(calls, "driver call"), map[bool]string{true: "changes", false: "change"}[calls == 1], ending)
	r.Facts = [][2]string{{"Time", trace.Span(time.Duration(x.end) * time.Millisecond)}, {"Events", plural.Of(x.events, "event")}}
	if made := x.versions.String(); made != "" {
		r.Facts = append(r.Facts, [2]string{"Versions", made})
	}
	x.Explain(&r)
	return r
}

// counted returns the numbers of objects in the trace, of kinds related to storage.
func (x *reading) counted() string {
	var words []string
	for _, kind := range [][2]string{
		{"nodes", "node"}, {"pods", "pod"}, {"persistentvolumeclaims", "claim"}, {"persistentvolumes", "volume"}, {"volumeattachments", "attachment"}, {"volumesnapshots", "snapshot"},
	} {
		n := 0
		for of := range x.objects.of {
			if of.resource == kind[0] {
				n++
			}
		}
		if n > 0 {
			words = append(words, plural.Of(n, kind[1]))
		}
	}
	return cmp.Or(strings.Join(words, ", "), "none")
}
