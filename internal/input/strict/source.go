package strict

import (
	"bytes"
	"reflect"
	"unicode/utf8"
)

// Source is YAML text with its position in a file, so that problems of a fragment refer to the
// file. For a whole file only File and Text are set.
type Source struct {
	File string
	Text []byte
	// Line and Column count the lines of the file before the text and the columns to the left of
	// its lines.
	Line, Column int
	// Fixed is for text in which lines are not lines of the file, such as a quoted string: all its
	// problems are at Line and Column, the position of the string.
	Fixed bool
	// Dialect is the meaning of plain words; nil is the dialect of scenarios.
	Dialect *Dialect
}

// Dialect is the meaning of plain words where YAML's versions and tools disagree. The zero value is
// that of scenarios: only true and false are booleans, and a key without a value is a mistake.
type Dialect struct {
	LooseBooleans bool // yes, no, on, off, y and n are booleans, too
	NullIsUnset   bool // a key without a value is ignored
	// Wants describes, by type, the values in a file for a type that decodes itself from JSON.
	Wants map[reflect.Type]string
}

// lines splits the text at its line ends.
func (s Source) lines() [][]byte {
	lines := bytes.Split(s.Text, []byte("\n"))
	if last := len(lines) - 1; last > 0 && len(lines[last]) == 0 {
		lines = lines[:last]
	}
	return lines
}

// place converts a position in the text to one in the file. The YAML parser also counts lone
// carriage returns and Unicode's line separators as line ends, editors do not: a position beyond
// the text is moved to its end.
func (s Source) place(lines [][]byte, line, column int) Position {
	if s.Fixed {
		return Position{Line: s.Line, Column: s.Column}
	}
	line = min(max(line, 1), len(lines))
	width := utf8.RuneCount(bytes.TrimSuffix(lines[line-1], []byte("\r")))
	column = min(max(column, 1), width+1)
	return Position{Line: s.Line + line, Column: s.Column + column}
}
