// Package comparison compares the simulation of a scenario to its runs on a real cluster, and these
// runs to each other. Differences between two real runs are noise: they show no mistake of the
// simulation.
package comparison

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/csisim/csisim/cmd/internal/diff"
	"github.com/csisim/csisim/internal/world/trace"
)

// Comparison holds the differences between the simulation and the real runs of a scenario.
type Comparison struct {
	// Runs is the number of real runs.
	Runs   int
	Levels []Level
	// Failed are the runs with failed expectations: the simulation, real run 2.
	Failed []string
}

// Level is one level of the comparison.
type Level struct {
	diff.Level
	// Compared is the number of comparisons in the real run with the most comparisons.
	Compared int
	// Unseen is set if no real run has recorded the level.
	Unseen bool
	// Wrong are differences between the simulation and every real run that do not occur between two
	// real runs.
	Wrong []Difference
	// Noise are known races, differences that occur in only some runs, and differences that also
	// occur between two real runs.
	Noise []Difference
}

// Difference is a difference between two runs, A and B: the simulation, real run 1.
type Difference struct {
	diff.Difference
	A, B string
	// Race names the race if other real runs have shown both outcomes; otherwise empty.
	Race string
}

// pair is two runs that were compared.
type pair struct {
	a, b   string
	report *diff.Report
}

// of returns the differences of one level.
func (p pair) of(level diff.Level) (all []Difference) {
	for _, d := range p.report.Of(level) {
		all = append(all, Difference{Difference: d, A: p.a, B: p.b})
	}
	return all
}

// Of compares a simulation with at least one real run.
func Of(simulated []trace.Line, real ...[]trace.Line) *Comparison {
	var from, between []pair
	for i, run := range real {
		from = append(from, pair{simulation, realRun(i), diff.Compare(simulated, run)})
		for k, other := range real[:i] {
			between = append(between, pair{realRun(k), realRun(i), diff.Compare(other, run)})
		}
	}
	c := &Comparison{Runs: len(real)}
	for _, level := range diff.Levels {
		if !isRecorded(level, real) {
			c.Levels = append(c.Levels, Level{Level: level, Unseen: true})
			continue
		}
		c.Levels = append(c.Levels, levelOf(level, from, between))
	}
	return c
}

// simulation names the simulated run.
const simulation = "simulation"

func realRun(i int) string { return fmt.Sprintf("real run %d", i+1) }

// isRecorded reports whether any of the traces contains a level that some clusters do not record.
func isRecorded(level diff.Level, traces [][]trace.Line) bool {
	kind, sometimes := map[diff.Level]trace.Kind{diff.Files: trace.Files, diff.Runtime: trace.Runtime}[level]
	return !sometimes || slices.ContainsFunc(traces, func(lines []trace.Line) bool {
		return slices.ContainsFunc(lines, func(l trace.Line) bool { return l.K == kind })
	})
}

func levelOf(level diff.Level, from, between []pair) Level {
	l := Level{Level: level}
	noise := map[place]int{} // by place: the largest number of differences between two real runs
	for _, r := range between {
		for p, n := range counted(r.of(level)) {
			noise[p] = max(noise[p], n)
		}
	}
	// By place: the smallest number of differences between the simulation and a real run.
	fewest := counted(from[0].of(level))
	for _, r := range from {
		l.Compared = max(l.Compared, r.report.Compared[level])
		found := counted(r.of(level))
		for p, n := range fewest {
			fewest[p] = min(n, found[p])
		}
	}
	seen := map[place]int{}
	for _, d := range from[0].of(level) {
		p := placeOf(d)
		seen[p]++
		isWrong := seen[p] <= fewest[p]-noise[p]
		if isWrong {
			d.Race = known(d)
		}
		if isWrong && d.Race == "" {
			l.Wrong = append(l.Wrong, d)
		} else {
			l.Noise = append(l.Noise, d)
		}
	}
	l.addNoise(append(slices.Clone(from[1:]), between...))
	return l
}

// addNoise adds one difference for each place at which only other reports have differences.
func (l *Level) addNoise(others []pair) {
	known := map[place]bool{}
	for _, d := range append(slices.Clone(l.Wrong), l.Noise...) {
		known[placeOf(d)] = true
	}
	for _, r := range others {
		for _, d := range r.of(l.Level) {
			if p := placeOf(d); !known[p] {
				known[p] = true
				l.Noise = append(l.Noise, d)
			}
		}
	}
}

// place identifies equal differences of two pairs of traces.
type place struct{ subject, what string }

var (
	number = regexp.MustCompile(`[0-9]+`)
	onlyIn = regexp.MustCompile(`\bonly in [AB]\b`)
)

// placeOf leaves out the amount of the difference and the name of the run.
func placeOf(d Difference) place {
	return place{d.Subject, onlyIn.ReplaceAllString(number.ReplaceAllString(d.What, "#"), "only in one")}
}

func counted(all []Difference) map[place]int {
	found := map[place]int{}
	for _, d := range all {
		found[placeOf(d)]++
	}
	return found
}

// Wrong returns the number of differences of the simulation on all levels.
func (c *Comparison) Wrong() (n int) {
	for _, l := range c.Levels {
		n += len(l.Wrong)
	}
	return n
}

// Races returns the number of known races with the same outcome in all real runs.
func (c *Comparison) Races() (n int) {
	for _, l := range c.Levels {
		for _, d := range l.Noise {
			if d.Race != "" {
				n++
			}
		}
	}
	return n
}

// Noise returns the number of differences that show no mistake of the simulation.
func (c *Comparison) Noise() (n int) {
	for _, l := range c.Levels {
		n += len(l.Noise)
	}
	return n
}
