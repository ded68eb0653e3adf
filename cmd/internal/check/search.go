package check

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/plural"
)

// Searched is the outcome of a search in the runs of a trial.
type Searched struct {
	// Runs is the number of runs.
	Runs int
	// Elapsed is the wall time of the search.
	Elapsed time.Duration
	// Found lists the findings, each with the party to blame.
	Found []Found
	// Usage describes the resources of the driver's programs and the objects that they left behind,
	// a line each.
	Usage []string
}

// Found is one finding of a search.
type Found struct {
	// Finding comes from the shortest run that shows it. Result is the result of this run, and
	// Blame names the responsible party.
	Finding Finding
	Blame   verdict.Blame
	Result  *scenario.Result
	// Choices are the choices of that run in words, and Replay is the command that repeats it.
	Choices []string
	Replay  string
	// Repeats is the number of runs with exactly these choices, and Repeated is the number of those
	// that showed the finding.
	Repeated, Repeats int
	// Known are lines about known behaviours of Kubernetes that occurred in the run.
	Known []string
}

// hazards returns the findings for which Kubernetes is responsible. Under the same faults, real
// clusters may show them, too.
func (s *Searched) hazards() []Found {
	return slices.DeleteFunc(slices.Clone(s.Found), func(f Found) bool { return f.Blame == verdict.Driver })
}

// OfDriver returns the first finding for which the driver is responsible; nil for none.
func (s *Searched) OfDriver() *Found {
	if i := slices.IndexFunc(s.Found, func(f Found) bool { return f.Blame == verdict.Driver }); i >= 0 {
		return &s.Found[i]
	}
	return nil
}

// shown returns the findings of the driver in the same form as findings of other trials.
func (s *Searched) shown(o Outcome) []Finding {
	var all []Finding
	for _, found := range s.Found {
		if found.Blame != verdict.Driver {
			continue
		}
		f := found.Finding
		f.Shown, f.found = []Outcome{o}, &found
		all = append(all, f)
	}
	return all
}

// title returns the title of a trial, with the number of runs of a search.
func (o Outcome) title() string {
	if o.Search == nil {
		return o.Title
	}
	return fmt.Sprintf("%s (%s)", o.Title, plural.Of(o.Search.Runs, "run"))
}

// choices returns the choices of a finding of a search.
func (f Finding) choices() []string {
	if f.found == nil {
		return nil
	}
	return f.found.Choices
}

// chance returns the remark that some runs with the choices do not show the finding; empty if every
// run shows it.
func (f Finding) chance() string {
	if f.found == nil || f.found.Repeated == f.found.Repeats {
		return ""
	}
	return ByChance(f.found.Repeated, f.found.Repeats)
}

// hazards prints the findings of searches that the driver did not cause. They do not fail a trial.
func (p *page) hazards(c *Card) {
	for _, o := range c.Outcomes {
		if o.Search == nil {
			continue
		}
		for _, h := range o.Search.hazards() {
			fmt.Fprintf(p, "\n%s %s\n", p.paint(dim, "hazard"), headline(h.Finding.Name))
			for _, row := range [][2]string{
				{"shown by", o.Name()}, {"with", strings.Join(h.Choices, "\n")}, {"why", strings.Join(append([]string{"the driver executed all calls; with such faults real Kubernetes may do the same"}, h.Known...), "\n")}, {"replay", h.Replay},
			} {
				p.labelled(row[0], row[1])
			}
		}
	}
}

// ByChance returns the remark that the same choices do not always show a finding.
func ByChance(shown, runs int) string {
	return fmt.Sprintf("%d of %d runs with these choices show it: the rest is chance in the driver's own program", shown, runs)
}

// searched returns a summary of all searches: the runs, their time and the findings of the driver.
// It is empty if there was no search.
func (c *Card) searched() string {
	runs, found, elapsed := 0, 0, time.Duration(0)
	for _, o := range c.Outcomes {
		if o.Search == nil {
			continue
		}
		runs, elapsed = runs+o.Search.Runs, elapsed+o.Search.Elapsed
		for _, f := range o.Search.Found {
			if f.Blame == verdict.Driver {
				found++
			}
		}
	}
	if runs == 0 || elapsed == 0 {
		return ""
	}
	return fmt.Sprintf("searched: %s in %v, %s, %.1f a minute", plural.Of(runs, "run"), elapsed.Round(time.Second), plural.Of(found, "finding"), float64(found)/elapsed.Minutes())
}
