package scenario

import (
	"fmt"
	"strings"

	"github.com/csisim/csisim/internal/input/strict"
)

// action is the behaviour of a kind of step.
type action interface {
	// check reports mistakes without running the step: references to objects that do not exist,
	// waits that cannot end.
	check(c *checker)
	// do runs the step. An error ends the scenario.
	do(r *runner) error
}

// steps are the kinds of steps; each file registers its own.
var (
	steps    = strict.NewVariants[action]("step")
	examples = map[string]string{}
)

// register adds a kind of step: its key, a sentence that describes it, an example as YAML, and a
// value of its type with tags that describe the fields.
func register(name, summary, example string, prototype action) {
	steps.Register(name, summary, prototype)
	examples[name] = strings.TrimSpace(example)
}

// Step is one step of a scenario: a map with the step's kind as its key and, optionally, a name for
// references. If there are several clusters, the step also names its cluster.
type Step struct {
	Name string // as given; steps can also be referred to by their number, from 1
	In   string // the cluster; empty if there is only one, and for steps that affect all
	Kind string // the kind's key: wait, apply
	Line int    // in the scenario's file

	path, title string
	action      action
}

// UnmarshalStrict reads the name and the kind of the step.
func (s *Step) UnmarshalStrict(n *strict.Node) {
	s.path, s.Line = n.Path(), n.Position().Line
	if name := n.Value("name"); name != nil {
		name.Decode(&s.Name)
		n = n.Without("name")
	}
	if in := n.Value("in"); in != nil {
		in.Decode(&s.In)
		n = n.Without("in")
	}
	s.Kind, s.action, _ = steps.Decode(n)
	s.title = s.Kind
	if value := n.Value(s.Kind); value != nil {
		s.title = strings.TrimSpace(s.Kind + " " + inWords(value))
	}
	if s.In != "" {
		s.title = s.In + ": " + s.title
	}
}

// JSONSchema is a map with one of the kinds as its key, a name and a cluster.
func (Step) JSONSchema() map[string]any {
	schema := steps.JSONSchema()
	properties := schema["properties"].(map[string]any)
	properties["name"] = map[string]any{"type": "string", "description": "The step's name, for --until and for expect.since."}
	properties["in"] = map[string]any{"type": "string", "description": "The cluster in which it acts, of a scenario with clusters."}
	delete(schema, "minProperties")
	delete(schema, "maxProperties")
	either := map[string]any{"anyOf": []any{map[string]any{"required": []any{"name"}}, map[string]any{"required": []any{"in"}}}}
	schema["if"], schema["then"] = map[string]any{"required": []any{"name", "in"}}, exactly(3)
	schema["else"] = map[string]any{"if": either, "then": exactly(2), "else": exactly(1)}
	return schema
}

// exactly is the schema of a map with n keys.
func exactly(n int) map[string]any { return map[string]any{"minProperties": n, "maxProperties": n} }

// Title describes the step in one line: its name or, if it has none, its action.
func (s Step) Title() string {
	if s.Name != "" {
		return s.Name
	}
	return s.title
}

// maxTitle is the length, in characters, to which a title is cut.
const maxTitle = 80

// inWords formats a value of the file in one line: pod web, phase Running.
func inWords(n *strict.Node) string {
	var words string
	text, isText := n.Text()
	switch {
	case isText:
		words = strings.Join(strings.Fields(text), " ")
	case n.IsMap():
		var parts []string
		for _, entry := range n.Entries() {
			parts = append(parts, strings.TrimSpace(entry.Name+" "+inWords(entry.Value)))
		}
		words = strings.Join(parts, ", ")
	case n.IsList():
		words = fmt.Sprintf("(%d)", len(n.Items()))
	case !n.IsNull():
		words = strings.TrimPrefix(strings.TrimPrefix(n.Found(), "number "), "boolean ")
	}
	if runes := []rune(words); len(runes) > maxTitle {
		words = string(runes[:maxTitle]) + "…"
	}
	return words
}
