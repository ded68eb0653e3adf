package strict

import (
	"strings"
	"unicode"

	"github.com/csisim/csisim/internal/world/lazyregexp"
)

// These functions find the character in a line to which a parser's message refers, as a byte
// offset; -1 if there is none.

func first(text string) func(string, string) int {
	return func(line, _ string) int { return strings.Index(line, text) }
}

func last(text string) func(string, string) int {
	return func(line, _ string) int { return strings.LastIndex(line, text) }
}

func firstOf(characters string) func(string, string) int {
	return func(line, _ string) int { return strings.IndexAny(line, characters) }
}

func lastOf(characters string) func(string, string) int {
	return func(line, _ string) int { return strings.LastIndexAny(line, characters) }
}

func firstTab(line, _ string) int { return strings.IndexByte(line, '\t') }

func firstQuote(line, _ string) int { return strings.IndexAny(line, `"'`) }

// startOfValue matches the beginning of a value: the start of the line, or behind a dash, a colon,
// a bracket or a comma.
var startOfValue = lazyregexp.New("(?:^|[-:\\[{,])\\s*([@`%|>])")

func badStart(line, _ string) int {
	match := startOfValue().FindStringSubmatchIndex(line)
	if match == nil {
		return -1
	}
	return match[2]
}

// lastColon returns the last colon that could end a key.
func lastColon(line, _ string) int {
	line = strings.TrimRight(line, "\r")
	if strings.HasSuffix(line, ":") {
		return len(line) - 1
	}
	return strings.LastIndex(line, ": ")
}

var quotedName = lazyregexp.New(`'([^']*)'`)

func unknownAlias(line, complaint string) int {
	match := quotedName().FindStringSubmatch(complaint)
	if match == nil {
		return -1
	}
	return strings.Index(line, "*"+match[1])
}

func controlCharacter(line, _ string) int {
	return strings.IndexFunc(strings.TrimRight(line, "\r"), func(r rune) bool { return unicode.IsControl(r) && r != '\t' })
}
