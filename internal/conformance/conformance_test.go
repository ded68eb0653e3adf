package conformance

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

var (
	update  = flag.Bool("update", false, "rewrite docs/spec/conformance.md")
	results = flag.String("results", "", "the output of go test -json of the tests that are cited")
)

const (
	root  = "../.."
	table = root + "/docs/spec/conformance.md"
)

// pinned is a test that names the cases that it pins.
type pinned struct {
	folder, test string
	cases        []string
}

func (p pinned) String() string { return p.folder + " " + p.test }

func TestTheTableListsPinnedRules(t *testing.T) {
	areas := readCases(t)
	tests := citations(t)
	where := map[string][]pinned{}
	for _, p := range tests {
		for _, id := range p.cases {
			assert.True(t, slices.ContainsFunc(areas, func(a area) bool { return slices.Contains(a.cases, id) }), "%s cites %s: there is no such case", p, id)
			where[id] = append(where[id], p)
		}
	}
	why := reasons(t)
	for id := range why { // any order
		assert.True(t, slices.ContainsFunc(areas, func(a area) bool { return slices.Contains(a.cases, id) }), "reasons.yaml: %s: there is no such case", id)
		assert.Empty(t, where[id], "reasons.yaml: %s is pinned: its reason is out of date", id)
	}
	got := document(areas, where, why)
	if *update {
		require.NoError(t, os.WriteFile(table, []byte(got), 0o644))
	}
	want, err := os.ReadFile(table)
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff(string(want), got), "make conformance rewrites it")
	if *results != "" {
		report(t, areas, where, outcomes(t))
	}
}

type area struct {
	name  string
	cases []string
}

// readCases keeps the order of the file.
func readCases(t *testing.T) (areas []area) {
	text, err := os.ReadFile("testdata/cases.yaml")
	require.NoError(t, err)
	var document yaml.Node
	require.NoError(t, yaml.Unmarshal(text, &document))
	content := document.Content[0].Content
	for i := 0; i < len(content); i += 2 {
		a := area{name: content[i].Value}
		require.NoError(t, content[i+1].Decode(&a.cases))
		areas = append(areas, a)
	}
	return areas
}

// reasons are, by case, the reasons why no test pins it.
func reasons(t *testing.T) (why map[string]string) {
	text, err := os.ReadFile("testdata/reasons.yaml")
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, &why))
	return why
}

// citations returns the tests and scenarios of the module that cite cases.
func citations(t *testing.T) (found []pinned) {
	err := filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if test, ok := scenarioTests[filepath.Base(filepath.Dir(file))]; ok && err == nil && strings.HasSuffix(file, ".yaml") {
			text, err := os.ReadFile(file)
			found = append(found, pinned{"scenarios", test + "/" + strings.TrimSuffix(entry.Name(), ".yaml"), idsIn(comments(string(text)))})
			return err
		}
		if err != nil || entry.IsDir() || !strings.HasSuffix(file, "_test.go") {
			return err
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(file))
		for _, declaration := range parsed.Decls {
			f, ok := declaration.(*ast.FuncDecl)
			if !ok || !strings.HasPrefix(f.Name.Name, "Test") {
				continue
			}
			if cases := cited(parsed, f); len(cases) > 0 {
				found = append(found, pinned{filepath.ToSlash(folder), f.Name.Name, cases})
			}
		}
		return err
	})
	require.NoError(t, err)
	return found
}

// scenarioTests run the scenarios of a folder.
var scenarioTests = map[string]string{
	"facts":       "TestFacts",
	"programs":    "TestScenariosWithDriverProgramsReallyMount",
	"scenarios":   "TestEveryScenarioPassesWithItsGoldenCallSequence",
	"conformance": "TestConformance",
	"golden":      "TestSimulatedRunsEqualTheRecordings",
	"csi-addons":  "TestCSIAddons",
	"pods":        "TestPods",
	"workloads":   "TestWorkloads",
	"history":     "TestHistory",
}

// comments returns the text behind the hashes at the top of a scenario.
func comments(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		comment, is := strings.CutPrefix(line, "#")
		if !is {
			break
		}
		lines = append(lines, comment)
	}
	return strings.Join(lines, "")
}

// cited returns the cases that are named in the comments above or inside a test.
func cited(file *ast.File, f *ast.FuncDecl) (cases []string) {
	begin := f.Pos()
	if f.Doc != nil {
		begin = f.Doc.Pos()
	}
	for _, comment := range file.Comments {
		if comment.Pos() >= begin && comment.End() <= f.End() {
			cases = append(cases, idsIn(comment.Text())...)
		}
	}
	return cases
}

