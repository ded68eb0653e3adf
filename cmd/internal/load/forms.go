package load

import (
	"fmt"
	"io"
	"strings"

	"github.com/csisim/csisim/cmd/internal/report"
	"github.com/csisim/csisim/internal/load"
	"github.com/csisim/csisim/internal/view/index"
)

// JUnit writes a test case for each finding and each condition, and one for the load itself.
func (r *Report) JUnit(w io.Writer) error {
	cases := []report.Case{{Name: "load/" + string(r.Plan.Shape), Failure: r.Ended}}
	for _, f := range r.Findings {
		cases = append(cases, report.Case{Name: f.Name, Failure: f.Text, Details: f.Details})
	}
	for _, c := range r.Conditions {
		one := report.Case{Name: c.Text}
		if c.Holds {
			one.Failure = "holds: " + c.Because
		}
		cases = append(cases, one)
	}
	return report.JUnitCases(w, cases)
}

// Summary writes the report as Markdown, for the summary of a job.
func (r *Report) Summary(w io.Writer) error {
	var b strings.Builder
	state := "passed"
	if r.Failed() {
		state = "failed"
	}
	fmt.Fprintf(&b, "### %s under load: %s\n\n%s\n\n", strings.TrimSpace(r.Driver.Name+" "+r.Driver.Version), state, r.Course())
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "- **%s**: %s\n", f.Name, index.Cell(f.Text))
	}
	for _, c := range r.Conditions {
		if c.Holds {
			fmt.Fprintf(&b, "- **`%s`**: %s\n", c.Text, index.Cell(c.Because))
		}
	}
	if r.Ended != "" {
		fmt.Fprintf(&b, "- ended early: %s\n", index.Cell(r.Ended))
	}
	if largest := r.Largest(); largest != nil {
		fmt.Fprintf(&b, "\n| at %d volumes | calls | p50 | p99 | max | errors | growth |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n", largest.Volumes)
		for _, method := range r.methods() {
			s, growth := largest.Of(method), "–"
			if g, known := r.GrowthOf(method); known {
				growth = fmt.Sprintf("%.1f", g.Exponent)
			}
			fmt.Fprintf(&b, "| %s | %d | %s | %s | %s | %d | %s |\n", method, s.Count, load.Millis(s.P50), load.Millis(s.P99), load.Millis(s.Max), failed(s), growth)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
