// Package excerpt shortens text from other sources, because names and messages may have any length.
package excerpt

import "unicode/utf8"

// Line bounds the number of shown characters of a line.
const Line = 1000

// Name bounds the number of shown characters of a name among other words.
const Name = 200

// Of shortens a text with more than the given number of characters. It removes the middle, because
// names differ at their ends as often as at their beginnings.
func Of(text string, characters int) string {
	if len(text) <= characters || utf8.RuneCountInString(text) <= characters {
		return text
	}
	runes := []rune(text)
	tail := characters / 4
	return string(runes[:characters-tail-1]) + "…" + string(runes[len(runes)-tail:])
}
