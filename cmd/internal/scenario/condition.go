package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/csisim/csisim/cmd/internal/scenario/expression"
	"github.com/csisim/csisim/internal/input/calls"
	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/sim/expect"
)

// ObjectCondition is a condition on an object: that it exists, is deleted, is in a phase, has a
// condition, satisfies a CEL expression, or has certain fields. The fields are additional keys:
// {pvc: data, phase: Bound, spec: {volumeName: "pvc-*"}}.
type ObjectCondition struct {
	expect.Reference
	objectFields
	// Fields are the object's fields with their required values.
	Fields map[string]any

	that *expression.Expression
}

// objectFields are the keys of a condition that are not fields of the object.
type objectFields struct {
	Phase     string      `json:"phase,omitempty" example:"Running" doc:"Its status.phase."`
	Condition string      `json:"condition,omitempty" example:"Ready" doc:"A condition of its status that is True, or TYPE=STATUS."`
	Gone      bool        `json:"gone,omitempty" doc:"There is no such object."`
	That      string      `json:"that,omitempty" example:"object.status.phase == 'Bound'" doc:"A CEL expression over the object that must be true."`
	Count     calls.Count `json:"count,omitempty" doc:"The number of such objects; default at least one."`
}

// Wanted shows an example.
func (ObjectCondition) Wanted() string {
	return "a map with an object and its condition, such as {pod: web, phase: Running}"
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

// takeObject reads the reference to the object.
func (o *ObjectCondition) takeObject(n *strict.Node) *strict.Node {
	kind := n.Value("kind")
	if kind == nil {
		return o.Take(n)
	}
	name, _ := kind.Text()
	kinds := expect.KindsOf(n)
	res, ok := kinds.Named(name)
	if version := n.Value("apiVersion"); version != nil {
		text, _ := version.Text()
		group, _, _ := strings.Cut(text, "/")
		if of, known := kinds.Named(name + "." + group); known {
			res, ok = of, true
		}
	}
	if !ok {
		kind.ReportUnknown(fmt.Sprintf("kind %q", name), name, "a kind of the Kubernetes API", kinds.List())
		return n.Without("kind", "apiVersion", "metadata", "spec", "status")
	}
	o.Reference = expect.Reference{Resource: res, Word: expect.Singular(res), Name: "*"}
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
	known := objectFieldsOf(o.Resource)
	var taken, others []string
	for _, entry := range n.Entries() {
		if !slices.Contains(known, entry.Name) {
			others = append(others, entry.Name)
			continue
		}
		var value any
		entry.Value.Decode(&value)
		if o.Fields == nil {
			o.Fields = map[string]any{}
		}
		o.Fields[entry.Name] = value
		taken = append(taken, entry.Name)
	}
	checkFieldsOf(n.Without(others...), o.Resource)
	return n.Without(taken...)
}

// check reports references to objects that do not exist, and impossible conditions.
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

// object returns the condition in the form that evaluates it against existing objects. An error of
// its expression is stored in wrong.
func (o *ObjectCondition) object(wrong *error) expect.Object {
	object := expect.Object{
		Phase: o.Phase, Condition: o.Condition, Gone: o.Gone, Fields: o.Fields, Count: o.Count, Means: o.That,
	}.Of(o.Reference)
	if o.that != nil {
		object.Where = func(obj store.Object) bool {
			fields, err := expect.Decoded(obj)
			holds := false
			if err == nil {
				holds, err = o.that.HoldsFor(fields)
			}
			if err != nil && *wrong == nil {
				*wrong = err
			}
			return holds
		}
	}
	return object
}

// because explains which values make the expression false for an object; "" if there is no
// expression.
func (o *ObjectCondition) because(ev *expect.Evidence) string {
	if o.that == nil {
		return ""
	}
	for _, obj := range ev.Find(o.Reference) {
		fields, err := expect.Decoded(obj)
		if err != nil {
			continue
		}
		if holds, err := o.that.HoldsFor(fields); err == nil && !holds {
			return o.that.BecauseOf(fields)
		}
	}
	return ""
}

// String is the condition in words: pod web in phase Running.
func (o *ObjectCondition) String() string { return o.object(nil).String() }

// failure returns the failure of a condition that does not hold.
func (o *ObjectCondition) failure(ev *expect.Evidence) *Failure {
	var wrong error
	f := o.object(&wrong).Failure(ev)
	if wrong != nil {
		return &Failure{Verdict: verdict.Plain(wrong.Error())}
	}
	if f != nil {
		f.Got = withReason(f.Got, o.because(ev))
	}
	return f
}

// withReason appends the values that an expression read, on a separate line.
func withReason(got, reason string) string {
	if reason == "" {
		return got
	}
	return got + "\n" + reason
}
