package trace

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// The columns of a timeline.
const (
	laneWidth     = 26 // service account controller
	storyLane     = 15 // csi-provisioner
	sentenceWidth = 60 // outcomes are aligned after it
	narrow        = 24 // on a terminal with less room, sentences are not wrapped
)

// tone is the emphasis of a line.
type tone int

const (
	plain tone = iota
	quiet
	strong
	warning
	failure
)

// escapes are the colours of the tones.
var escapes = map[tone]string{quiet: "2", strong: "1", warning: "33", failure: "1;31"}

func (o TimelineOptions) paint(escape, text string) string {
	if !o.Color || escape == "" || text == "" {
		return text
	}
	return Paint(escape, text)
}

// longestOfStory bounds the description of an event and its outcome in a story.
const longestOfStory = 120

// ending cuts the end of a long text off.
func ending(text string) string {
	if runes := []rune(text); len(runes) > longestOfStory {
		return string(runes[:longestOfStory-1]) + "…"
	}
	return text
}

// line lays out one event. If it is too long, it is wrapped below its own sentence.
func (o TimelineOptions) line(number int, at time.Duration, shown entry) string {
	if o.Story != nil {
		head := fmt.Sprintf("%s%9s  %s  ", o.Indent, seconds(at), o.paint(laneEscape(shown.lane), fit(shown.lane, storyLane)))
		return head + o.sentence(shown, len(o.Indent)+9+2+storyLane+2) + "\n"
	}
	lane := fit(shown.lane, laneWidth)
	head := fmt.Sprintf("%s%s %10s  %s  ", o.Indent, o.paint(escapes[quiet], fmt.Sprintf("%4d", number)), seconds(at),
		o.paint(laneEscape(shown.lane), lane))
	indent := len(o.Indent) + 4 + 1 + 10 + 2 + laneWidth + 2
	return head + o.sentence(shown, indent) + "\n"
}

// sentence returns the description of the event, its result and its cause.
func (o TimelineOptions) sentence(shown entry, indent int) string {
	tail := width(shown.outcome)
	if shown.because != "" {
		tail += 2 + width(shown.because)
	}
	column := sentenceWidth
	if room := o.Width - indent; o.Width > 0 && room >= narrow {
		if width(shown.text)+2+tail > room {
			return o.wrapped(shown, indent, room)
		}
		column = min(column, room-tail)
	}
	text := o.paint(escapes[shown.tone], shown.text)
	if shown.outcome != "" {
		text += strings.Repeat(" ", max(2, column-width(shown.text)))
		text += o.paint(escapes[max(shown.tone, shown.ended)], shown.outcome)
	}
	if shown.because != "" {
		text += "  " + o.paint(escapes[quiet], shown.because)
	}
	return text
}

func width(text string) int { return utf8.RuneCountInString(text) }

// wrapped breaks a sentence between words into lines of at most room columns.
func (o TimelineOptions) wrapped(shown entry, indent, room int) string {
	var rows []string
	row := ""
	for word := range strings.FieldsSeq(shown.text + " " + shown.outcome + " " + shown.because) {
		switch {
		case row == "":
			row = word
		case width(row)+1+width(word) > room:
			rows = append(rows, row)
			row = "  " + word
		default:
			row += " " + word
		}
	}
	rows = append(rows, row)
	escape := escapes[max(shown.tone, shown.ended)]
	for i := range rows {
		rows[i] = o.paint(escape, rows[i])
	}
	return strings.Join(rows, "\n"+strings.Repeat(" ", indent))
}

func (o TimelineOptions) gapLine(passed time.Duration) string {
	if o.Story != nil {
		return fmt.Sprintf("%s%s\n", o.Indent, o.paint(escapes[quiet], fmt.Sprintf("%9s", "… "+Span(passed)+" …")))
	}
	return fmt.Sprintf("%s     %s\n", o.Indent, o.paint(escapes[quiet], fmt.Sprintf("%10s", "… "+Span(passed)+" …")))
}

// legend explains the columns and signs of a timeline.
func (o TimelineOptions) legend() string {
	text := fmt.Sprintf("%s%4s %10s  %s  %s", o.Indent, "line", "time", fit("actor", laneWidth),
		"event (→ driver call, ⇄ registration call, = its answer, ✗ failure, ⟵ #7: because of line 7)")
	return o.paint(escapes[quiet], text) + "\n"
}

// before counts the events before the first line.
func (o TimelineOptions) before(events int) string {
	if events == 0 {
		return ""
	}
	text := fmt.Sprintf("%s     %10s  the cluster comes up: %d events (-vv shows them)", o.Indent, "…", events)
	return o.paint(escapes[quiet], text) + "\n"
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3fs", d.Seconds()) }

// Span formats a duration for people: "9.9 s", "6 min", "1 h 5 min".
func Span(d time.Duration) string {
	switch {
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d.Round(100*time.Millisecond) < time.Minute:
		return strings.TrimSuffix(fmt.Sprintf("%.1f", d.Seconds()), ".0") + " s"
	case d < time.Hour:
		return withRest(d, time.Minute, "min", time.Second, "s")
	default:
		return withRest(d, time.Hour, "h", time.Minute, "min")
	}
}

func withRest(d, unit time.Duration, name string, smaller time.Duration, smallerName string) string {
	d = d.Round(smaller)
	text := fmt.Sprintf("%d %s", d/unit, name)
	if rest := d % unit / smaller; rest > 0 {
		text += fmt.Sprintf(" %d %s", rest, smallerName)
	}
	return text
}

// fit pads or cuts text to a number of columns.
func fit(text string, columns int) string {
	n := width(text)
	if n <= columns {
		return text + strings.Repeat(" ", columns-n)
	}
	return string([]rune(text)[:columns-1]) + "…"
}
