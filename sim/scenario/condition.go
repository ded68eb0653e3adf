package scenario

import (
	"fmt"
	"math"
	"strings"

	"github.com/csisim/csisim/sim/scenario/calls"
	"github.com/csisim/csisim/sim/scenario/expression"
	"github.com/csisim/csisim/sim/scenario/partial"
	"github.com/csisim/csisim/sim/scenario/strict"
	"github.com/csisim/csisim/sim/store"
)

// ObjectCondition is something that is or is not true of an object: that it is there, gone, in a phase, has
// a condition, makes a CEL expression true, or has certain fields, which stand beside the others:
// {pvc: data, phase: Bound, spec: {volumeName: "pvc-*"}}.
type ObjectCondition struct {
	Reference
	objectFields
	// Fields are those of the object that must be as given.
	Fields map[string]any

	that *expression.Expression
}

// objectFields are the keys of a condition beside the object's own.
type objectFields struct {
	Phase     string      `json:"phase,omitempty" example:"Running" doc:"Its status.phase."`
	Condition string      `json:"condition,omitempty" example:"Ready" doc:"A condition of its status that is True, or TYPE=STATUS."`
	Gone      bool        `json:"gone,omitempty" doc:"There is no such object."`
	That      string      `json:"that,omitempty" example:"object.status.phase == 'Bound'" doc:"A CEL expression over the object that is true."`
	Count     calls.Count `json:"count,omitempty" doc:"How many such objects there are; default at least one."`
}

// Wanted shows an example.
func (ObjectCondition) Wanted() string {
	return "a map with an object and what is true of it, such as {pod: web, phase: Running}"
}

// UnmarshalStrict reads a reference or a partial manifest with its conditions.
func (o *ObjectCondition) UnmarshalStrict(n *strict.Node) {
	if !n.IsMap() {
		n.ReportWrong(o.Wanted())
		return
	}
	rest := o.takeObject(n)
	if o.Resource != nil {
		rest = o.takeFields(rest)
	}
	rest.Decode(&o.objectFields)
	if o.That != "" {
		o.that = compileAt(n.Value("that"), o.That, expression.Object)
	}
}

// takeObject reads which object is meant.
func (o *ObjectCondition) takeObject(n *strict.Node) *strict.Node {
	kind := n.Value("kind")
	if kind == nil {
		return o.take(n)
	}
	name, _ := kind.Text()
	res, ok := resourceNamed(name)
	if !ok {
		kind.ReportUnknown(fmt.Sprintf("kind %q", name), name, "a kind of the Kubernetes API", kindList())
		return n.Without("kind", "apiVersion", "metadata", "spec", "status")
	}
	o.Reference = Reference{Resource: res, key: singular(res), Name: "*"}
	if metadata := n.Value("metadata"); metadata != nil && metadata.IsMap() {
		o.readKey(metadata)
	}
	return n.Without("kind", "apiVersion")
}

func (o *ObjectCondition) readKey(metadata *strict.Node) {
	if o.Resource.Namespaced {
		o.Namespace = "default"
	}
	for field, into := range map[string]*string{"name": &o.Name, "namespace": &o.Namespace} {
		if value := metadata.Value(field); value != nil {
			value.Decode(into)
		}
	}
}

// takeFields reads the fields of the object itself.
func (o *ObjectCondition) takeFields(n *strict.Node) *strict.Node {
	known := map[string]strict.Field{}
	for _, f := range objectFieldsOf(o.Resource) {
		known[f.Name] = f
	}
	var taken []string
	for _, entry := range n.Entries() {
		f, ok := known[entry.Name]
		if !ok {
			continue
		}
		var value any
		entry.Value.Decode(&value)
		checkFields(entry.Value, f.Type)
		if o.Fields == nil {
			o.Fields = map[string]any{}
		}
		o.Fields[entry.Name] = value
		taken = append(taken, entry.Name)
	}
	return n.Without(taken...)
}

