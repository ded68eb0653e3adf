package trace

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ours are the sequences that reports and timelines themselves write to a terminal.
var ours = regexp.MustCompile("^(\x1b\\[[0-9;]*m|\r?\x1b\\[K)")

// Escaped is a text for a terminal. What drivers and programs say may hold control characters
// that move the cursor, hide text or rename windows: they are shown as Go writes them, but for
// line ends, tabs and the colours of reports.
func Escaped(text string) string {
	if !strings.ContainsFunc(text, isControl) {
		return text
	}
	var b strings.Builder
	for at := 0; at < len(text); {
		if sequence := ours.FindString(text[at:]); sequence != "" {
			b.WriteString(sequence)
			at += len(sequence)
			continue
		}
		letter, size := utf8.DecodeRuneInString(text[at:])
		if isControl(letter) {
			fmt.Fprintf(&b, "\\x%02x", letter)
		} else {
			b.WriteString(text[at : at+size])
		}
		at += size
	}
	return b.String()
}

// isControl reports whether a terminal acts on a letter. Marks that turn the direction of text
// are among them.
func isControl(letter rune) bool {
	return letter != '\n' && letter != '\t' && (unicode.IsControl(letter) || unicode.Is(unicode.Bidi_Control, letter))
}
