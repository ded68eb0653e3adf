package report

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/driver/unfinished"
	"github.com/csisim/csisim/internal/world/excerpt"
	"github.com/csisim/csisim/internal/world/plural"
	"github.com/csisim/csisim/internal/world/trace"
)

// Options control the appearance of a report. The zero value is plain text for a pipe.
type Options struct {
	Terminal
	// Verbose prints failures and notes in full. Default: shortened, as on a page.
	Verbose bool
	// Workspace is the root of the repository in a GitHub workflow: failures are
	// annotated with paths relative to it. Default: no annotations.
	Workspace string
	// Exists reports whether a file exists. Only then may annotations refer to it. Default:
	// os.Stat.
	Exists func(file string) bool
	// Planned is the number of scenarios, if it is known. The summary reports those that were not
	// run.
	Planned int
	// Began is the start time of the first scenario. Default: when the printer is made.
	Began time.Time
	// Now returns the wall clock, for durations. Default: time.Now.
	Now func() time.Time
}

// Printer writes a report while scenarios run: Started, Progress and Finished for
// each, Summary at the end.
type Printer struct {
	w       io.Writer
	o       Options
	current string
	open    bool // the last line on the terminal will be rewritten
	total   totals
	err     error
}

// NewPrinter returns a printer to w.
func NewPrinter(w io.Writer, o Options) *Printer {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Exists == nil {
		o.Exists = func(file string) bool { _, err := os.Stat(file); return err == nil }
	}
	if o.Began.IsZero() {
		o.Began = o.Now()
	}
	return &Printer{w: w, o: o}
}

// Started shows on a terminal which scenario runs.
func (p *Printer) Started(name string) {
	p.current = name
	p.live("• " + name)
}

// Progress shows the progress of the scenario on a terminal.
func (p *Printer) Progress(step scenario.StepResult) {
	p.live(fmt.Sprintf("• %s  %s", p.current, stepText(step)))
}

// Finished prints the result of a scenario and, if it failed, the reason.
func (p *Printer) Finished(run Run) {
	p.erase()
	p.total.add(run)
	p.print(p.statusLine(run))
	if run.NotTried != "" {
		p.print(p.paint(dim, indented(excerpt.Wrap("not tried: "+firstLine(run.NotTried), p.o.Width-4), "    ")) + "\n")
	}
	if run.Err != nil {
		p.print(indented(run.Err.Error(), "    ") + "\n")
		p.annotate(run.File, 0, scenarioName(run), run.Err.Error())
	}
	if run.Result == nil {
		return
	}
	p.notes(run.Result)
	p.waits(run.Result)
	p.print(p.failures(run))
	for _, failure := range run.Result.Failures {
		p.annotate(failure.File, failure.Line, scenarioName(run), gist(failure))
	}
}

// longestNotes bounds the printed notes of a run.
const longestNotes = 3

// notes prints observations that are not failures. The litter of Kubernetes itself is printed only
// in verbose output.
func (p *Printer) notes(result *scenario.Result) {
	notes := result.Notes
	if p.o.Verbose {
		for _, note := range slices.Concat(notes, result.Litter) {
			p.print(p.paint(dim, indented(note, "    ")) + "\n")
		}
		return
	}
	for _, note := range notes[:min(len(notes), longestNotes)] {
		p.print(p.paint(dim, indented(excerpt.Wrap(excerpt.Paths(note), p.o.Width-4), "    ")) + "\n")
	}
	if more := len(notes) - longestNotes; more > 0 {
		p.print(p.paint(dim, fmt.Sprintf("    … and %d more: -v prints all", more)) + "\n")
	}
}

// waits prints the share of the time spent waiting for the driver, and the places where the run
// continued without its answer.
func (p *Printer) waits(r *scenario.Result) {
	if waited := unfinished.InWords(r.Waits); waited != "" {
		p.print(p.paint(dim, "    "+waited) + "\n")
	}
	if overdue := scenario.OverdueInWords(r.Overdue); overdue != "" && r.Exit != scenario.Passed {
		p.print(p.paint(dim, "    "+overdue) + "\n")
	}
}

// Summary writes the last line and returns the first error of writing.
func (p *Printer) Summary() error {
	p.erase()
	p.print(excerpt.WrapFacts(p.total.line(p.o.Planned, p.o.Now().Sub(p.o.Began)), p.o.Width) + "\n")
	return p.err
}

func (p *Printer) statusLine(run Run) string {
	mark, color := "PASS", green
	if p.o.Live {
		mark = "✓"
	}
	switch {
	case run.NotTried != "":
		mark, color = "----", dim
		if p.o.Live {
			mark = "–"
		}
	case !run.Passed():
		mark, color = "FAIL", red
		if p.o.Live {
			mark = "✗"
		}
	}
	line := p.paint(color, mark) + " " + scenarioName(run)
	if r := run.Result; r != nil && run.Err == nil {
		line += p.paint(dim, fmt.Sprintf("  %s, %s in %s", plural.Of(r.Calls, "driver call"), trace.Span(r.VirtualTime), trace.Span(r.WallTime)))
	}
	return line + "\n"
}

// live writes a line that the next one replaces.
func (p *Printer) live(text string) {
	if !p.o.Live {
		return
	}
	p.erase()
	p.print(cut(text, p.o.Width-1))
	p.open = true
}

// Clear removes the status line for output of other code.
func (p *Printer) Clear() { p.erase() }

func (p *Printer) erase() {
	if p.open {
		p.write("\r\x1b[K")
		p.open = false
	}
}

func (p *Printer) print(text string) { p.write(trace.Escaped(excerpt.Words(text))) }

func (p *Printer) write(text string) {
	if p.err == nil {
		_, p.err = io.WriteString(p.w, text)
	}
}

const (
	green = "32"
	red   = "1;31"
	dim   = "2"
	bold  = "1"
)

func (p *Printer) paint(color, text string) string {
	if !p.o.Color {
		return text
	}
	return trace.Paint(color, text)
}

// indented puts an indentation before every line.
func indented(text, by string) string {
	return by + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+by)
}

func cut(text string, columns int) string {
	if runes := []rune(text); columns > 0 && len(runes) > columns {
		return string(runes[:columns-1]) + "…"
	}
	return text
}
