package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/driver/program"
	"github.com/csisim/csisim/internal/view"
	"github.com/csisim/csisim/internal/world/excerpt"
	"github.com/csisim/csisim/internal/world/plural"
	"github.com/csisim/csisim/internal/world/trace"
)

// longestTrail bounds the events before a failure that are shown.
const longestTrail = 9

// failures describes the failures of a run, and the ways to examine the run again.
func (p *Printer) failures(run Run) string {
	failures := run.Result.Failures
	if len(failures) == 0 {
		return ""
	}
	explained := view.Report{Findings: findingsOf(run)}
	err := view.Explain(&explained, run.Result.Trace)
	var b strings.Builder
	shown := map[uint64]bool{}
	for i, f := range failures {
		if p.o.Verbose || err != nil {
			b.WriteString(p.inFull(run, f))
		} else {
			b.WriteString(p.failure(run, f, explained.Findings[i], shown))
		}
	}
	b.WriteByte('\n')
	b.WriteString(p.rows([][2]string{
		{"nodes", run.Result.Apart}, {"replay", run.Replay()}, {"trace", run.Trace}, {"report", run.Page}, {"logs", run.Logs},
	}, false))
	b.WriteByte('\n')
	return b.String()
}

// failure describes one failure in the words of the page: headline, place, preceding events,
// expected and found. shown contains the events that previous failures have shown.
func (p *Printer) failure(run Run, f scenario.Failure, explained view.Finding, shown map[uint64]bool) string {
	found := cmp.Or(explained.Found, excerpt.Paths(f.Got))
	if strings.HasSuffix(explained.Short, found) || strings.HasSuffix(f.Verdict.Text, f.Got) {
		found = explained.Found // the headline contains it
	}
	return p.head(run, f, explained.Short) + p.story(explained.Chain, run.Result.Trace, f.Trail, shown) + "\n" + p.rows([][2]string{
		{"expected", cmp.Or(explained.Should, f.Expected)}, {"found", shortLines(firstLines(found))}, {"hint", shortLines(explained.Hint)}, {"spec", f.Spec},
	}, true)
}

// inFull describes one failure with unabridged texts.
func (p *Printer) inFull(run Run, f scenario.Failure) string {
	text := p.head(run, f, shortLines(f.Verdict.Text))
	if trail := p.trail(f.Trail); trail != "" {
		text += "\n" + trail
	}
	return text + "\n" + p.rows([][2]string{
		{"expected", shortLines(f.Expected)}, {"found", shortLines(f.Got)}, {"hint", shortLines(f.Hint)}, {"spec", f.Spec},
	}, true)
}

func (p *Printer) head(run Run, f scenario.Failure, headline string) string {
	var b strings.Builder
	b.WriteByte('\n')
	for line := range strings.SplitSeq(excerpt.Wrap(shortLines(headline), p.o.Width-2), "\n") {
		fmt.Fprintf(&b, "  %s\n", p.paint(red, strings.TrimSpace(line)))
	}
	fmt.Fprintf(&b, "  %s\n", p.paint(dim, place(run, f)))
	return b.String()
}

// rows prints titles with texts beside them, and omits rows without a text. Commands are not
// wrapped.
func (p *Printer) rows(rows [][2]string, wrap bool) string {
	const column = 14
	var b strings.Builder
	for _, row := range rows {
		text := strings.TrimSpace(row[1])
		if text == "" {
			continue
		}
		if wrap {
			text = excerpt.Wrap(text, p.o.Width-column)
		}
		fmt.Fprintf(&b, "    %s  %s\n", p.paint(bold, fmt.Sprintf("%-8s", row[0])), indentedRest(text, strings.Repeat(" ", column)))
	}
	return b.String()
}

// story renders the chain of causes. If there is none, it renders the events before the failure. A
// chain is omitted if its events are already shown.
func (p *Printer) story(chain []view.Link, events, trail []*trace.Event, shown map[uint64]bool) string {
	if len(chain) == 0 {
		if text := p.trail(trail); text != "" {
			return "\n" + text
		}
		return ""
	}
	remarks, isNew := map[uint64]string{}, false
	for _, link := range chain {
		if link.Why == view.FoundAfter {
			continue // the headline contains it
		}
		isNew = isNew || !shown[link.Seq]
		remarks[link.Seq], shown[link.Seq] = link.Why, true
	}
	if !isNew {
		return ""
	}
	var b strings.Builder
	timeline := trace.NewTimeline(&b, trace.TimelineOptions{Color: p.o.Color, Width: p.o.Width, Indent: "    ", Raw: true, Story: remarks})
	for _, e := range events {
		if _, isPart := remarks[e.Seq]; isPart {
			timeline.Add(e)
		}
	}
	if err := timeline.Close(); err != nil {
		return err.Error()
	}
	return "\n" + b.String()
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

// mostFound is the highest number of lines of a found state, unless the output is verbose.
const mostFound = 6

// firstLines returns the first lines of a text, and the number of remaining lines. For a program's
// log it returns the last lines, which contain the reason for the program's end.
func firstLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if log := 1 + slices.IndexFunc(lines, isEndOfLog); log > 0 {
		if left := len(lines) - max(mostFound, log+1); left > 0 {
			lines = append(append(lines[:log:log], fmt.Sprintf("  … %s (-v prints all)", plural.Of(left, "line"))), lines[log+left:]...)
		}
		return strings.Join(lines, "\n")
	}
	if more := len(lines) - mostFound; more > 0 {
		lines = append(lines[:mostFound:mostFound], fmt.Sprintf("… and %s (-v prints all)", plural.Of(more, "more line")))
	}
	return strings.Join(lines, "\n")
}

// isEndOfLog reports whether the end of a log follows a line.
func isEndOfLog(line string) bool {
	return strings.HasPrefix(strings.TrimSpace(line), program.EndOfLog) && strings.HasSuffix(line, ":")
}

// indentedRest indents every line but the first.
func indentedRest(text, by string) string {
	return strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n"+by)
}
