package trace

import (
	"crypto/rand"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/csisim/csisim/internal/world/lazyregexp"
)

// mark starts the colours of reports until their text is escaped. It is random, so that no driver's
// text contains it.
var mark = "\x1b<" + rand.Text() + ">"

// painted matches the rest of a colour after the mark.
var painted = lazyregexp.New("^[0-9;]*m")

// Paint colours a text with the parameters of an ANSI sequence. The result must pass through
// Escaped.
func Paint(color, text string) string { return mark + color + "m" + text + mark + "0m" }

// Escaped returns a text for a terminal or a log. Text from drivers and programs may contain
// control characters that move the cursor, hide text or rename windows. These are written in Go's
// notation, except line ends and tabs. Lines that the runner of a GitHub workflow would execute as
// commands are changed to prevent that. Colours of Paint are kept.
func Escaped(text string) string { return withoutCommands(Visible(text)) }

// Visible is Escaped for a text with workflow commands of csisim itself.
func Visible(text string) string { return visible(text, isControl) }

// OneLine also escapes line ends and tabs.
func OneLine(text string) string {
	return visible(text, func(letter rune) bool { return isControl(letter) || letter == '\n' || letter == '\t' })
}

func visible(text string, hidden func(rune) bool) string {
	if !strings.ContainsFunc(text, hidden) {
		return text
	}
	var b strings.Builder
	for at := 0; at < len(text); {
		if rest, is := strings.CutPrefix(text[at:], mark); is {
			color := painted().FindString(rest)
			b.WriteString("\x1b[" + color)
			at += len(mark) + len(color)
			continue
		}
		letter, size := utf8.DecodeRuneInString(text[at:])
		if hidden(letter) {
			fmt.Fprintf(&b, "\\x%02x", letter)
		} else {
			b.WriteString(text[at : at+size])
		}
		at += size
	}
	return b.String()
}

// isControl reports whether a terminal interprets a character. Marks that change the direction of
// text are among them.
func isControl(letter rune) bool {
	return letter != '\n' && letter != '\t' && (unicode.IsControl(letter) || unicode.Is(unicode.Bidi_Control, letter))
}

// commands matches the two forms of commands to the runner of a GitHub workflow: at the beginning
// of a line, and anywhere.
var commands = lazyregexp.New(`(?m)^(\s*):(:)|##(\[)`)

func withoutCommands(text string) string {
	if !strings.Contains(text, "::") && !strings.Contains(text, "##[") {
		return text
	}
	return commands().ReplaceAllStringFunc(text, func(found string) string {
		if strings.HasSuffix(found, "[") {
			return `#\x23[`
		}
		return strings.TrimSuffix(found, "::") + `:\x3a`
	})
}
