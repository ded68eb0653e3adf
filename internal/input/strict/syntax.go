package strict

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/csisim/csisim/internal/world/lazyregexp"
)

// syntaxRule rephrases a message of the YAML parser for a reader of the file.
type syntaxRule struct {
	complaint   string // part of the parser's message
	found, want string
	// spans means that the parser reports something unclosed far from the mistake, at the end of
	// the text.
	spans bool
	// column finds the mistake in its line, as a byte offset; nil for the first character that is
	// not a blank.
	column func(line, complaint string) int
}

var syntaxRules = []syntaxRule{
	{complaint: "cannot start any token", found: "a character that starts no value", want: "the value in quotes", column: badStart},
	{complaint: "tab character", found: "a tab in the indentation", want: "spaces, since YAML does not indent with tabs", column: firstTab},
	{complaint: "mapping values are not allowed", found: `": " where no key can stand`,
		want: "quotes around a value that contains it, or keys of one map in one column", column: lastColon},
	{complaint: "mapping keys are not allowed", found: "a key where none can stand", want: "each key on a line of its own"},
	{complaint: "block sequence entries are not allowed", found: "a list item where none can stand",
		want: "each item on a line of its own, below the list's key"},
	{complaint: "could not find expected ':'", found: "a line that is no key with a value", want: "key: value"},
	{complaint: "did not find expected key", found: "a line that is not indented like those around it",
		want: "all keys of one map in one column"},
	{complaint: "expected '-' indicator", found: "a line that is not indented like those around it",
		want: "all items of one list in one column, each with a - before it"},
	{complaint: "did not find expected ',' or ']'", found: "a list that is opened with [ and not closed", want: "a ] at its end",
		spans: true, column: last("[")},
	{complaint: "did not find expected ',' or '}'", found: "a map that is opened with { and not closed", want: "a } at its end",
		spans: true, column: last("{")},
	{complaint: "unexpected end of stream", found: "a quoted string that is not closed", want: "a quote at its end",
		spans: true, column: firstQuote},
	{complaint: "unknown escape character", found: `an unknown \ escape in a double-quoted string`,
		want: `single quotes, in which \ is a plain character`, column: first(`\`)},
	{complaint: "unknown anchor", found: "an alias of an unknown anchor", want: "a value marked with & and that name, above the alias",
		column: unknownAlias},
	{complaint: "alphabetic or numeric character", found: "* or & without a name",
		want: "quotes around a value that starts with * or &", column: firstOf("*&")},
	{complaint: "control characters", found: "a control character", want: `text without it, or a \x escape in double quotes`,
		column: controlCharacter},
	{complaint: "expected <document start>", found: "text after the end of the document", want: "--- before a further document"},
	{complaint: "expected node content", found: "no value where one must stand, or a list or map that is not closed",
		want: "a value, or the ] or } at its end", spans: true, column: lastOf("[{")},
}

var lineInMessage = lazyregexp.New(`^yaml: (?:line (\d+): )?`)

// syntaxProblem finds the position of a parser's message and rephrases it.
func (s Source) syntaxProblem(err error) Problem {
	complaint := lineInMessage().ReplaceAllString(err.Error(), "")
	rule := syntaxRule{found: "text that cannot be parsed: " + strconv.Quote(complaint), want: "valid YAML"}
	for _, known := range syntaxRules {
		if strings.Contains(complaint, known.complaint) {
			rule = known
			break
		}
	}
	number := s.brokenLine(err, rule.spans)
	line := string(s.lines()[number-1])
	if strings.HasPrefix(strings.TrimLeft(line, " "), "\t") {
		rule = syntaxRules[1]
	}
	offset := len(line) - len(strings.TrimLeft(line, " \t"))
	if rule.column != nil {
		offset = max(offset, rule.column(line, complaint))
	}
	return s.problem(number, utf8.RuneCountInString(line[:offset])+1, "malformed YAML: "+rule.found, rule.want)
}

// searchBudget limits the bytes that are parsed again to find a broken line.
const searchBudget = 4 << 20

// brokenLine finds the line of a mistake. The parser's own line may be missing. Otherwise it is the
// line of the construct around the mistake, or of the place where the parser gave up. Therefore it
// parses shorter and shorter prefixes of the text. The mistake is in the last line that the error
// needs.
func (s Source) brokenLine(complaint error, spans bool) int {
	lines := s.lines()
	want := lineInMessage().ReplaceAllString(complaint.Error(), "")
	size := len(s.Text)
	budget := searchBudget
	for n := len(lines) - 1; n > 0; n-- {
		size -= len(lines[n]) + 1
		if budget -= size; budget < 0 {
			return min(max(reportedLine(complaint), 1), len(lines))
		}
		_, err := parseAll(bytes.Join(lines[:n], []byte("\n")))
		broken := err != nil
		if !spans {
			broken = broken && lineInMessage().ReplaceAllString(err.Error(), "") == want
		}
		if !broken {
			return n + 1
		}
	}
	return 1
}

func reportedLine(err error) int {
	match := lineInMessage().FindStringSubmatch(err.Error())
	if len(match) < 2 {
		return 0
	}
	line, _ := strconv.Atoi(match[1]) // an empty match is line 0
	return line
}

func (s Source) encodingProblem(at int) Problem {
	before := s.Text[:at]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return s.problem(line, column, fmt.Sprintf("malformed YAML: byte 0x%02x, which is not UTF-8", s.Text[at]), "text in UTF-8")
}

func (s Source) problem(line, column int, found, want string) Problem {
	at := s.place(s.lines(), line, column)
	return Problem{File: s.File, Line: at.Line, Column: at.Column, Found: found, Want: want}
}

func invalidUTF8(text []byte) int {
	for at := 0; at < len(text); {
		r, width := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && width == 1 {
			return at
		}
		at += width
	}
	return -1
}
