package lines

import (
	"strconv"
	"strings"
)

// quoted returns the quoted text at the beginning of s and the rest; ok is false if there is none.
func quoted(s string) (text, rest string, ok bool) {
	if s == "" || s[0] != '"' {
		return "", s, false
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return unquoted(s[:i+1]), s[i+1:], true
		}
	}
	return "", s, false
}

// unquoted returns the text of a Go literal, or the text without its quotes if it is not a literal.
func unquoted(literal string) string {
	if strings.IndexByte(literal, '\\') < 0 {
		return literal[1 : len(literal)-1]
	}
	if text, err := strconv.Unquote(literal); err == nil {
		return text
	}
	return literal[1 : len(literal)-1]
}

// pairs parses key=value pairs. A value is quoted, in brackets, or ends at a space.
func pairs(s string) map[string]string {
	found := map[string]string{}
	for s = strings.TrimLeft(s, " "); s != ""; s = strings.TrimLeft(s, " ") {
		key, rest, ok := strings.Cut(s, "=")
		if space := strings.LastIndexByte(key, ' '); space >= 0 {
			key = key[space+1:] // words between pairs
		}
		if !ok {
			return found
		}
		found[key], s = value(rest)
	}
	return found
}

// value returns the value at the beginning of s, and the rest.
func value(s string) (text, rest string) {
	if text, rest, ok := quoted(s); ok {
		return text, rest
	}
	if strings.HasPrefix(s, "<\n") { // klog's form of a text with several lines
		if text, rest, ok := strings.Cut(s[2:], "\n >"); ok {
			return strings.TrimPrefix(text, "\t"), rest
		}
	}
	if s != "" && (s[0] == '{' || s[0] == '[') {
		if end := bracketed(s); end > 0 {
			return s[:end], s[end:]
		}
	}
	if end := strings.IndexByte(s, ' '); end >= 0 {
		return s[:end], s[end:]
	}
	return s, ""
}

// bracketed returns the length of the text in brackets at the beginning of s; 0 if the bracket is
// not closed.
func bracketed(s string) int {
	depth, inText := 0, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case inText && c == '\\':
			i++
		case c == '"':
			inText = !inText
		case inText:
		case c == '{' || c == '[':
			depth++
		case c == '}' || c == ']':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}
