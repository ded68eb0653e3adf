package scenario

import (
	"fmt"
	"strings"

	"github.com/csisim/csisim/internal/judge/ledger"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/sim"
	"github.com/csisim/csisim/sim/expect"
)

// notes are what was left behind without making the run fail, one a line, and what
// could not be looked at.
func notes(found sim.Ledger, allowed *expect.Allowed) []string {
	return append(lines("left behind: ", allowed.Without(found.Litter)), unseen(found)...)
}

// remarks are what the CSI spec asks of drivers and nothing depends on.
func (r *runner) remarks() (found []string) {
	for _, e := range r.result.Trace {
		if e.Kind == trace.Remark {
			found = append(found, e.Message)
		}
	}
	return found
}

// longestWritten is how many changes a note names.
const longestWritten = 5

// thrownAway is the note about what programs have written outside the run.
func thrownAway(written []string) string {
	text := "written outside the run and thrown away (--host-path lets directories through): " + strings.Join(written[:min(len(written), longestWritten)], ", ")
	if more := len(written) - longestWritten; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

// leftRunning are the notes about processes that programs of drivers left behind.
func leftRunning(usage []sim.Usage) (found []string) {
	for _, u := range usage {
		if len(u.Left) > 0 {
			found = append(found, fmt.Sprintf("left running by the program of %s when it ended: %d of its processes, such as %s; csisim ended what was left", u.Plugin, len(u.Left), u.Left[0]))
		}
	}
	return found
}

func unseen(l sim.Ledger) []string {
	var all []string
	for _, what := range l.Unseen {
		all = append(all, "could not be looked at: "+what)
	}
	return all
}

func lines(before string, entries []ledger.Entry) []string {
	var all []string
	for _, e := range entries {
		all = append(all, before+e.String())
	}
	return all
}
