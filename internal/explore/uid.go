package explore

import "strings"

// uidShape is the form of a uid; x is a hexadecimal digit.
const uidShape = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"

// withoutUIDs returns the text with … for each uid.
func withoutUIDs(text string) string {
	return replaceUIDs(text, func(string) string { return "…" })
}

// replaceUIDs replaces each uid in the text. It is called for each fault at each call and write of
// a run. Therefore it avoids regular expressions.
func replaceUIDs(text string, by func(uid string) string) string {
	if strings.Count(text, "-") < strings.Count(uidShape, "-") {
		return text
	}
	var b strings.Builder
	kept := 0
	for i := 0; i+len(uidShape) <= len(text); i++ {
		if uid := text[i : i+len(uidShape)]; isUID(uid) {
			b.WriteString(text[kept:i] + by(uid))
			kept = i + len(uidShape)
			i = kept - 1
		}
	}
	if kept == 0 {
		return text
	}
	return b.String() + text[kept:]
}

func isUID(text string) bool {
	for i := range len(uidShape) {
		c := text[i]
		isDigit := '0' <= c && c <= '9' || 'a' <= c && c <= 'f'
		if (uidShape[i] == 'x') != isDigit || !isDigit && c != '-' {
			return false
		}
	}
	return true
}
