package excerpt

import (
	"strings"
	"unicode/utf8"
)

// Wrap breaks the lines of a text between words. No row exceeds the given number of columns, unless
// it is a single word. With fewer than 20 columns, it breaks nothing.
func Wrap(text string, columns int) string {
	if columns < 20 {
		return text
	}
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		lines = append(lines, wrapped(line, columns)...)
	}
	return strings.Join(lines, "\n")
}

func wrapped(line string, columns int) (rows []string) {
	if utf8.RuneCountInString(line) <= columns {
		return []string{line}
	}
	row := ""
	for word := range strings.FieldsSeq(line) {
		if row != "" && utf8.RuneCountInString(row)+1+utf8.RuneCountInString(word) > columns {
			rows, row = append(rows, row), ""
		}
		row = strings.TrimLeft(row+" "+word, " ")
	}
	return append(rows, row)
}

// WrapFacts breaks a line of facts, such as "4 runs · 2 failed", only between two facts. No row
// exceeds the given number of columns, unless a fact is longer. Rows after the first are indented.
// With 0 columns, it breaks nothing.
func WrapFacts(line string, columns int) string {
	const between, indent = " · ", "  "
	gap := utf8.RuneCountInString(between)
	facts := strings.Split(line, between)
	text, at := facts[0], utf8.RuneCountInString(facts[0])
	for _, fact := range facts[1:] {
		length := utf8.RuneCountInString(fact)
		if columns > 0 && at+gap+length > columns {
			text, at = text+"\n"+indent+fact, len(indent)+length
			continue
		}
		text, at = text+between+fact, at+gap+length
	}
	return text
}
