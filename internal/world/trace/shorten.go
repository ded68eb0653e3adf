package trace

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	// longestText limits the bytes of a driver's text in a trace, because the CSI spec permits 4
	// KiB in a map.
	longestText = 4 << 10
	// mostEntries limits the entries of a list or a map in a line.
	mostEntries = 1000
)

// Shortened returns the beginning of a very long text.
func Shortened(text string) string {
	if len(text) <= longestText {
		return text
	}
	end := longestText
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return fmt.Sprintf("%s… (%d bytes)", strings.TrimRight(text[:end], "\n"), len(text))
}

// shortenFields shortens the texts, lists and maps in the fields of a message, in place.
func shortenFields(fields map[string]any) map[string]any {
	for name, value := range fields {
		fields[name] = shortenValue(value)
	}
	return cutMap(fields)
}

func shortenValue(value any) any {
	switch v := value.(type) {
	case string:
		return Shortened(v)
	case map[string]any:
		return shortenFields(v)
	case []any:
		for i := range v {
			v[i] = shortenValue(v[i])
		}
		if len(v) > mostEntries {
			return append(v[:mostEntries:mostEntries], more(len(v)))
		}
	}
	return value
}

// cutMap returns the first keys of a map that has very many.
func cutMap(all map[string]any) map[string]any {
	if len(all) <= mostEntries {
		return all
	}
	few := map[string]any{"…": more(len(all))}
	for _, key := range sortedKeys(all)[:mostEntries] {
		few[key] = all[key]
	}
	return few
}

func more(entries int) string { return fmt.Sprintf("%d more", entries-mostEntries) }
