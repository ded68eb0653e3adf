package check

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/csisim/csisim/cmd/internal/report"
	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/driver/program"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/excerpt"
	"github.com/csisim/csisim/internal/world/lazyregexp"
	"github.com/csisim/csisim/internal/world/plural"
	"github.com/csisim/csisim/internal/world/trace"
)

// widest is the width of the card on a wide terminal: longer lines are hard to read.
const widest = 110

// titleWidth is the width of the column of titles.
const titleWidth = 26

// maxNamed is the highest number of trials that a finding lists.
const maxNamed = 4

// Text writes the card for people.
func (c *Card) Text(w io.Writer, terminal report.Terminal) error {
	p := &page{terminal: terminal, width: min(terminal.Width, widest)}
	found := c.Findings()
	if c.Upgrade != nil {
		p.upgrade(c, found)
	} else {
		p.head(c)
		for _, line := range c.Lines() {
			p.line(line, found, c.Verbose)
		}
	}
	p.findings(c, found)
	p.hazards(c)
	p.remarks(c)
	p.gone(c)
	p.shared(c)
	p.notOffered(c)
	p.reasons("Not tried", c.NotTried())
	p.usage(c)
	p.waits(c)
	p.written(c)
	p.total(c)
	_, err := io.WriteString(w, trace.Escaped(excerpt.Words(p.String())))
	return err
}

// page is the state of writing a card.
type page struct {
	strings.Builder
	terminal report.Terminal
	width    int // 0 is unlimited
}

const (
	green = "32"
	red   = "1;31"
	dim   = "2"
	bold  = "1"
)

func (p *page) paint(color, text string) string {
	if !p.terminal.Color || text == "" || color == "" {
		return text
	}
	return trace.Paint(color, text)
}

// mark returns the outcome of a group or trial, and its width. It is a sign on a terminal and a
// word elsewhere.
func (p *page) mark(failed, succeeded bool) (painted string, wide int) {
	sign, word, color := "✓", "PASS", green
	switch {
	case failed:
		sign, word, color = "✗", "FAIL", red
	case !succeeded:
		sign, word, color = "–", "----", dim
	}
	if p.terminal.Live {
		word = sign
	}
	return p.paint(color, word), utf8.RuneCountInString(word)
}

// head prints the driver's name and its capabilities.
func (p *page) head(c *Card) {
	f := c.Facts
	fmt.Fprintf(p, "%s\n", p.paint(bold, strings.TrimSpace(f.Name+" "+f.Version)))
	for _, row := range []struct {
		title string
		names []string
	}{{"plugin", f.Plugin}, {"controller", f.Controller}, {"group", f.Group}, {"node", f.Node}} {
		if len(row.names) > 0 {
			p.row("  ", 2, row.title, 12, plainWords(row.names), dim)
		}
	}
	p.WriteByte('\n')
}

// word is a word with its colour.
type word struct{ text, color string }

func plainWords(texts []string) []word {
	words := make([]word, len(texts))
	for i, text := range texts {
		words[i] = word{text: text}
	}
	return words
}

// row prints a title with words beside it. It wraps them if necessary. The rows below the first
// have a margin of some columns that may be painted.
func (p *page) row(margin string, wide int, title string, column int, words []word, color string) {
	fmt.Fprintf(p, "%s%s", margin, pad(title, column))
	start := wide + column
	at := start
	for i, w := range words {
		length := utf8.RuneCountInString(w.text)
		switch {
		case i == 0:
		case p.width > 0 && at+2+length > p.width:
			p.WriteString("\n" + strings.Repeat(" ", start))
			at = start
		default:
			p.WriteString("  ")
			at += 2
		}
		p.WriteString(p.paint(cmp.Or(w.color, color), w.text))
		at += length
	}
	p.WriteByte('\n')
}

func pad(text string, column int) string {
	return text + strings.Repeat(" ", max(1, column-utf8.RuneCountInString(text)))
}

// mostTitles is the highest number of trials in a group for which all titles are printed.
const mostTitles = 5

// mostFailed is the highest number of printed titles of failed trials in a group.
const mostFailed = 8