// check reports references that lead nowhere and conditions that cannot be.
func (o *ObjectCondition) check(c *checker) {
	if o.Resource == nil {
		if c.reported("kind") {
			return
		}
		c.report("", "no object", "the kind and name of one, such as pod: web")
		return
	}
	if !o.Gone && !(o.Count.Given && o.Count.Min == 0) {
		c.object(o.Reference)
	}
	if o.Gone && (o.Phase != "" || o.Condition != "" || o.Count.Given) {
		c.report("gone", "gone together with other conditions", "gone alone")
	}
	if o.Phase != "" {
		c.phase(o.Resource, o.Phase)
	}
}

// String is the condition in words: pod web to be in phase Running.
func (o *ObjectCondition) String() string {
	words := []string{}
	say := func(given bool, format string, args ...any) {
		if given {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	say(o.Gone, "gone")
	say(o.Phase != "", "in phase %s", o.Phase)
	say(o.Condition != "", "with condition %s", o.Condition)
	say(o.That != "", "such that %s", o.That)
	say(len(o.Fields) > 0, "with %s", partial.Text(o.Fields))
	say(o.Count.Given, "%v times", o.Count)
	if len(words) == 0 {
		words = []string{"there"}
	}
	return o.Reference.String() + " " + strings.Join(words, ", ")
}

// look says whether the condition holds now and, if not, what is there instead.
func (o *ObjectCondition) look(s *store.Store) (holds bool, got string, err error) {
	fitting, total := 0, 0
	for _, obj := range o.find(s) {
		total++
		wrong, err := o.mismatch(obj)
		if err != nil {
			return false, "", err
		}
		if wrong == "" {
			fitting++
		} else if got == "" {
			got = o.key + " " + obj.GetName() + ": " + wrong
		}
	}
	if o.Gone {
		return fitting == 0, fmt.Sprintf("%d still there", fitting), nil
	}
	if got == "" {
		got = fmt.Sprintf("%d such %s", fitting, o.Resource.GVR.Resource)
	}
	if total == 0 {
		got = "no " + o.Reference.String()
	}
	return o.Count.Or(1, math.MaxInt).Holds(fitting), got, nil
}

// mismatch says what of one object is not as the condition wants it.
func (o *ObjectCondition) mismatch(obj store.Object) (string, error) {
	if o.Phase == "" && o.Condition == "" && o.that == nil && o.Fields == nil {
		return "", nil
	}
	fields, err := decoded(obj)
	if err != nil {
		return "", fmt.Errorf("read %s %s: %w", o.key, obj.GetName(), err)
	}
	if o.Phase != "" {
		if wrong := partial.Mismatch(o.Phase, inside(fields, "status", "phase")); wrong != "" {
			return "phase " + wrong, nil
		}
	}
	if o.Condition != "" {
		if wrong := conditionMismatch(o.Condition, inside(fields, "status", "conditions")); wrong != "" {
			return wrong, nil
		}
	}
	if wrong := partial.Mismatch(map[string]any(o.Fields), any(fields)); wrong != "" {
		return wrong, nil
	}
	if o.that == nil {
		return "", nil
	}
	if holds, err := o.that.HoldsFor(fields); holds || err != nil {
		return "", err
	}
	return "not true of it: " + o.That, nil
}

func inside(fields map[string]any, path ...string) any {
	var value any = fields
	for _, key := range path {
		inner, _ := value.(map[string]any)
		value = inner[key]
	}
	return value
}

// conditionMismatch looks for a condition TYPE or TYPE=STATUS among those of a status.
func conditionMismatch(want string, list any) string {
	name, status, given := strings.Cut(want, "=")
	if !given {
		status = "True"
	}
	items, _ := list.([]any)
	for _, item := range items {
		condition, _ := item.(map[string]any)
		if condition["type"] != name {
			continue
		}
		if condition["status"] == status {
			return ""
		}
		wrong := fmt.Sprintf("condition %s is %v", name, condition["status"])
		if message, ok := condition["message"].(string); ok && message != "" {
			wrong += " (" + message + ")"
		}
		return wrong
	}
	return "it has no condition " + name
}
