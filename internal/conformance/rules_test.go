package conformance

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const ruleTable = root + "/docs/spec/rules.md"

func TestEveryRuleIsPinnedOrArgued(t *testing.T) {
	r := readRules(t)
	assert.Empty(t, strings.Join(r.mistakes(), "\n"))
	got := r.document()
	if *update {
		require.NoError(t, os.WriteFile(ruleTable, []byte(got), 0o644))
	}
	want, err := os.ReadFile(ruleTable)
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff(string(want), got), "go test ./internal/conformance -update rewrites it")
	t.Log(r.count())
}

func TestMistakesAboutRulesAreReported(t *testing.T) {
	r := rules{
		sections: []section{
			{"Attach", []string{"C-A-1", "C-A-2", "C-A-3", "C-A-4", "C-A-5", "C-A-6"}},
			{"Far off", []string{"A-B-1"}},
		},
		code:    citers{"C-A-1": {"a.go"}, "C-A-2": {"a.go", "b.go"}, "C-A-7": {"c.go"}, "A-B-1": {"d.go"}},
		pins:    citers{"C-A-1": {"TestA"}, "C-A-3": {"TestB"}, "C-A-5": {"TestC"}, "C-A-8": {"TestD"}},
		reasons: map[string]string{"C-A-3": "no use", "C-A-4": "needs a real clock", "C-A-9": "nothing", "A-*": "not served"},
		pending: []string{"C-A-10", "C-A-4", "C-A-5"},
	}
	assert.Equal(t, []string{
		"C-A-10: rules-pending.txt lists it: there is no such rule",
		"C-A-2: a.go, b.go: no test or scenario pins the cited rule, and rules-reasons.yaml has no reason",
		"C-A-3: TestB pins it: its reason in rules-reasons.yaml is out of date",
		"C-A-4: rules-reasons.yaml argues about it: rules-pending.txt need not list it",
		"C-A-5: TestC pins it: rules-pending.txt need not list it",
		"C-A-6: nothing cites it, and rules-reasons.yaml does not say why",
		"C-A-7: c.go: there is no such rule",
		"C-A-8: TestD: there is no such rule",
		"C-A-9: rules-reasons.yaml argues about it: there is no such rule",
	}, r.mistakes())
}

// rules are the numbered rules of behaviour with their citations.
type rules struct {
	sections []section
	code     citers // the files that cite a rule
	pins     citers // the tests and scenarios that cite it
	// By rule, or by the letter of a document ("A-*"): the reason why no test pins it.
	reasons map[string]string
	pending []string  // rules without a decision yet
	says    sentences // the specification's sentence about a rule, in short
}

type section struct {
	title string
	rules []string
}

// citers are the files or tests that cite a rule, in the order of the tree.
type citers map[string][]string

func (c citers) add(id, place string) {
	if !slices.Contains(c[id], place) {
		c[id] = append(c[id], place)
	}
}

// mistakes returns the rules without a test or a reason, and citations of rules that do not exist.
func (r rules) mistakes() (found []string) {
	known := map[string]bool{}
	for _, s := range r.sections {
		for _, id := range s.rules {
			known[id] = true
			if text := r.mistake(id); text != "" {
				found = append(found, id+": "+text)
			}
		}
	}
	unknown := func(id, where string) {
		if !known[id] && !strings.HasSuffix(id, "*") {
			found = append(found, id+": "+where+": there is no such rule")
		}
	}
	for id, files := range r.code { // any order: they are sorted below
		unknown(id, strings.Join(files, ", "))
	}
	for id, tests := range r.pins { // any order: they are sorted below
		unknown(id, strings.Join(tests, ", "))
	}
	for id := range r.reasons { // any order: they are sorted below
		unknown(id, "rules-reasons.yaml argues about it")
	}
	for _, id := range r.pending {
		unknown(id, "rules-pending.txt lists it")
	}
	slices.Sort(found)
	return found
}

// mistake describes a mistake about an existing rule.
func (r rules) mistake(id string) string {
	tests, pending := strings.Join(r.pins[id], ", "), slices.Contains(r.pending, id)
	switch {
	case tests != "" && r.reasons[id] != "":
		return tests + " pins it: its reason in rules-reasons.yaml is out of date"
	case tests != "" && pending:
		return tests + " pins it: rules-pending.txt need not list it"
	case pending && r.reasons[id] != "":
		return "rules-reasons.yaml argues about it: rules-pending.txt need not list it"
	case tests != "" || pending || r.reason(id) != "":
		return ""
	case r.code[id] != nil:
		return strings.Join(r.code[id], ", ") + ": no test or scenario pins the cited rule, and rules-reasons.yaml has no reason"
	}
	return "nothing cites it, and rules-reasons.yaml does not say why"
}

// reason returns the reason why no test pins a rule: the rule's own reason, or the reason of its
// document.
func (r rules) reason(id string) string {
	if why := r.reasons[id]; why != "" {
		return why
	}
	return r.reasons[id[:2]+"*"]
}

// document returns the table: section by section, where each rule is implemented and pinned. It has
// no totals, because two branches would conflict in them.
func (r rules) document() string {
	var text strings.Builder
	text.WriteString("# Rules\n\n" +
		"The numbered rules that code and tests cite: which files act on a rule, and which test or scenario fails if it is broken.\n" +
		"`make conformance` rewrites this page. K- are rules of the kubelet, C- of controllers and sidecars, L- of the\n" +
		"CSINodeInfo of Kubernetes 1.13, A- of CSI-Addons. [README.md](README.md) has them in full, with their sources.\n")
	for _, s := range r.sections {
		fmt.Fprintf(&text, "\n## %s\n\n| Rule | Says | Code | Pinned by |\n| --- | --- | --- | --- |\n", s.title)
		for _, id := range s.rules {
			fmt.Fprintf(&text, "| [%s](%s) | %s | %s | %s |\n", id, documents[id[0]], r.says.cell(id), strings.Join(r.code[id], ", "), r.pinned(id))
		}
	}
	return text.String()
}

func (r rules) pinned(id string) string {
	switch {
	case r.pins[id] != nil:
		return strings.Join(r.pins[id], ", ")
	case r.reason(id) != "":
		return "not pinned: " + r.reason(id)
	}
	return "not pinned yet"
}

func (r rules) count() string {
	all, pinned, argued := 0, 0, 0
	for _, s := range r.sections {
		for _, id := range s.rules {
			all++
			if r.pins[id] != nil {
				pinned++
			} else if r.reason(id) != "" {
				argued++
			}
		}
	}
	return fmt.Sprintf("of %d rules %d are pinned, %d are not, for the reasons given, %d are pending", all, pinned, argued, all-pinned-argued)
}
