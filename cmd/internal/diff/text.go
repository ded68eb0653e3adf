package diff

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/csisim/csisim/internal/world/plural"
	"github.com/csisim/csisim/internal/world/trace"
)

// TextOptions control the appearance of a report. The zero value is plain text.
type TextOptions struct {
	// A and B are the names of the traces. Default: A and B.
	A, B string
	// Color adds ANSI escapes.
	Color bool
	// Width is the number of columns at which texts are cut. Default: texts are not cut.
	Width int
	// All shows every difference with its context, not only the first of each level.
	All bool
}

const (
	usualWidth = 120 // columns of two traces side by side, if nothing is cut
	around     = 3   // rows of context before and after a difference
	listed     = 12
)

// Text writes the report for people: the first difference with its context, then a summary by
// level, the other differences, and the uses of tolerances.
func (r *Report) Text(w io.Writer, o TextOptions) error {
	p := &printer{to: w, TextOptions: o}
	p.line("A  %s", orName(o.A, "A"))
	p.line("B  %s", orName(o.B, "B"))
	p.line("")
	if !r.Equal() {
		p.line("%s", p.paint(bold, "First difference, after "+after(r.Differences[0].At())))
		p.difference(r.Differences[0])
	}
	p.summary(r)
	p.others(r)
	p.tolerances(r)
	return p.err
}

func orName(name, otherwise string) string {
	if name == "" {
		return otherwise
	}
	return name
}

func after(ms int64) string { return trace.Span(time.Duration(ms) * time.Millisecond) }

// printer writes lines and keeps the first error.
type printer struct {
	to io.Writer
	TextOptions
	err error
}

func (p *printer) line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.to, trace.Escaped(strings.TrimRight(fmt.Sprintf(format, args...), " ")))
	}
}

// The escape sequences of the colours.
const (
	bold  = "1"
	red   = "31"
	green = "32"
	faint = "2"
)

func (p *printer) paint(escape, text string) string {
	if !p.Color {
		return text
	}
	return trace.Paint(escape, text)
}

// difference writes one difference with the rows around it.
func (p *printer) difference(d Difference) {
	p.line("%s: %s", p.paint(red, string(d.Level)), d.Subject)
	p.line("  %s", d.What)
	p.line("")
	from, to := max(0, d.Index-around), min(len(d.Rows), d.Index+around+1)
	rows := d.Rows[from:to]
	column := (cmp.Or(p.Width, usualWidth) - 26) / 2
	if slices.ContainsFunc(rows, func(r Row) bool { return length(r.A.Text) > column || length(r.B.Text) > column }) {
		p.stacked(rows, d.Index-from)
	} else {
		p.beside(rows, d.Index-from, column)
	}
	p.line("")
}

// beside writes the rows in two columns.
func (p *printer) beside(rows []Row, at, column int) {
	for _, r := range rows {
		column = max(min(column, length(r.A.Text)), 24)
	}
	widest := 24
	for _, r := range rows {
		widest = max(widest, length(r.A.Text))
	}
	for i, r := range rows {
		text := fmt.Sprintf("%s %s   %s", stamp(r.A), pad(orDash(r.A.Text), widest), stamp(r.B)+" "+orDash(r.B.Text))
		p.marked(i == at, r.Same, text)
	}
}

// stacked writes the rows of one trace below those of the other, and equal rows once.
func (p *printer) stacked(rows []Row, at int) {
	room := p.room(20)
	for i, r := range rows {
		if r.Same {
			p.marked(false, true, "    "+stamp(r.A)+" "+clip(r.A.Text, room))
			continue
		}
		a, b := apart(orDash(r.A.Text), orDash(r.B.Text), room)
		p.marked(i == at, false, "A   "+stamp(r.A)+" "+a)
		p.marked(i == at, false, "B   "+stamp(r.B)+" "+b)
	}
}

func (p *printer) marked(here, same bool, text string) {
	switch {
	case here:
		p.line("  %s %s", p.paint(red, "▸"), p.paint(bold, text))
	case same:
		p.line("    %s", p.paint(faint, text))
	default:
		p.line("    %s", text)
	}
}

func stamp(c Cell) string {
	if c.Text == "" {
		return strings.Repeat(" ", 9)
	}
	return fmt.Sprintf("%9.3f", float64(c.At)/1000)
}

func orDash(text string) string {
	if text == "" {
		return "–"
	}
	return text
}

// room returns the columns that remain beside a number of used columns.
func (p *printer) room(taken int) int {
	if p.Width == 0 {
		return math.MaxInt
	}
	return max(20, p.Width-taken)
}

func length(s string) int { return utf8.RuneCountInString(s) }

func pad(s string, width int) string { return s + strings.Repeat(" ", max(0, width-length(s))) }

func clip(s string, room int) string {
	if length(s) <= room {
		return s
	}
	return string([]rune(s)[:room-1]) + "…"
}

// apart cuts two long texts so that their first difference is visible.
func apart(a, b string, room int) (string, string) {
	runesA, runesB := []rune(a), []rune(b)
	if len(runesA) <= room && len(runesB) <= room {
		return a, b
	}
	same := 0
	for same < min(len(runesA), len(runesB)) && runesA[same] == runesB[same] {
		same++
	}
	lead := room / 3
	if same <= lead {
		return clip(a, room), clip(b, room)
	}
	return clip("…"+string(runesA[same-lead:]), room), clip("…"+string(runesB[same-lead:]), room)
}

// summary writes one line for each level.
func (p *printer) summary(r *Report) {
	for _, level := range Levels {
		compared, differences := r.Compared[level], len(r.Of(level))
		mark, verdict := p.paint(green, "✓"), "equal"
		switch {
		case differences > 0:
			mark, verdict = p.paint(red, "✗"), plural.Of(differences, "difference")
		case compared == 0:
			mark, verdict = p.paint(faint, "–"), "nothing to compare"
		}
		p.line("%s %s %s %5d compared: %s", mark, pad(string(level), 9), pad(verdict, 18), compared, title[level])
	}
}

// others writes the differences after the first: one line each, or in full.
func (p *printer) others(r *Report) {
	if len(r.Differences) < 2 {
		return
	}
	p.line("")
	p.line("%s", p.paint(bold, "Other differences"))
	rest := r.Differences[1:]
	if p.All {
		for _, d := range rest {
			p.difference(d)
		}
		return
	}
	for i, d := range rest {
		if i == listed {
			p.line("  … and %s; --all shows them", plural.Of(len(rest)-listed, "other"))
			return
		}
		p.line("  %9.3f  %s %s", float64(d.At())/1000, pad(string(d.Level), 9), clip(d.Subject+": "+d.What, p.room(24)))
	}
}

// tolerances writes the differences that were not counted.
func (p *printer) tolerances(r *Report) {
	used := slices.DeleteFunc(slices.Clone(Tolerances), func(rule Rule) bool { return r.Allowed[rule.Name] == 0 })
	if len(used) == 0 {
		return
	}
	p.line("")
	p.line("%s", p.paint(bold, "Not counted as differences"))
	for _, rule := range used {
		p.line("%6d× %s %s", r.Allowed[rule.Name], pad(string(rule.Name), 26), clip(rule.Allows, p.room(36)))
	}
}
