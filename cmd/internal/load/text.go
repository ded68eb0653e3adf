package load

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/csisim/csisim/cmd/internal/report"
	"github.com/csisim/csisim/internal/load"
	"github.com/csisim/csisim/internal/world/excerpt"
	"github.com/csisim/csisim/internal/world/plural"
	"github.com/csisim/csisim/internal/world/trace"
)

// Report is the result of a load with its judgements.
type Report struct {
	*load.Result
	Findings []load.Finding `json:"findings"`
	// Compared are the differences from a baseline; nil without a baseline.
	Compared *Comparison `json:"compared,omitempty"`
	// Conditions are the conditions of --fail-if.
	Conditions []Condition `json:"conditions,omitempty"`
}

// Failed reports whether anything in the report fails the load.
func (r *Report) Failed() bool {
	return len(r.Findings) > 0 || slices.ContainsFunc(r.Conditions, func(c Condition) bool { return c.Holds })
}

// Text writes the report for a terminal.
func (r *Report) Text(w io.Writer, terminal report.Terminal) error {
	p := &printer{Report: r, terminal: terminal}
	p.head()
	if r.Largest() != nil {
		p.phases()
		p.calls()
		p.stages()
		p.resources()
	}
	p.compared()
	p.judgement()
	_, err := io.WriteString(w, trace.Escaped(p.out.String()))
	return err
}

// AllNotes are the limits of the load, and the repeated calls unless a finding lists them.
func (r *Report) AllNotes() []string {
	if slices.ContainsFunc(r.Findings, func(f load.Finding) bool { return f.Name == "stuck" || f.Name == "died" }) {
		return r.Notes
	}
	return slices.Concat(r.Notes, r.Repeated())
}

type printer struct {
	*Report
	terminal report.Terminal
	out      strings.Builder
}

func (p *printer) paint(color, text string) string {
	if !p.terminal.Color {
		return text
	}
	return trace.Paint(color, text)
}

func (p *printer) line(format string, args ...any) { fmt.Fprintf(&p.out, format+"\n", args...) }

// title writes the title of a table after an empty line.
func (p *printer) title(text string) { p.line("\n%s", p.paint("1", text)) }

