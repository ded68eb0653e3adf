package excerpt

import "strings"

// longestWord bounds the printed characters of a word, because names and ids can have ten thousand.
const longestWord = 300

// Words returns a text without the middle of its longest words, line by line. A command that
// replays a run stays whole.
func Words(text string) string {
	if len(text) <= longestWord {
		return text
	}
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		if len(line) > longestWord && !strings.Contains(line, "replay ") {
			lines[i] = shortWords(line)
		}
	}
	return strings.Join(lines, "")
}

// shortWords shortens words, separated by blanks and the signs of JSON.
func shortWords(line string) string {
	var b strings.Builder
	for line != "" {
		end := strings.IndexAny(line, " \",{}[]\n")
		if end < 0 {
			end = len(line)
		}
		b.WriteString(Of(line[:end], longestWord))
		if end < len(line) {
			b.WriteByte(line[end])
			end++
		}
		line = line[end:]
	}
	return b.String()
}
