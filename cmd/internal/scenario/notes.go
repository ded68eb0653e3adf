package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/judge/calls"
	"github.com/csisim/csisim/internal/judge/ledger"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/sim"
)

// remarks lists violated requirements of the CSI spec that do not affect Kubernetes.
func (r *runner) remarks() (found []string) {
	for _, e := range r.result.Trace {
		if e.Kind == trace.Remark {
			found = append(found, e.Message)
		}
	}
	for _, v := range calls.ClearedUp(r.result.Trace) {
		// The machine may cause a single violation, such as a mount that is busy for a moment.
		if v.More > 0 {
			found = append(found, v.Text)
		}
	}
	return found
}

// longestWritten bounds the changes in a note.
const longestWritten = 5

// discardedWrites returns the note about files that programs wrote outside the run.
func discardedWrites(written []string) string {
	text := "written outside the run and thrown away (--host-path lets directories through): " + strings.Join(written[:min(len(written), longestWritten)], ", ")
	if more := len(written) - longestWritten; more > 0 {
		text += fmt.Sprintf(", and %d more", more)
	}
	return text
}

// leftRunning returns the notes about processes that drivers' programs left behind.
func leftRunning(usage []sim.Usage) (found []string) {
	for _, u := range usage {
		if len(u.Left) > 0 {
			found = append(found, fmt.Sprintf("left running by the program of %s when it ended: %d of its processes, such as %s; csisim ended them", u.Plugin, len(u.Left), u.Left[0]))
		}
	}
	return found
}

// longestLost bounds the named files of a lost container.
const longestLost = 5

// Lost returns a sentence for each file that drivers lost with their containers and tried to read
// later.
func Lost(usage []sim.Usage) (found []string) {
	for _, u := range usage {
		for _, look := range u.Lost {
			if slices.ContainsFunc(u.Lost, func(other machine.Lookup) bool { return strings.HasPrefix(other.Path, look.Path+"/") }) {
				continue // the file implies its directory
			}
			if line := fmt.Sprintf("%s was written before the restart, lost with the container, and %s again by %s", look.Path, look.How, u.Plugin); !slices.Contains(found, line) {
				found = append(found, line)
			}
		}
	}
	if more := len(found) - longestLost; more > 0 {
		found = append(found[:longestLost], fmt.Sprintf("%d more files were lost with containers, and looked for afterwards", more))
	}
	return found
}

// unseen lists the places that could not be checked.
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
