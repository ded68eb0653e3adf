package excerpt

import (
	"strings"
	"unicode/utf8"
)

// Wrap breaks the lines of a text between words, so that none has more than so many columns unless
// it is a single word. 0 columns, or fewer than 20, break nothing.
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
