package unfinished

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/csisim/csisim/internal/world/trace"
)

// Wait is the wall time that a run waited for work of one kind.
type Wait struct {
	For  string
	Took time.Duration
}

// mentioned is the total duration from which waits for work of a kind are reported.
const mentioned = 250 * time.Millisecond

func worthMentioning(waits []Wait) []Wait {
	return slices.DeleteFunc(slices.Clone(waits), func(w Wait) bool { return w.Took < mentioned })
}

func add(waits []Wait, w Wait) []Wait {
	i := slices.IndexFunc(waits, func(one Wait) bool { return one.For == w.For })
	if i < 0 {
		return append(waits, w)
	}
	waits[i].Took += w.Took
	return waits
}

// Total returns the sum of the waits.
func Total(waits []Wait) (total time.Duration) {
	for _, w := range waits {
		total += w.Took
	}
	return total
}

// InWords lists the waits for the driver; empty if there are none.
func InWords(waits []Wait) string {
	if len(waits) == 0 {
		return ""
	}
	var each []string
	for _, w := range waits {
		each = append(each, fmt.Sprintf("%s for %s", trace.Span(w.Took), w.For))
	}
	return "waited " + trace.Span(Total(waits)) + " of real time for the driver: " + strings.Join(each, "; ")
}