// table writes rows of cells; the first cell of a row is aligned to the left, the others to the
// right.
func (p *printer) table(rows [][]string) {
	width := 0
	for _, row := range rows {
		width = max(width, len([]rune(row[0])))
	}
	t := tabwriter.NewWriter(&p.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, row := range rows {
		fmt.Fprintf(t, "  %-*s\t%s\t\n", width, row[0], strings.Join(row[1:], "\t"))
	}
	t.Flush() // a strings.Builder does not fail
}

func (p *printer) head() {
	driver := strings.TrimSpace(p.Driver.Name + " " + p.Driver.Version)
	p.line("%s", p.paint("1", cmp.Or(driver, "driver")))
	p.line("  %s of %s volumes on %s, %s each, %s clock", p.Plan.Shape, levels(p.Plan.Volumes), plural.Of(p.Plan.Nodes, "node"), plural.Of(p.Plan.Runs, "run"), p.Plan.Clock)
	p.line("  %s, %s, %s", p.Machine.Processor, plural.Of(p.Machine.Cores, "processor"), p.Machine.System)
}

func levels(volumes []int) string {
	var all []string
	for _, n := range volumes {
		all = append(all, fmt.Sprint(n))
	}
	return strings.Join(all, ", ")
}

// columns returns a heading with the number of volumes of each level.
func (p *printer) columns(first string) []string {
	row := []string{first}
	for _, l := range p.Levels {
		row = append(row, fmt.Sprint(l.Volumes))
	}
	return row
}

// phases writes the cluster time of each phase.
func (p *printer) phases() {
	p.title("Cluster time (median of the runs)")
	rows := [][]string{p.columns("volumes")}
	for _, name := range p.Largest().Phases() {
		if name == "stay" {
			continue
		}
		row := []string{phaseTitle(name)}
		for _, l := range p.Levels {
			row = append(row, seconds(load.Median(l.Took(name))))
		}
		rows = append(rows, row)
	}
	p.table(rows)
}

func phaseTitle(name string) string {
	switch name {
	case "up":
		return "until all pods run"
	case "down":
		return "until all volumes are gone"
	}
	return name
}

func seconds(s float64) string { return load.Millis(s * 1e3) }

// calls writes the times of the calls that are made for each volume.
func (p *printer) calls() {
	p.title("Calls (median at each level; the rest at the largest)")
	head := append(p.columns("volumes"), "p99", "max", "at once", "errors", "growth", "over time")
	rows := [][]string{head}
	largest := p.Largest()
	for _, method := range p.Methods() {
		s := largest.Of(method)
		if !load.Changes(method) || s.Count == 0 {
			continue
		}
		row := []string{method}
		for _, l := range p.Levels {
			row = append(row, cell(l.Of(method)))
		}
		growth := "–"
		if g, known := p.GrowthOf(method); known {
			growth = fmt.Sprintf("%.1f", g.Exponent)
		}
		errors := 0
		for _, n := range s.Errors {
			errors += n
		}
		rows = append(rows, append(row, load.Millis(s.P99), load.Millis(s.Max), fmt.Sprint(s.InFlight), fmt.Sprint(errors), growth, sparkline(largest.OverTime(method, sparks))))
	}
	p.table(rows)
}

func cell(s load.Summary) string {
	if s.Count == 0 {
		return "–"
	}
	return load.Millis(s.P50)
}

// sparks is the length of a sparkline.
const sparks = 10

// sparkline draws numbers from 0 to the largest; a place without a number is a space.
func sparkline(numbers []float64) string {
	const steps = "▁▂▃▄▅▆▇█"
	most := slices.Max(append(slices.Clone(numbers), 0))
	var b strings.Builder
	for _, n := range numbers {
		if n == 0 || most == 0 {
			b.WriteByte(' ')
			continue
		}
		b.WriteRune([]rune(steps)[int(n/most*7.999)])
	}
	return b.String()
}

// stages writes the parts of a pod's start and end time, at the largest level.
func (p *printer) stages() {
	largest := p.Largest()
	all := largest.Stages()
	if len(all) == 0 {
		return
	}
	p.title(fmt.Sprintf("Stages of a pod at %s (median)", plural.Of(largest.Volumes, "volume")))
	rows := [][]string{{"", "in all", "in the driver", "in Kubernetes"}}
	for _, s := range all {
		rows = append(rows, []string{s.Name, load.Millis(s.Took), load.Millis(s.Driver), load.Millis(s.Took - s.Driver)})
	}
	p.table(rows)
}

// resources writes the use of resources by the driver's programs at the largest level.
func (p *printer) resources() {
	largest := p.Largest()
	before, up, after := largest.Use("before"), largest.Use("up"), largest.Use("after")
	if before.Threads == 0 || up.Threads == 0 {
		return // not measured, or the load ended earlier
	}
	p.title(fmt.Sprintf("The driver's programs at %s (all plugins, last run)", plural.Of(largest.Volumes, "volume")))
	rows := [][]string{{"", "before", "up", "after", "per volume"}}
	add := func(name string, of func(load.Use) int64, unit func(float64) string) {
		perVolume := float64(of(up)-of(before)) / float64(largest.Volumes)
		rows = append(rows, []string{name, unit(float64(of(before))), unit(float64(of(up))), unit(float64(of(after))), unit(perVolume)})
	}
	add("memory", func(u load.Use) int64 { return u.Memory }, load.Bytes)
	add("threads", func(u load.Use) int64 { return u.Threads }, plain)
	add("descriptors", func(u load.Use) int64 { return u.Descriptors }, plain)
	add("child processes", func(u load.Use) int64 { return u.Children }, plain)
	add("mounts", func(u load.Use) int64 { return u.Mounts }, plain)
	if up.Goroutines > 0 {
		add("goroutines", func(u load.Use) int64 { return u.Goroutines }, plain)
	}
	rows = append(rows, []string{"processor time", load.Millis(float64(before.CPU) / 1e3), load.Millis(float64(up.CPU) / 1e3), load.Millis(float64(after.CPU) / 1e3), load.Millis(float64(up.CPU-before.CPU) / 1e3 / float64(largest.Volumes))})
	p.table(rows)
}

func plain(n float64) string { return strings.TrimSuffix(fmt.Sprintf("%.1f", n), ".0") }

// judgement writes the findings, and whether the load passed.
func (p *printer) judgement() {
	p.line("")
	for _, note := range p.AllNotes() {
		p.line("%s", p.wrapped("note: "+note, 2))
	}
	if p.Ended != "" {
		p.line("%s", p.wrapped("ended early: "+p.Ended, 2))
	}
	for _, f := range p.Findings {
		p.line("%s %s", p.paint("31", "✗"), f.Name)
		p.line("  %s", p.wrapped(f.Text, 2))
		for _, detail := range f.Details {
			p.line("    %s", p.wrapped(detail, 4))
		}
	}
	for _, c := range p.Conditions {
		if c.Holds {
			p.line("%s %s", p.paint("31", "✗"), c.Text)
			p.line("  %s", p.wrapped(c.Because, 2))
		}
	}
	switch {
	case p.Failed():
		p.line("%s", p.paint("31", "FAIL"))
	case p.Largest() == nil:
		p.line("nothing was measured")
	default:
		p.line("%s", p.paint("32", "PASS"))
	}
}

// wrapped breaks a text at the width of the terminal, with an indentation of further lines.
func (p *printer) wrapped(text string, indent int) string {
	if p.terminal.Width == 0 {
		return text
	}
	return strings.ReplaceAll(excerpt.Wrap(text, p.terminal.Width-indent-2), "\n", "\n"+strings.Repeat(" ", indent))
}
