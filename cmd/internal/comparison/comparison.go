// Package comparison holds the simulation of a scenario against runs of it on a real cluster, and these against each
// other: what two real runs differ in is noise, and says nothing about the simulation.
package comparison

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/csisim/csisim/cmd/internal/diff"
	"github.com/csisim/csisim/internal/world/trace"
)

// Comparison is what the simulation and the real runs of a scenario differ in.
type Comparison struct {
	// Runs is the number of real runs.
	Runs   int
	Levels []Level
	// Failed are the runs whose expectations did not hold: the simulation, real run 2.
	Failed []string
}

// Level is one level of the comparison.
type Level struct {
	diff.Level
	// Compared is how much was compared, in the real run that had most.
	Compared int
	// Unseen is a level of which no real run has recorded anything.
	Unseen bool
	// Wrong are differences of the simulation from every real run that no two real runs have.
	Wrong []Difference
	// Noise are differences that not all runs have, or that two real runs have as well, and known races.
	Noise []Difference
}

// Difference is one of two runs, A and B: the simulation, real run 1.
type Difference struct {
	diff.Difference
	A, B string
	// Race is what races, if real runs that were not compared here have shown that it goes either way; else empty.
	Race string
}

// pair is two runs that were compared.
type pair struct {
	a, b   string
	report *diff.Report
}

// of are the differences of one level.
func (p pair) of(level diff.Level) (all []Difference) {
	for _, d := range p.report.Of(level) {
		all = append(all, Difference{Difference: d, A: p.a, B: p.b})
	}
	return all
}

// Of compares a simulation with real runs, of which there is at least one.
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

// isRecorded reports whether a level that not every cluster shows is in any of the traces.
func isRecorded(level diff.Level, traces [][]trace.Line) bool {
	kind, sometimes := map[diff.Level]trace.Kind{diff.Files: trace.Files, diff.Runtime: trace.Runtime}[level]
	return !sometimes || slices.ContainsFunc(traces, func(lines []trace.Line) bool {
		return slices.ContainsFunc(lines, func(l trace.Line) bool { return l.K == kind })
	})
}

func levelOf(level diff.Level, from, between []pair) Level {
	l := Level{Level: level}
	noise := map[place]int{} // how often at most two real runs differ there
	for _, r := range between {
		for p, n := range counted(r.of(level)) {
			noise[p] = max(noise[p], n)
		}
	}
	fewest := counted(from[0].of(level)) // how often at least the simulation differs there
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

// addNoise adds what only other reports have: a place each.
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

// place is what differences of two pairs of traces have in common if they are the same.
type place struct{ subject, what string }

var (
	number = regexp.MustCompile(`[0-9]+`)
	onlyIn = regexp.MustCompile(`\bonly in [AB]\b`)
)

// placeOf leaves out how much it was, and in which of the two runs.
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

// Wrong is the number of differences of the simulation on all levels, Noise that of all others.
func (c *Comparison) Wrong() (n int) {
	for _, l := range c.Levels {
		n += len(l.Wrong)
	}
	return n
}

// Races is the number of known races that all real runs have decided alike.
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

// Noise is the number of differences that say nothing about the simulation.
func (c *Comparison) Noise() (n int) {
	for _, l := range c.Levels {
		n += len(l.Noise)
	}
	return n
}