// line prints the outcome of a group and its trials. Trials with only known findings are counted,
// and in a large group passed trials, too.
func (p *page) line(l Line, found []Finding, all bool) {
	var words []word
	failed, succeeded, passed, known, more := false, false, 0, 0, 0
	shown := 0 // failed ones
	for _, o := range l.Outcomes {
		isKnown := o.Failed() && OnlyKnown(found, o.Trial)
		failed, succeeded = failed || o.Failed() && !isKnown, succeeded || o.Passed()
		title := o.title()
		switch {
		case o.Passed() && o.Search == nil && len(l.Outcomes) > mostTitles && !all:
			passed++
		case isKnown && !all:
			known++
		case isKnown:
			words = append(words, word{title + " known", dim})
		case !o.Tried() && p.terminal.Color:
			words = append(words, word{title, dim})
		case !o.Tried():
			words = append(words, word{"(" + title + ")", ""})
		case o.Failed() && shown == mostFailed && !all:
			more++
		case o.Failed() && p.terminal.Live:
			shown++
			words = append(words, word{"✗ " + title, red})
		case o.Failed():
			shown++
			words = append(words, word{title + " FAILED", red})
		default:
			words = append(words, word{title, green})
		}
	}
	if more > 0 {
		words = append(words, word{fmt.Sprintf("%d more failed", more), red})
	}
	if passed > 0 {
		words = append(words, word{fmt.Sprintf("%d passed", passed), green})
	}
	if known > 0 {
		words = append(words, word{fmt.Sprintf("%d known", known), dim})
	}
	mark, wide := p.mark(failed, succeeded)
	p.row(mark+" ", wide+1, l.Group.Title, titleWidth, words, "")
}

// findings prints each finding, the most harmful first: its name, its detail, the story of a trial,
// and the trials that show it.
func (p *page) findings(c *Card, found []Finding) {
	for _, f := range merge(found, alike) {
		switch {
		case f.Release == OldRelease:
			fmt.Fprintf(p, "\n%s %s\n    %s\n", p.paint(dim, "known"), headline(f.Name), p.paint(dim, "the old release shows it without an upgrade, too"))
		case f.Known:
			fmt.Fprintf(p, "\n%s %s  %s\n", p.paint(dim, "known"), headline(f.Name), p.paint(dim, plural.Of(len(f.Shown), "trial")))
		case c.Verbose:
			p.inFull(c, f)
		default:
			p.finding(c, f)
		}
	}
	p.replay(c, found)
}

func (p *page) finding(c *Card, f Finding) {
	title, detail := f.words()
	p.title(title, f.Harm)
	for _, line := range []string{detail, strings.Join(prefixed("with      ", f.choices()), "\n"), p.storyOf(f), f.lastWords(), f.chance(), f.overdue(), f.hint(), strings.Join(prefixed("lost      ", lost(f.Shown[0])), "\n"), f.likewise(), f.byItself()} {
		if line != "" {
			p.text("    ", "    ", line)
		}
	}
	fmt.Fprintf(p, "    %s\n", c.shownBy(f))
}

// title prints the first lines of a finding, with its harm.
func (p *page) title(name string, harm Harm) {
	mark, sign := p.mark(true, true)
	sign++ // the space
	text := excerpt.Wrap(headline(name)+"  "+harm.String(), p.width-sign)
	text = strings.TrimSuffix(text, harm.String())
	before := strings.TrimRight(text, " \n")
	between := strings.ReplaceAll(text[len(before):], "\n", "\n"+strings.Repeat(" ", sign))
	fmt.Fprintf(p, "\n%s %s%s%s\n", mark, p.lines(before, strings.Repeat(" ", sign), red), between, p.paint(dim, harm.String()))
}

// text prints a text within the width of the page. The first line has one margin, and the following
// lines have another one.
func (p *page) text(first, rest, text string) {
	room := p.width - utf8.RuneCountInString(rest)
	fmt.Fprintf(p, "%s%s\n", first, p.lines(excerpt.Wrap(text, room), rest, ""))
}

// lines paints the lines of a text, with a margin before all but the first.
func (p *page) lines(text, margin, color string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = p.paint(color, lines[i])
	}
	return strings.Join(lines, "\n"+margin)
}

// words returns the title of a finding and its detail. If the name has gaps, the title is the
// complete verdict.
func (f Finding) words() (title, detail string) {
	title = f.title()
	if strings.Contains(title, "…") {
		return f.Text, ""
	}
	return title, f.detail()
}

// title returns the name without the parts that vary between runs. The detail has these parts.
func (f Finding) title() string {
	before, _, varies := strings.Cut(f.Name, "…")
	if i := strings.LastIndex(before, ": "); varies && i > 0 {
		return before[:i] + f.foundInstead()
	}
	return strings.TrimSuffix(f.Name, " …")
}

