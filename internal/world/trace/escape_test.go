package trace_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/internal/world/trace"
)

// Text of a driver cannot control a terminal; colours of reports can.
func TestControlCharactersAreEscaped(t *testing.T) {
	for text, want := range map[string]string{
		"plain ✓ text\n\tindented":        "plain ✓ text\n\tindented",
		trace.Paint("32", "PASS"):         "\x1b[32mPASS\x1b[0m",
		"\x1b[32mPASS\x1b[0m":             `\x1b[32mPASS\x1b[0m`,
		"no\n  ::error::x\nC::D":          "no\n  :\\x3aerror::x\nC::D",
		"at ##[error]x":                   `at #\x23[error]x`,
		"\x1b]0;title\a":                  `\x1b]0;title\x07`,
		"\x1b[2J\x1b[1;1Hall is well":     `\x1b[2J\x1b[1;1Hall is well`,
		"failed\rpassed":                  `failed\x0dpassed`,
		"\u009b31m":                       `\x9b31m`,
		"abc\u202etxt.exe":                `abc\x202etxt.exe`,
		"not UTF-8: \xff, \x00, \b, \x7f": "not UTF-8: \xff, \\x00, \\x08, \\x7f",
	} {
		assert.Equal(t, want, trace.Escaped(text))
	}
}
