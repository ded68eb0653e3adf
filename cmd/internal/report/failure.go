package report

import (
	"fmt"
	"strings"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/world/excerpt"
	"github.com/csisim/csisim/internal/world/trace"
)

// longestTrail bounds the events before a failure that are shown.
const longestTrail = 9

// failure describes one failure in the order in which readers need it: verdict, events before it,
// expected and got, replay command.
func (p *Printer) failure(run Run, f scenario.Failure) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n  %s\n", p.paint(red, indentedRest(shortLines(f.Verdict.Text), "  ")))
	fmt.Fprintf(&b, "  %s\n", p.paint(dim, place(run, f)))
	if trail := p.trail(f.Trail); trail != "" {
		fmt.Fprintf(&b, "\n%s\n", trail)
	}
	for _, row := range [][2]string{
		{"expected", shortLines(f.Expected)}, {"got", shortLines(f.Got)}, {"hint", shortLines(f.Hint)}, {"nodes", run.Result.Apart}, {"replay", run.Replay()}, {"trace", run.Trace}, {"report", run.Page}, {"spec", f.Spec},
		{"logs", run.Logs},
	} {
		if row[1] != "" {
			fmt.Fprintf(&b, "    %s  %s\n", p.paint(bold, fmt.Sprintf("%-8s", row[0])), indentedRest(row[1], strings.Repeat(" ", 14)))
		}
	}
	return b.String() + "\n"
}

// place returns file:line and the step. A scenario without a file is identified by its name.
func place(run Run, f scenario.Failure) string {
	text := f.File
	switch {
	case f.Line > 0 && f.File == "":
		text = fmt.Sprintf("line %d of scenario %s", f.Line, run.Name)
	case f.Line > 0:
		text = fmt.Sprintf("%s:%d", f.File, f.Line)
	}
	if step := stepOf(run, f); step != "" {
		text += "  " + step
	}
	return text
}

// trail renders the events before a failure as a timeline.
func (p *Printer) trail(events []*trace.Event) string {
	var b strings.Builder
	if earlier := len(events) - longestTrail; earlier > 0 {
		fmt.Fprintf(&b, "    … %d earlier events …\n", earlier)
		events = events[earlier:]
	}
	timeline := trace.NewTimeline(&b, trace.TimelineOptions{Color: p.o.Color, Width: p.o.Width, Indent: "  ", Raw: true})
	for _, e := range events {
		timeline.Add(e)
	}
	if err := timeline.Close(); err != nil {
		return err.Error()
	}
	return b.String()
}

// shortLines shortens long lines of text from other programs.
func shortLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = excerpt.Of(lines[i], excerpt.Line)
	}
	return strings.Join(lines, "\n")
}

// indentedRest indents every line but the first.
func indentedRest(text, by string) string {
	return strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n"+by)
}
