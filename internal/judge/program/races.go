package program

import (
	"bufio"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/trace"
)

// Races looks for reports of Go's race detector in the log of a driver's program. A driver built
// with -race writes them to its standard error.
func (l *Logs) Races(p Program) {
	for _, instance := range p.Ran {
		if races := l.newRaces(instance); len(races) > 0 {
			l.reportRaces(p, races)
		}
	}
}

// newRaces returns the races in a log that were not there at the last look.
func (l *Logs) newRaces(instance *machine.Process) []Race {
	races := racesIn(instance.Stdout)
	known := l.races[instance]
	if l.races == nil {
		l.races = map[*machine.Process]int{}
	}
	l.races[instance] = len(races)
	return races[min(known, len(races)):]
}

func (l *Logs) reportRaces(p Program, races []Race) {
	call := &trace.Event{Site: &trace.Site{Node: p.Node, Driver: p.Driver}}
	for _, e := range slices.Backward(l.Trace.Events()) {
		if e.Kind == trace.Call && e.Driver == p.Driver && e.Node == p.Node {
			call = e
			break
		}
	}
	for _, race := range races {
		l.Report(call, DataRace(p.Plugin, race))
	}
}

// racesIn returns the races that a log reports, each pair of functions once.
func racesIn(file string) (races []Race) {
	f, err := os.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	lines := bufio.NewReader(f)
	for {
		line, err := lines.ReadString('\n')
		if strings.HasPrefix(line, "WARNING: DATA RACE") {
			if race := readRace(lines); !slices.Contains(races, race) {
				races = append(races, race)
			}
		}
		if err != nil { // that it ends
			return races
		}
	}
}

// readRace reads a report: two accesses, each with its stack, the innermost function first. It
// skips functions of package runtime, such as the functions for maps, because they do not identify
// the place.
func readRace(lines *bufio.Reader) (race Race) {
	var at *Access
	for {
		line, err := lines.ReadString('\n')
		text := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "====="):
			return race
		case strings.HasPrefix(line, "Read at"), strings.HasPrefix(line, "Write at"), strings.HasPrefix(line, "Atomic"):
			at = &race.First
		case strings.HasPrefix(line, "Previous"):
			at = &race.Second
		case strings.HasPrefix(line, "Goroutine"):
			at = nil
		case at == nil || text == "" || at.Place != "":
		case strings.HasPrefix(text, "runtime."):
			_, err = lines.ReadString('\n') // its place
		case at.Function == "":
			at.Function = strings.TrimSuffix(path.Base(text), "()")
		default:
			place, _, _ := strings.Cut(text, " ")
			at.Place = path.Base(place)
		}
		if err == io.EOF {
			return race
		}
	}
}
