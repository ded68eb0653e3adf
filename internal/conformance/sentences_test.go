package conformance

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const specification = root + "/docs/spec"

// documents are the pages with the rules, by the letter that begins their numbers.
var documents = map[byte]string{'K': "kubelet.md", 'C': "controllers.md", 'A': "csi-addons.md", 'L': "legacy-csinodeinfo.md"}

func TestTheSentenceOfARuleIsFound(t *testing.T) {
	assert.Equal(t, sentences{
		"K-A-1": "Sockets are found by name [PW watch]",
		"K-A-2": "A table follows",
		"C-B-1": "In `a.b`, two lines e.g. of it",
	}, sentencesIn("**K-A-1** Sockets are found\n  by name [PW watch]. More of it.\n\n**K-A-2** A table follows:\n\n| a | b |\n- **C-B-1** In `a.b`, two lines e.g.\n  of it\n- other\n"))
}

// Every listed rule has a sentence, and every sentence is listed.
func TestEveryRuleHasASentence(t *testing.T) {
	all := readSentences(t)
	listed := map[string]bool{}
	for _, s := range readSections(t) {
		for _, id := range s.rules {
			listed[id] = true
			assert.NotEmpty(t, all[id], "%s: docs/spec/%s does not have it", id, documents[id[0]])
		}
	}
	for id := range all { // any order: they are independent
		assert.True(t, listed[id], "%s: testdata/rules.txt does not list it", id)
	}
}

// sentences are the first sentences of rules, by their numbers.
type sentences map[string]string

func readSentences(t *testing.T) sentences {
	all := sentences{}
	for _, document := range documents { // any order: numbers are of one document
		text, err := os.ReadFile(filepath.Join(specification, document))
		require.NoError(t, err)
		for id, sentence := range sentencesIn(string(text)) { // any order: they are independent
			all[id] = sentence
		}
	}
	return all
}

var (
	ruleBegins  = regexp.MustCompile(`^(?:[-*] )?\*\*([ACKL]-[A-Z]+-\d+)\*\*:?\s*(.*)$`)
	ruleEnds    = regexp.MustCompile(`^(\s*$|\s*[-*] |\s*\||#|` + "```" + `|\d+\. )`)
	sentenceEnd = regexp.MustCompile(`[.:;] (?:[A-Z\x60(*]|$)|[.:;]$`)
)

func sentencesIn(text string) sentences {
	found := sentences{}
	id := ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\n")
		begins := ruleBegins.FindStringSubmatch(line)
		switch {
		case begins != nil:
			id = begins[1]
			found[id] = begins[2]
		case ruleEnds.MatchString(line):
			id = ""
		case id != "":
			found[id] += " " + strings.TrimSpace(line)
		}
	}
	for id, paragraph := range found { // any order: they are independent
		found[id] = firstSentence(paragraph)
	}
	return found
}

func firstSentence(paragraph string) string {
	if end := sentenceEnd.FindStringIndex(paragraph); end != nil {
		return paragraph[:end[0]]
	}
	return paragraph
}

// cell returns a sentence in its form in a table.
func (s sentences) cell(id string) string { return strings.ReplaceAll(s[id], "|", `\|`) }
