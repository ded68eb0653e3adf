package main

import (
	"fmt"

	"github.com/csisim/csisim/cmd/internal/diff"
	"github.com/csisim/csisim/internal/view"
	"github.com/csisim/csisim/internal/world/trace"
)

// compared compares two traces like csisim diff.
func compared(nameA, nameB string) (*view.Comparison, error) {
	a, err := openTrace(nameA)
	if err != nil {
		return nil, err
	}
	b, err := openTrace(nameB)
	if err != nil {
		return nil, err
	}
	found := diff.Compare(a, b)
	c := &view.Comparison{A: described(nameA, a), B: described(nameB, b)}
	placesA, placesB := places(a), places(b)
	for _, p := range found.Pairs {
		c.Pairs = append(c.Pairs, [2]int{placesA[p[0]], placesB[p[1]]})
	}
	for _, level := range diff.Levels {
		differences := found.Of(level)
		shown := view.Level{Name: string(level), What: level.Title(), Compared: found.Compared[level], Differences: len(differences)}
		if len(differences) > 0 {
			shown.First = differenceOf(differences[0])
		}
		c.Levels = append(c.Levels, shown)
	}
	return c, nil
}

// places returns the positions of a trace's calls among its events.
func places(lines []trace.Line) []int {
	var calls []int
	events := 0
	for _, l := range lines {
		if l.K == trace.Call {
			calls = append(calls, events)
		}
		if !l.K.IsState() {
			events++
		}
	}
	return calls
}

// shownAround is the number of rows that are shown on each side of a difference.
const shownAround = 100

func differenceOf(d diff.Difference) *view.Difference {
	from, to := max(0, d.Index-shownAround), min(len(d.Rows), d.Index+shownAround+1)
	shown := &view.Difference{Subject: d.Subject, What: d.What, Index: d.Index - from}
	for _, r := range d.Rows[from:to] {
		shown.Rows = append(shown.Rows, view.Aligned{A: r.A.Text, B: r.B.Text, TimeA: r.A.At, TimeB: r.B.At, Same: r.Same})
	}
	return shown
}

// sentenceOf returns a sentence with the number of levels on which the traces differ.
func sentenceOf(c *view.Comparison) string {
	differ := 0
	for _, l := range c.Levels {
		if l.Differences > 0 {
			differ++
		}
	}
	if differ == 0 {
		return "The two traces are equal on all levels."
	}
	return fmt.Sprintf("The two traces differ on %d of %d levels.", differ, len(c.Levels))
}
