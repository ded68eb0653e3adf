package explore

import (
	"cmp"
	"slices"

	"github.com/csisim/csisim/cmd/internal/check"
	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/world/trace"
)

// longestStory is how many events of a run are shown of a finding; mostTrail of them may be what a report of the run shows last.
const longestStory, mostTrail = 8, 3

// storyOf is what happened, in order, that makes a run fail: what went wrong by chance, and what the failure is about.
func storyOf(result *scenario.Result, f *check.Finding) []*trace.Event {
	var story []*trace.Event
	for _, e := range result.Trace {
		if byChance(e) || e == f.Failure.About {
			story = append(story, e)
		}
	}
	more := mostTrail
	for _, e := range slices.Backward(f.Failure.Trail) {
		if more > 0 && !slices.Contains(story, e) {
			story = append(story, e)
			more--
		}
	}
	slices.SortFunc(story, func(a, b *trace.Event) int { return cmp.Compare(a.Seq, b.Seq) })
	return story[:min(len(story), longestStory)]
}

// byChance reports whether the event is a fault, or a crash.
func byChance(e *trace.Event) bool {
	return e.Kind == trace.FaultFired || e.Kind == trace.Call && e.Injected != ""
}
