package strict

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one mistake in a file: its position, the wrong value and the expected one.
type Problem struct {
	File         string
	Line, Column int    // from 1; the column counts characters, not bytes
	Path         string // of the value, as in steps[2].wait.pod; empty for the file as a whole
	Found        string // in the words of the file: number 3, unknown field "nodess"
	Want         string // the expected value: a string such as "web-0"
	Suggestion   string // the known word nearest to the found one, or empty
}

// Error returns the problem in one line that starts with file:line:column, a format that editors
// and CI annotations understand.
func (p Problem) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d:%d: ", p.File, p.Line, p.Column)
	if p.Path != "" {
		b.WriteString(p.Path + ": ")
	}
	fmt.Fprintf(&b, "found %s, want %s", p.Found, p.Want)
	if p.Suggestion != "" {
		fmt.Fprintf(&b, "; did you mean %q?", p.Suggestion)
	}
	return b.String()
}

// Problems are the mistakes in one or several files, in the order of the files' lines.
type Problems []Problem

// Error has one line for each problem.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// Err returns nil if there are no problems. A function that returns the error interface must return
// Err(), because an empty Problems in an error is not nil.
func (ps Problems) Err() error {
	if len(ps) == 0 {
		return nil
	}
	return ps
}

// Sorted returns the problems by file and position, without duplicates. A mistake in an anchored
// value is found again at each alias, but has only one place to correct.
func (ps Problems) Sorted() Problems {
	sorted := slices.Clone(ps)
	slices.SortStableFunc(sorted, func(a, b Problem) int {
		return cmp.Or(
			cmp.Compare(a.File, b.File),
			cmp.Compare(a.Line, b.Line),
			cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Found, b.Found),
			cmp.Compare(a.Want, b.Want),
		)
	})
	return slices.CompactFunc(sorted, func(a, b Problem) bool {
		a.Path = b.Path
		return a == b
	}).first()
}

// maxProblems is the maximum number of problems in one report.
const maxProblems = 100

// first returns the problems to print, and a note if there are more.
func (ps Problems) first() Problems {
	if len(ps) <= maxProblems+1 {
		return ps
	}
	last := ps[maxProblems]
	last.Path, last.Suggestion = "", ""
	last.Found, last.Want = manyProblems, "those above corrected first"
	return append(ps[:maxProblems:maxProblems], last)
}

const manyProblems = "more mistakes from here on"