// foundInstead returns the end of the name of lost data, which distinguishes such findings; empty
// for other findings.
func (f Finding) foundInstead() string {
	_, found, has := strings.Cut(f.Name, ", found ")
	if f.Breaks != verdict.Data || !has || strings.Contains(found, "…") {
		return ""
	}
	return ": found " + found
}

// prefixed puts a word before each line.
func prefixed(word string, lines []string) (all []string) {
	for _, line := range lines {
		all = append(all, word+line)
	}
	return all
}

// detail returns the part of the verdict that the name lacks.
func (f Finding) detail() string {
	name := strings.TrimSuffix(f.Name, " …")
	if f.Text == name {
		return ""
	}
	n := 0
	for n < min(len(f.Text), len(name)) && f.Text[n] == name[n] {
		n++
	}
	rest := f.Text[n:]
	if n < len(name) { // not in the middle of a word
		rest = f.Text[strings.LastIndex(f.Text[:n], ": ")+1:]
	}
	rest = strings.Trim(rest, " :")
	if inner, ok := strings.CutSuffix(rest, ")"); ok && strings.HasPrefix(inner, "(") {
		rest = inner[1:]
	}
	return headline(rest)
}

// storyOf returns the story of a finding on one line, or the choices of a finding of a search.
func (p *page) storyOf(f Finding) string {
	if f.found != nil {
		return ""
	}
	result := f.Shown[0].Result
	if result == nil {
		return strings.TrimSpace(f.got())
	}
	return inOneLine(Story(result, &f))
}

// shownBy returns the flag that selects the trial that shows a finding best, the number of the
// other trials and the directory of logs. For a finding of a search it returns the replay command.
func (c *Card) shownBy(f Finding) string {
	if f.found != nil {
		return "replay    " + f.found.Replay
	}
	text := "--only " + f.Shown[0].Name()
	if more := len(f.Shown) - 1; more > 0 {
		text += fmt.Sprintf("  (and %d more)", more)
	}
	if logs := f.Shown[0].Logs; logs != "" {
		text += "  logs " + logs
	}
	return text
}

// replay prints the command that shows one of the findings again.
func (p *page) replay(c *Card, found []Finding) {
	if c.Verbose {
		return
	}
	for _, f := range found {
		if f.Known || f.found != nil {
			continue
		}
		if command := c.replay(f.Shown[0].Trial); command != "" {
			fmt.Fprintf(p, "\n%s %s\n", p.paint(bold, "replay   "), command)
			return
		}
	}
}

// inFull prints a finding with all its details.
func (p *page) inFull(c *Card, f Finding) {
	p.title(f.Name, f.Harm)
	verdict := ""
	if f.Text != f.Name {
		verdict = headline(f.Text)
	}
	for _, row := range [][2]string{
		{"found", verdict}, {"story", p.storyOf(f)}, {"then", strings.Join(f.Then, "\n")}, {"shown by", namesOf(f.Shown)},
		{"expected", f.Failure.Expected}, {"got", short(f.got())}, {"hint", f.hint()}, {"also", f.likewise()}, {"lost", strings.Join(lost(f.Shown[0]), "\n")},
		{"with", strings.Join(f.choices(), "\n")},
		{"chance", f.chance()}, {"patience", f.overdue()}, {"replay", c.replayOf(f)}, {"logs", f.Shown[0].Logs}, {"spec", f.Failure.Spec},
	} {
		p.labelled(row[0], row[1])
	}
}

// labelled prints a text beside its label, unless it is empty. A command is not wrapped.
func (p *page) labelled(label, text string) {
	text = strings.TrimSpace(text)
	switch shown := p.paint(bold, pad(label, 9)); {
	case text == "":
	case label == "replay":
		fmt.Fprintf(p, "    %s %s\n", shown, text)
	default:
		p.text("    "+shown+" ", strings.Repeat(" ", 14), text)
	}
}

// notOffered counts the trials that do not apply to the driver, or lists them with their reasons.
func (p *page) notOffered(c *Card) {
	reasons := c.NotOffered()
	if c.Verbose {
		p.reasons("Not offered", reasons)
		return
	}
	n := 0
	for _, r := range reasons {
		n += len(r.Trials)
	}
	if n > 0 {
		fmt.Fprintf(p, "\n%s\n", p.paint(dim, fmt.Sprintf("Not offered by the driver: %s (--verbose lists them)", plural.Of(n, "trial"))))
	}
}

// gone prints the known findings that no longer occur.
func (p *page) gone(c *Card) {
	gone := c.Gone()
	if len(gone) == 0 {
		return
	}
	p.WriteString("\nGone: known, and not found any more\n")
	for _, k := range gone {
		fmt.Fprintf(p, "  %s\n", headline(k.Name))
	}
}

