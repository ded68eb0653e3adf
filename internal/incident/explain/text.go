package explain

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/csisim/csisim/internal/world/plural"
	"github.com/csisim/csisim/internal/world/trace"
)

// Text prints a report.
func (r *Report) Text(w io.Writer) error {
	var b strings.Builder
	if len(r.Findings) == 0 {
		b.WriteString("Nothing is stuck in these logs, as far as they reach.\n")
	}
	for i := range r.Findings {
		r.finding(&b, i+1, &r.Findings[i])
	}
	if len(r.Collect) > 0 {
		b.WriteString("Collect next:\n")
	}
	for _, m := range r.Collect {
		fmt.Fprintf(&b, "  %s: %s\n      %s\n", m.What, m.Why, m.Command)
	}
	_, err := io.WriteString(w, trace.Escaped(b.String()))
	return err
}

func (r *Report) finding(b *strings.Builder, n int, f *Finding) {
	fmt.Fprintf(b, "%d. %s  [%s]\n", n, f.Title, f.Certainty)
	fmt.Fprintf(b, "   held by    %s\n", f.Component)
	fmt.Fprintf(b, "   since      %s, %s until the last event of it\n", r.clock(f.Since), trace.Span(f.Until-f.Since))
	for i, line := range f.Chain {
		label := "           "
		if i == 0 {
			label = "waiting    "
		}
		fmt.Fprintf(b, "   %s%s\n", label, line)
	}
	for _, part := range []struct{ label, text string }{{"cause      ", f.Cause}, {"do next    ", f.Advice}} {
		if part.text != "" {
			fmt.Fprintf(b, "   %s%s\n", part.label, strings.ReplaceAll(part.text, "\n", "\n              "))
		}
	}
	for _, rule := range f.Rules {
		fmt.Fprintf(b, "   rule       %s\n", rule)
	}
	for _, hazard := range f.Hazards {
		fmt.Fprintf(b, "   hazard     %s\n", hazard)
	}
	for _, change := range f.Releases {
		fmt.Fprintf(b, "   release    %s\n", change)
	}
	for i, at := range f.Seen {
		label := "           "
		if i == 0 {
			label = "seen       "
		}
		fmt.Fprintf(b, "   %s%s\n", label, at)
	}
	b.WriteByte('\n')
}

// String returns the lines of an event, or its number.
func (p Place) String() string {
	if p.Src != "" {
		return p.Src
	}
	return fmt.Sprintf("event %d", p.Seq)
}

// clock returns the real time of an event, or its time since the beginning.
func (r *Report) clock(at time.Duration) string {
	if r.Began.IsZero() {
		return trace.Span(at)
	}
	return r.Began.Add(at).UTC().Format(time.DateTime) + " UTC"
}

// Summary is one sentence about the report.
func (r *Report) Summary() string {
	if len(r.Findings) == 0 {
		return "Nothing is stuck in these logs, as far as they reach."
	}
	return plural.Of(len(r.Findings), "finding") + ": " + r.Findings[0].Title + "."
}
