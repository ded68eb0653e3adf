package construction

import (
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// habit is a pattern of sentences that have to be read twice. Its limits are the permitted
// occurrences in 1,000 lines of comments, documents and string literals.
type habit struct {
	name                   string
	pattern                *regexp.Regexp
	instead                string
	goal                   float64
	comment, document, str float64
}

// habits has the current limits, which may only fall, and the goals. CONTRIBUTING.md explains them.
var habits = []habit{
	{"what", regexp.MustCompile(`(?i)\bwhat\b(?:$|[^'’]|['’][^s])`), "name the thing", 5, 5, 5, 5},
	{"who", regexp.MustCompile(`(?i)\b(?:who|whose|whom|whoever)\b`), "name the component", 3, 3, 3, 3},
	{
		"nobody", regexp.MustCompile(`(?i)\b(?:nobody|somebody|anybody|everybody|no one|someone|anyone|everyone)\b`),
		"name the actor, or use the passive", 1, 1, 1, 1,
	},
	{
		"asked", regexp.MustCompile(`(?i)\b(?:is|are|was|were|be|been|being) (?:asked|told|heard|wanted)\b|` +
			`\b(?:hears?|heard|learns?|learned|knows?|knew) of\b`),
		"is called, receives, lists, observes", 1, 1, 1, 1,
	},
	{
		"so", regexp.MustCompile(`(?i)\b(?:is|are|was|were) so\b|\bthat is so\b|\bdoes so\b|\bso-many|how-manieth`),
		"say it again in full", 1, 1, 1, 1,
	},
	{"else", regexp.MustCompile(`(?i)\belse(?:[.;:,)]|$)|\bnil else\b`), "otherwise", 1, 1, 1, 1},
	{
		"takes away", regexp.MustCompile(`(?i)\b(?:takes?|took|taken|taking) (?:\w+ ){0,4}away\b|` +
			`\bgoes away\b|\bhas gone\b|\bis gone\b`),
		"removes, deletes, detaches, exits", 1, 1, 1, 1,
	},
	{
		"comes", regexp.MustCompile(`(?i)\b(?:comes?|came|coming) (?:again|about|of|by|from it)\b|\bnever comes?\b`),
		"is repeated, results from", 1, 1, 1, 1,
	},
	{"its doing", regexp.MustCompile(`(?i)\b(?:whose|its|their|his) (?:doing|deed)\b|\bdeeds?\b`), "cause, action", 1, 1, 1, 1},
}

// wide is the limit of comment lines of more than 100 columns, in 1,000: there are none.
const wide = 0

// exempt lists the files without a count of sentences, each with the reason.
var exempt = map[string]string{
	"docs/spec/":                          "quotes the sources of Kubernetes",
	"internal/view/web/dist/":             "is made by a bundler",
	"internal/construction/prose_test.go": "has the patterns",
}

// said is the prose of a line: a comment, a paragraph of a document, or a string literal.
type said struct {
	file  string
	line  int
	kind  string
	words string
	wide  bool
}

func TestSentencesNeedNoSecondReading(t *testing.T) {
	lines := map[string]int{}
	found := map[string][]said{}
	for _, s := range sayings(t) {
		lines[s.kind]++
		if s.wide {
			found["wide"] = append(found["wide"], s)
		}
		for _, h := range habits {
			if h.pattern.MatchString(s.words) {
				found[h.name+" "+s.kind] = append(found[h.name+" "+s.kind], s)
			}
		}
	}
	for _, h := range habits {
		for kind, limit := range map[string]float64{"comment": h.comment, "document": h.document, "string": h.str} {
			limited(t, h.name+" in "+kind+"s ("+h.instead+")", found[h.name+" "+kind], lines[kind], limit, h.goal)
		}
	}
	limited(t, "comments over 100 columns", found["wide"], lines["comment"], wide, 0)
}

// limited reports a habit that occurs too often, with its first lines.
func limited(t *testing.T, name string, found []said, lines int, limit, goal float64) {
	t.Helper()
	rate := 1000 * float64(len(found)) / math.Max(1, float64(lines))
	t.Logf("%-60s %6.1f in 1,000 lines, limit %4.0f, goal %2.0f", name, rate, limit, goal)
	if assert.LessOrEqual(t, rate, limit, name) {
		return
	}
	for _, s := range found[:min(len(found), 20)] {
		t.Logf("  %s:%d: %s", s.file, s.line, s.words)
	}
}

func sayings(t *testing.T) (all []said) {
	t.Helper()
	files := list(t, "*.go")
	require.Greater(t, len(files), 1000)
	files = append(append(append(files, list(t, "*.md")...), list(t, "*.ts")...), list(t, "*.tsx")...)
next:
	for _, file := range files {
		for prefix := range exempt {
			if strings.HasPrefix(file, prefix) || strings.HasSuffix(file, ".pb.go") {
				continue next
			}
		}
		text, err := os.ReadFile(filepath.Join("../..", file))
		require.NoError(t, err)
		read := inCode
		if strings.HasSuffix(file, ".md") {
			read = inDocument
		}
		for _, s := range read(strings.Split(string(text), "\n")) {
			s.file = file
			all = append(all, s)
		}
	}
	return all
}

var (
	comment  = regexp.MustCompile(`^\s*//\s?(.*)$`)
	trailing = regexp.MustCompile("[^:\"'`]//\\s(.*)$")
	literal  = regexp.MustCompile("\"((?:[^\"\\\\]|\\\\.)*)\"|`([^`]*)`")
	inTicks  = regexp.MustCompile("`[^`]*`")
)

// inCode finds comments and string literals of three words or more, in Go and TypeScript.
func inCode(lines []string) (all []said) {
	block := false
	for i, line := range lines {
		add := func(kind, words string) {
			tooWide := kind == "comment" && len([]rune(strings.ReplaceAll(line, "\t", "    "))) > 100
			all = append(all, said{line: i + 1, kind: kind, words: words, wide: tooWide})
		}
		text := strings.TrimSpace(line)
		if block || strings.HasPrefix(text, "/*") {
			add("comment", text)
			block = !strings.Contains(text, "*/")
			continue
		}
		if c := comment.FindStringSubmatch(line); c != nil {
			if !strings.HasPrefix(text, "//go:") && !strings.HasPrefix(text, "//nolint") {
				add("comment", c[1])
			}
			continue
		}
		if c := trailing.FindStringSubmatch(line); c != nil {
			add("comment", c[1])
		}
		for _, l := range literal.FindAllStringSubmatch(line, -1) {
			if words := l[1] + l[2]; len(strings.Fields(words)) >= 3 {
				add("string", words)
			}
		}
	}
	return all
}

// inDocument finds the lines of a document that are not code.
func inDocument(lines []string) (all []said) {
	fence := false
	for i, line := range lines {
		if strings.HasPrefix(strings.TrimLeft(line, " "), "```") {
			fence = !fence
			continue
		}
		if !fence && !strings.HasPrefix(line, "    ") && strings.TrimSpace(line) != "" {
			all = append(all, said{line: i + 1, kind: "document", words: inTicks.ReplaceAllString(line, "X")})
		}
	}
	return all
}
