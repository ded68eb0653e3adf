package comparison

import (
	"fmt"
	"io"
	"strings"
)

// Markdown writes the comparison as a report for an issue. about describes the compared runs, one
// per line.
func (c *Comparison) Markdown(w io.Writer, title string, about []string) error {
	var out strings.Builder
	fmt.Fprintf(&out, "# %s\n\n**%s**\n\n", title, c.Verdict())
	for _, line := range about {
		fmt.Fprintf(&out, "- %s\n", line)
	}
	out.WriteString("\n| Level | Compared | The simulation differs | Noise |\n| --- | --- | --- | --- |\n")
	for _, l := range c.Levels {
		fmt.Fprintf(&out, "| %s %s | %d | %d | %d |\n", l.mark(), l.Level, l.Compared, len(l.Wrong), len(l.Noise))
	}
	for _, l := range c.Levels {
		section(&out, fmt.Sprintf("The simulation differs in %s", l.Level), l.Wrong)
	}
	for _, l := range c.Levels {
		section(&out, fmt.Sprintf("Noise in %s", l.Level), l.Noise)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// section writes a list of differences, each with both sides as fenced text.
func section(out *strings.Builder, title string, differences []Difference) {
	if len(differences) == 0 {
		return
	}
	fmt.Fprintf(out, "\n## %s\n", title)
	for _, d := range differences {
		row := d.Rows[d.Index]
		fmt.Fprintf(out, "\n%s: %s\n\n    %-10s %s\n    %-10s %s\n", d.Subject, d.what(), d.A, side(row.A), d.B, side(row.B))
		if d.Race != "" {
			fmt.Fprintf(out, "\nA race: %s.\n", d.Race)
		}
	}
}
