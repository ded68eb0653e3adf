package check

import (
	"fmt"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/world/plural"
	"github.com/csisim/csisim/sim"
)

// muchMemory is the smallest amount of memory that is reported; drivers usually need a tenth of it.
const muchMemory = 256 << 20

// Usage describes the memory of a driver's programs and the objects that they left behind, over
// several runs. The zero value describes no run.
type Usage struct {
	most   sim.Usage // of the run with the highest memory usage of a program
	left   int       // runs in which a program left something behind
	leaver sim.Usage // of the first of them
}

// Add adds the usage of a run.
func (u *Usage) Add(run []sim.Usage) {
	leaves := false
	for _, of := range run {
		if of.Memory > u.most.Memory {
			u.most = of
		}
		if len(of.Left) == 0 {
			continue
		}
		leaves = true
		if len(u.leaver.Left) == 0 {
			u.leaver = of
		}
	}
	if leaves {
		u.left++
	}
}

// Lines returns the notable facts.
func (u *Usage) Lines() (lines []string) {
	if u.most.Memory >= muchMemory {
		lines = append(lines, fmt.Sprintf("the program of %s had %d MiB of memory in a run", u.most.Plugin, u.most.Memory>>20))
	}
	if u.left > 0 {
		lines = append(lines, fmt.Sprintf("in %s a program left processes running when it ended, such as %s of %s: csisim ended them",
			plural.Of(u.left, "run"), u.leaver.Left[0], u.leaver.Plugin))
	}
	return lines
}

// lost returns the sentences about files that the driver lost with a container and tried to read
// later.
func lost(o Outcome) []string {
	if o.Result == nil {
		return nil
	}
	return scenario.Lost(o.Result.Usage)
}

// usage prints the resources that the driver's programs used, and their leftovers, in all trials
// and searches.
func (p *page) usage(c *Card) {
	var plain Usage
	var lines []string
	for _, o := range c.Outcomes {
		if o.Search != nil {
			for _, line := range o.Search.Usage {
				lines = append(lines, o.Name()+": "+line)
			}
		} else if o.Result != nil {
			plain.Add(o.Result.Usage)
		}
	}
	lines = append(plain.Lines(), lines...)
	if len(lines) == 0 {
		return
	}
	fmt.Fprintln(p)
	for _, line := range lines {
		fmt.Fprintf(p, "%s\n", p.paint(dim, line))
	}
}
