package strict

import (
	"bytes"
	"reflect"
	"unicode/utf8"
)

// Source is YAML text and the place it was taken from, so that what is said of a fragment points into the
// file that holds it. For a whole file only File and Text are set.
type Source struct {
	File string
	Text []byte
	// Line and Column count what stands in the file before the text: the lines above it and the columns to
	// the left of each of its lines.
	Line, Column int
	// Fixed is for text whose lines are not lines of the file, such as a quoted string: everything said of
	// it points at Line and Column, which then are the string's own place.
	Fixed bool
	// Dialect says how plain words are read; nil is the scenario language's.
	Dialect *Dialect
}

// Dialect says what plain words mean where YAML's versions and tools disagree. The zero value is the
// scenario language: only true and false are booleans, and a key without a value is a mistake.
type Dialect struct {
	LooseBooleans bool // yes, no, on, off, y and n are booleans, too
	NullIsUnset   bool // a key without a value counts as left out
	// Wants describes, by type, what a file must hold for a type that decodes itself from JSON.
	Wants map[reflect.Type]string
}

// lines cuts the text at its line ends.
func (s Source) lines() [][]byte {
	lines := bytes.Split(s.Text, []byte("\n"))
	if last := len(lines) - 1; last > 0 && len(lines[last]) == 0 {
		lines = lines[:last]
	}
	return lines
}

// place turns a position in the text into one in the file. The YAML parser also counts lone carriage
// returns and Unicode's line separators as line ends, editors do not: what points beyond the text is
// brought back to its end.
func (s Source) place(lines [][]byte, line, column int) Position {
	if s.Fixed {
		return Position{Line: s.Line, Column: s.Column}
	}
	line = min(max(line, 1), len(lines))
	width := utf8.RuneCount(bytes.TrimSuffix(lines[line-1], []byte("\r")))
	column = min(max(column, 1), width+1)
	return Position{Line: s.Line + line, Column: s.Column + column}
}
