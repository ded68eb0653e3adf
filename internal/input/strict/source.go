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
	// Line is the number of the file's lines before the text, and Column the number of columns to
	// the left of its lines.
	Line, Column int
	// Fixed is for text without lines of the file, such as a quoted string. All its problems are at
	// Line and Column, the position of the string.
	Fixed bool
	// Dialect is the meaning of plain words; nil is the dialect of scenarios.
	Dialect *Dialect
}

// Dialect is the meaning of plain words where YAML's versions and tools disagree. The zero value is
// the dialect of scenarios: only true and false are booleans, and a key without a value is a
// mistake.
type Dialect struct {
	LooseBooleans bool // yes, no, on, off, y and n are booleans, too
	NullIsUnset   bool // a key without a value is ignored
	// Wants describes the values in a file for types that decode themselves from JSON, by type.
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

// place converts a position in the text to one in the file. Unlike editors, the YAML parser also
// treats lone carriage returns and Unicode's line separators as line ends. A position beyond the
// text is therefore moved to its end.
func (s Source) place(lines [][]byte, line, column int) Position {
	if s.Fixed {
		return Position{Line: s.Line, Column: s.Column}
	}
	line = min(max(line, 1), len(lines))
	width := utf8.RuneCount(bytes.TrimSuffix(lines[line-1], []byte("\r")))
	column = min(max(column, 1), width+1)
	return Position{Line: s.Line + line, Column: s.Column + column}
}
