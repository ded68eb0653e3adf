package conformance

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

func TestRulesAreFoundInText(t *testing.T) {
	assert.Equal(t, []string{"K-PUB-1", "K-PUB-2", "K-PUB-3", "C-ADC-24"},
		rulesIn([]byte("// K-PUB-1..3 and C-ADC-24: not VAC-ADC-1, K-8 nor K-pub-9")))
}

func TestRulesAreCitedByTestsAndTheirTablesOnly(t *testing.T) {
	const text = `package a

// TestOrder: K-A-1
func TestOrder(t *testing.T) { // K-A-2
	wait(t) // K-A-3
}

// wait implements K-A-4.
func wait(t *testing.T) {}

var table = []string{"K-A-5"}
`
	found, err := citing("a/b_test.go", []byte(text))
	require.NoError(t, err)
	assert.Equal(t, []citation{
		{"`TestOrder` in a", []string{"K-A-1", "K-A-2", "K-A-3"}},
		{"`table` in a", []string{"K-A-5"}},
	}, found)
}

// readRules reads the lists of this package, and the citations in the whole module.
func readRules(t *testing.T) rules {
	r := rules{sections: readSections(t), code: citers{}, pins: citers{}, says: readSentences(t)}
	text, err := os.ReadFile("testdata/rules-reasons.yaml")
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, &r.reasons))
	text, err = os.ReadFile("testdata/rules-pending.txt")
	require.NoError(t, err)
	r.pending = strings.Fields(string(text))
	require.NoError(t, filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		return r.read(filepath.ToSlash(name), file)
	}))
	return r
}

// readSections reads titles after hashes, and one rule per line below them.
func readSections(t *testing.T) (sections []section) {
	text, err := os.ReadFile("testdata/rules.txt")
	require.NoError(t, err)
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if title, is := strings.CutPrefix(line, "# "); is {
			sections = append(sections, section{title: title})
		} else if line != "" {
			last := &sections[len(sections)-1]
			last.rules = append(last.rules, line)
		}
	}
	return sections
}

// read adds the citations of a file of the module.
func (r rules) read(name, file string) error {
	scenario := scenarioTests[filepath.Base(filepath.Dir(file))] != "" && strings.HasSuffix(name, ".yaml")
	if !scenario && filepath.Ext(name) != ".go" || strings.HasPrefix(name, "internal/conformance/") {
		return nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var found []citation
	switch {
	case scenario:
		found = []citation{{name, rulesIn(text)}}
	case strings.HasSuffix(name, "_test.go"):
		found, err = citing(name, text)
	default:
		for _, id := range rulesIn(text) {
			r.code.add(id, name)
		}
	}
	for _, c := range found {
		for _, id := range c.rules {
			r.pins.add(id, c.by)
		}
	}
	return err
}

// citation is a test, a table of tests or a scenario, and the rules that it cites.
type citation struct {
	by    string
	rules []string
}

// citing returns the tests of a file with citations in their text or comments, and tables outside
// of tests with citations.
func citing(name string, text []byte) (found []citation, err error) {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, name, text, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	for _, declaration := range parsed.Decls {
		by, begin := declared(declaration)
		if by == "" {
			continue
		}
		source := text[files.Position(begin).Offset:files.Position(declaration.End()).Offset]
		if ids := rulesIn(source); ids != nil {
			found = append(found, citation{"`" + by + "` in " + filepath.ToSlash(filepath.Dir(name)), ids})
		}
	}
	return found, nil
}

// declared returns the name of a test or of variables, and the start of its declaration and
// comment.
func declared(declaration ast.Decl) (name string, begin token.Pos) {
	var doc *ast.CommentGroup
	switch d := declaration.(type) {
	case *ast.FuncDecl:
		if !strings.HasPrefix(d.Name.Name, "Test") {
			return "", 0
		}
		name, doc = d.Name.Name, d.Doc
	case *ast.GenDecl:
		if d.Tok != token.VAR {
			return "", 0
		}
		name, doc = d.Specs[0].(*ast.ValueSpec).Names[0].Name, d.Doc
	}
	if doc != nil {
		return name, doc.Pos()
	}
	return name, declaration.Pos()
}

var rule = regexp.MustCompile(`\b([ACKL]-[A-Z]+-)(\d+)(?:\.\.(\d+))?\b`)

// rulesIn returns the rules that a text cites: "K-PUB-1", or several of a group, "K-PUB-1..4".
func rulesIn(text []byte) (ids []string) {
	for _, match := range rule.FindAllSubmatch(text, -1) {
		first, _ := strconv.Atoi(string(match[2])) // the pattern has digits
		last, err := strconv.Atoi(string(match[3]))
		if err != nil {
			last = first
		}
		for n := first; n <= last; n++ {
			ids = append(ids, string(match[1])+strconv.Itoa(n))
		}
	}
	return ids
}