// idsIn reads "conformance: a, b," with its continuation lines, even after a sentence.
func idsIn(comment string) (ids []string) {
	going := false
	for line := range strings.Lines(comment) {
		line = strings.TrimSpace(line)
		_, rest, begins := strings.Cut(line, "conformance:")
		switch {
		case !begins && !going:
			continue
		case !begins:
			rest = line
		}
		for id := range strings.SplitSeq(rest, ",") {
			if words := strings.Fields(id); len(words) > 0 { // a remark may follow
				ids = append(ids, words[0])
			}
		}
		going = strings.HasSuffix(line, ",") || strings.HasSuffix(line, "conformance:")
	}
	return ids
}

// document returns the table: area by area, where each case is pinned.
func document(areas []area, where map[string][]pinned, why map[string]string) string {
	var text strings.Builder
	text.WriteString("# Conformance\n\nWhich cases of Kubernetes' own suites are pinned by which test, which do not apply, for the reason that is given,\n" +
		"and which are missing. `make conformance` runs the tests and rewrites this page.\n\n" +
		"| Area | Cases | Pinned | Do not apply | Missing |\n| --- | ---: | ---: | ---: | ---: |\n")
	var all count
	var tables strings.Builder
	for _, a := range areas {
		var here count
		var rows strings.Builder
		for _, id := range a.cases {
			here.add(len(where[id]) > 0, why[id] != "")
			fmt.Fprintf(&rows, "| %s | %s |\n", id, places(where[id], why[id]))
		}
		all = count{all.pinned + here.pinned, all.argued + here.argued, all.missing + here.missing}
		fmt.Fprintf(&text, "| [%s](#%s) | %s |\n", a.name, a.name, here)
		fmt.Fprintf(&tables, "\n## %s\n\n| Case | Pinned by |\n| --- | --- |\n%s", a.name, rows.String())
	}
	fmt.Fprintf(&text, "| **in all** | %s |\n%s", all, tables.String())
	return text.String()
}

// count holds the numbers of pinned, argued and missing cases.
type count struct{ pinned, argued, missing int }

func (c *count) add(pinned, argued bool) {
	switch {
	case pinned:
		c.pinned++
	case argued:
		c.argued++
	default:
		c.missing++
	}
}

func (c count) String() string {
	return fmt.Sprintf("%d | %d | %d | %d", c.pinned+c.argued+c.missing, c.pinned, c.argued, c.missing)
}

func places(tests []pinned, why string) string {
	if len(tests) == 0 && why != "" {
		return "does not apply: " + why
	}
	var texts []string
	for _, p := range tests {
		texts = append(texts, "`"+p.test+"` in "+p.folder)
	}
	if texts == nil {
		return "not tested"
	}
	return strings.Join(texts, ", ")
}

// outcomes returns the outcomes of the tests, by folder and name.
func outcomes(t *testing.T) map[string]string {
	file, err := os.Open(*results)
	require.NoError(t, err)
	defer file.Close()
	ended := map[string]string{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var event struct{ Action, Package, Test string }
		if json.Unmarshal(lines.Bytes(), &event) != nil || event.Test == "" {
			continue
		}
		folder, _ := strings.CutPrefix(event.Package, "github.com/csisim/csisim/")
		if slices.Contains([]string{"pass", "fail", "skip"}, event.Action) {
			ended[path.Join(folder)+" "+event.Test] = event.Action
		}
	}
	require.NoError(t, lines.Err())
	return ended
}

// report fails for each cited test that did not pass.
func report(t *testing.T, areas []area, where map[string][]pinned, ended map[string]string) {
	passed, all := 0, 0
	for _, a := range areas {
		here := 0
		for _, id := range a.cases {
			ok := len(where[id]) > 0
			for _, p := range where[id] {
				if outcome := ended[p.String()]; outcome != "pass" {
					ok = false
					t.Errorf("%s: %s: %q, want pass", id, p, outcome)
				}
			}
			if ok {
				here++
			}
		}
		fmt.Printf("%-26s %3d of %3d\n", a.name, here, len(a.cases))
		passed, all = passed+here, all+len(a.cases)
	}
	fmt.Printf("%-26s %3d of %3d cases pass; docs/spec/conformance.md tells which\n", "in all", passed, all)
}
