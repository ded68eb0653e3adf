package strict

import "unicode/utf8"

// maxTold is how many characters of a name, or of what was found, a message shows.
const maxTold = 200

// Shorten cuts the middle out of a text of more than so many characters: what makes names
// differ stands at their end as often as at their beginning.
func Shorten(text string, characters int) string {
	if len(text) <= characters || utf8.RuneCountInString(text) <= characters {
		return text
	}
	runes := []rune(text)
	tail := characters / 4
	return string(runes[:characters-tail-1]) + "…" + string(runes[len(runes)-tail:])
}