// shared prints that trials disturbed each other, and the consequences of this.
func (p *page) shared(c *Card) {
	if c.Shared != nil {
		fmt.Fprintf(p, "\n%s\n  %s\n  One ran at a time from then on, and %s repeated; --parallel 1 begins like that.\n", "Disturbed", c.Shared, repeated(c.Shared.Again))
	}
}

func repeated(n int) string {
	switch n {
	case 0:
		return "none had failed that had to be"
	case 1:
		return "one that had failed was"
	}
	return fmt.Sprintf("%d that had failed were", n)
}

// hash matches the part of a path that the kubelet makes from a volume's id.
var hash = lazyregexp.New(`([0-9a-f]{8})[0-9a-f]{56}`)

// short shortens long hashes in a text.
func short(text string) string { return hash().ReplaceAllString(text, "$1…") }

// longestHeadline is the greatest length of a verdict, which can quote the answer of a cloud.
const longestHeadline = 300

func headline(verdict string) string {
	runes := []rune(excerpt.Paths(short(verdict)))
	if len(runes) > longestHeadline {
		runes = append(runes[:longestHeadline-1:longestHeadline-1], '…')
	}
	return string(runes)
}

// maxGot is the highest number of printed lines of an observed state; the replay prints all.
const maxGot = 3

// got returns the observed state. For a program that does not start, it returns the end of the
// program's output.
func (f Finding) got() string {
	text, _, _ := strings.Cut(f.Failure.Got, "components and their waits:")
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, line := range lines {
		if strings.Contains(line, program.EndOfLog) {
			lines = append([]string{strings.TrimSpace(line)}, lines[max(i+1, len(lines)-maxGot+1):]...)
			break
		}
	}
	if len(lines) > maxGot {
		lines = append(lines[:maxGot:maxGot], "…")
	}
	return strings.Join(lines, "\n")
}

// lastWords returns the last line of a program that does not restart; empty if the program wrote
// none.
func (f Finding) lastWords() string {
	_, log, wrote := strings.Cut(f.Failure.Got, program.EndOfLog)
	lines := strings.Split(strings.TrimSpace(log), "\n")
	if f.Form != wire.DoesNotRestart || !wrote || len(lines) == 1 {
		return ""
	}
	return "log       " + headline(strings.TrimSpace(lines[len(lines)-1]))
}

// replayOf returns the command that shows a finding again.
func (c *Card) replayOf(f Finding) string {
	if f.found != nil {
		return f.found.Replay
	}
	return c.replay(f.Shown[0].Trial)
}

func (c *Card) replay(t *Trial) string {
	if c.Replay == nil {
		return ""
	}
	return c.Replay(t)
}

func namesOf(outcomes []Outcome) string {
	var names []string
	for _, o := range outcomes[:min(len(outcomes), maxNamed)] {
		names = append(names, o.Name())
	}
	text := strings.Join(names, ", ")
	if more := len(outcomes) - maxNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// reasons prints why trials were not run.
func (p *page) reasons(title string, reasons []Reason) {
	if len(reasons) == 0 {
		return
	}
	fmt.Fprintf(p, "\n%s\n", title)
	for _, r := range reasons {
		var names []string
		for _, t := range r.Trials {
			names = append(names, t.Name())
		}
		p.row("  ", 2, r.Why+":", utf8.RuneCountInString(r.Why)+2, plainWords(names), dim)
	}
}

// total prints the last line.
func (p *page) total(c *Card) {
	t := c.Totals()
	text := fmt.Sprintf("%s: %d passed, %d failed", c.Facts.Name, t.Passed, t.Failed)
	if t.Known > 0 {
		text += fmt.Sprintf(", %d with known findings", t.Known)
	}
	if t.NotTried > 0 {
		text += fmt.Sprintf(", %d not tried", t.NotTried)
	}
	color := green
	switch {
	case t.Failed > 0:
		color = red
	case t.NotTried > 0:
		color = bold
	}
	rest := fmt.Sprintf(" · %d driver calls · %s of cluster time in %s%s",
		t.Calls, trace.Span(t.ClusterTime), trace.Span(c.Took), scenario.OverdueInTotal(t.Overdue))
	line := excerpt.WrapFacts(text+rest, p.width)
	fmt.Fprintf(p, "\n%s%s\n", p.paint(color, text), strings.TrimPrefix(line, text))
}
