package sim

import (
	"bufio"
	"io"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/trace"
)

// readRaces looks for reports of Go's race detector in the logs of driver programs: a driver that is built with -race
// writes them to its standard error.
func (c *Simulation) readRaces() {
	for _, d := range c.drivers {
		for _, p := range c.plugins(d) {
			b, ok := p.backend.(*programBackend)
			if !ok {
				continue
			}
			for _, instance := range b.ran {
				if races := c.newRaces(instance); len(races) > 0 {
					c.reportRaces(b, races)
				}
			}
		}
	}
}

// newRaces are the races in a log that were not there at the last look.
func (c *Simulation) newRaces(instance *machine.Process) []contract.Race {
	races := racesIn(instance.Stdout)
	known := c.races[instance]
	c.races[instance] = len(races)
	return races[min(known, len(races)):]
}

func (c *Simulation) reportRaces(b *programBackend, races []contract.Race) {
	call := &trace.Event{Site: &trace.Site{Node: b.node, Driver: b.driver.Name}}
	for _, e := range slices.Backward(c.World.Trace.Events()) {
		if e.Kind == trace.Call && e.Driver == b.driver.Name && e.Node == b.node {
			call = e
			break
		}
	}
	for _, race := range races {
		c.Wire.Report(call, contract.DataRace(b.String(), race))
	}
}

// racesIn are the races that a log reports, each pair of functions once.
func racesIn(file string) (races []contract.Race) {
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

// readRace reads a report: two accesses, each with its stack, the innermost function first.
func readRace(lines *bufio.Reader) (race contract.Race) {
	var at *contract.Access
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
