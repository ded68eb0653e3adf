package main

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
)

// summary sums up the tests so far.
type summary struct {
	out io.Writer
	// output is the output of each unfinished test; an empty name means the package.
	output map[test]*strings.Builder
	passed int
	// skipped counts tests by reason.
	skipped map[string]int
}

type test struct{ pkg, name string }

func newSummary(out io.Writer) *summary {
	return &summary{out: out, output: map[test]*strings.Builder{}, skipped: map[string]int{}}
}

func (s *summary) add(e event) {
	t := test{cmp.Or(e.Package, e.ImportPath), e.Test}
	switch e.Action {
	case "output", "build-output":
		s.of(t).WriteString(e.Output)
		return
	case "build-fail", "fail":
		fmt.Fprint(s.out, s.of(t))
	case "skip":
		if e.Test != "" {
			s.skipped[reasonIn(s.of(t).String())]++
		}
	case "pass":
		if e.Test == "" {
			fmt.Fprintf(s.out, "ok  \t%s\t%.3fs\n", e.Package, e.Elapsed)
		} else {
			s.passed++
		}
	default:
		return
	}
	delete(s.output, t)
}

func (s *summary) of(t test) *strings.Builder {
	if s.output[t] == nil {
		s.output[t] = &strings.Builder{}
	}
	return s.output[t]
}

// reason matches the line of t.Skip in the output of a test.
var reason = regexp.MustCompile(`(?m)^\s+\w+\.go:\d+: (.*)$`)

func reasonIn(output string) string {
	all := reason.FindAllStringSubmatch(output, -1)
	if len(all) == 0 {
		return "no reason given"
	}
	return all[len(all)-1][1]
}

// finish prints the counts, the commonest reason first.
func (s *summary) finish() {
	total := 0
	var reasons []string
	for why, n := range s.skipped {
		total += n
		reasons = append(reasons, why)
	}
	slices.SortFunc(reasons, func(a, b string) int {
		return cmp.Or(s.skipped[b]-s.skipped[a], strings.Compare(a, b))
	})
	fmt.Fprintf(s.out, "%d tests and cases passed, %d were skipped\n", s.passed, total)
	for _, why := range reasons {
		fmt.Fprintf(s.out, "%5d  %s\n", s.skipped[why], why)
	}
}
