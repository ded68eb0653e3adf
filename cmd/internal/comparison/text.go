package comparison

import (
	"fmt"
	"io"
	"strings"

	"github.com/csisim/csisim/cmd/internal/diff"
	"github.com/csisim/csisim/internal/world/plural"
)

// listed bounds the listed differences of a kind, unless all are requested.
const listed = 12

// Text writes the comparison for people: completely, or only the first differences of each level.
func (c *Comparison) Text(w io.Writer, all bool) error {
	var out strings.Builder
	for _, l := range c.Levels {
		fmt.Fprintf(&out, "%s %-9s %-16s %5d compared: %s\n", l.mark(), l.Level, l.count(), l.Compared, l.Title())
	}
	for _, l := range c.Levels {
		list(&out, fmt.Sprintf("The simulation differs in %s", l.Level), l.Wrong, all)
	}
	for _, l := range c.Levels {
		list(&out, fmt.Sprintf("Noise in %s", l.Level), l.Noise, all)
	}
	fmt.Fprintf(&out, "\n%s\n", c.Verdict())
	_, err := io.WriteString(w, out.String())
	return err
}

func (l Level) mark() string {
	switch {
	case len(l.Wrong) > 0:
		return "✗"
	case len(l.Noise) > 0:
		return "~"
	case l.Unseen, l.Compared == 0:
		return "–"
	}
	return "✓"
}

func (l Level) count() string {
	switch {
	case len(l.Wrong) > 0:
		return plural.Of(len(l.Wrong), "difference")
	case len(l.Noise) > 0:
		return "equal, but noise"
	case l.Unseen:
		return "not recorded"
	case l.Compared == 0:
		return "nothing there"
	}
	return "equal"
}

func list(out *strings.Builder, title string, differences []Difference, all bool) {
	if len(differences) == 0 {
		return
	}
	fmt.Fprintf(out, "\n%s\n", title)
	for i, d := range differences {
		if i == listed && !all {
			fmt.Fprintf(out, "  … and %s; --all shows them\n", plural.Of(len(differences)-listed, "other"))
			return
		}
		row := d.Rows[d.Index]
		fmt.Fprintf(out, "  %s: %s\n    %-10s %s\n    %-10s %s\n", d.Subject, d.what(), d.A, side(row.A), d.B, side(row.B))
		if d.Race != "" {
			fmt.Fprintf(out, "    a race: %s\n", d.Race)
		}
	}
}

// what describes the difference, with the names of the runs.
func (d Difference) what() string {
	return strings.NewReplacer("only in A", "only in "+d.A, "only in B", "only in "+d.B).Replace(d.What)
}

// side renders one side of a difference, with its time in seconds.
func side(c diff.Cell) string {
	if c.Text == "" {
		return "–"
	}
	return fmt.Sprintf("%9.3f %s", float64(c.At)/1000, c.Text)
}
