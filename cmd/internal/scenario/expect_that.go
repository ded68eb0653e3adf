package scenario

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/csisim/csisim/cmd/internal/scenario/expression"
	"github.com/csisim/csisim/internal/input/calls"
	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/sim/expect"
)

// Statement is a CEL expression about the whole run.
type Statement struct{ text string }

// String is the expression.
func (s Statement) String() string { return s.text }

// Wanted shows an example.
func (Statement) Wanted() string {
	return `a CEL expression such as "calls.filter(c, c.call == 'CreateVolume').size() == 1"`
}

// UnmarshalStrict compiles the expression and reports its errors.
func (s *Statement) UnmarshalStrict(n *strict.Node) {
	text, ok := n.Text()
	if !ok {
		n.ReportWrong(s.Wanted())
		return
	}
	s.text = text
	compileAt(n, text, func(text string) (*expression.Expression, error) { return expression.Run(text, nil) })
}

// JSONSchema is a string.
func (Statement) JSONSchema() map[string]any { return map[string]any{"type": "string"} }

func (s Statement) failure(r *runner, ev *expect.Evidence) *Failure {
	view := celView{r, ev}
	compiled, err := expression.Run(s.text, view)
	if err != nil {
		return &Failure{Verdict: verdict.Plain(err.Error())}
	}
	holds, err := compiled.Holds(view)
	switch {
	case err != nil:
		return &Failure{Verdict: verdict.Plain(err.Error())}
	case holds:
		return nil
	}
	return &Failure{Verdict: verdict.Plain("not true: " + s.text), Expected: "true", Got: cmp.Or(compiled.Because(view), "false")}
}

// celView provides the run to CEL expressions.
type celView struct {
	*runner
	seen *expect.Evidence
}

// Objects returns the objects of a resource, by any of its names.
func (v celView) Objects(name string) ([]any, error) {
	res, ok := expect.KindsIn(v.store()).Named(name)
	if !ok {
		return nil, fmt.Errorf("objects(%q): there is no such resource", name)
	}
	all := []any{}
	for obj := range v.store().ListObjects(res, "") {
		fields, err := expect.Decoded(obj)
		if err != nil {
			return nil, fmt.Errorf("read %s %s: %w", name, obj.GetName(), err)
		}
		all = append(all, fields)
	}
	return all, nil
}

// Calls returns the CSI calls, each as a map with call, driver, node, from, volume, code, message,
// request, response and at.
func (v celView) Calls() []any {
	all := []any{}
	for _, e := range v.seen.CallsSince(v.seen.Since) {
		line, err := e.Line()
		if err != nil {
			continue // a message that cannot be in a trace cannot be queried
		}
		all = append(all, map[string]any{
			"call": calls.Short(e.Method), "driver": e.Driver, "node": v.seen.Names.Node(e), "from": e.Actor,
			"volume": v.seen.Names.Volume(e), "code": calls.Result(e), "message": e.Message,
			"request": orEmpty(line.Req), "response": orEmpty(line.Resp), "at": e.At,
		})
	}
	return all
}

// Events returns the Kubernetes events, each as a map with reason, about, type, from, message,
// count and at.
func (v celView) Events() []any {
	all := []any{}
	for _, e := range v.seen.EventsSince(v.seen.Since) {
		all = append(all, eventFields(e))
	}
	return all
}

// Files lists the files below the kubelet's directory on a node.
func (v celView) Files(node string) ([]string, error) {
	if err := v.knows("files", node); err != nil {
		return nil, err
	}
	return v.cluster.Files(node), nil
}

// Metrics returns the metrics of the kubelet on a node.
func (v celView) Metrics(node string) ([]string, error) {
	if err := v.knows("metrics", node); err != nil {
		return nil, err
	}
	return v.cluster.Metrics(node), nil
}

func (v celView) knows(function, node string) error {
	if slices.Contains(v.cluster.Nodes(), node) {
		return nil
	}
	return fmt.Errorf("%s(%q): there is no such node; there are %v", function, node, v.cluster.Nodes())
}

func eventFields(e *trace.Event) map[string]any {
	return map[string]any{
		"reason": e.Method, "about": e.Name, "type": e.Resource, "from": e.Actor,
		"message": e.Message, "count": int64(e.Count()), "at": e.At,
	}
}

// Elapsed returns the virtual time since the run began.
func (v celView) Elapsed() time.Duration { return v.cluster.Elapsed() }

func orEmpty(fields map[string]any) map[string]any {
	if fields == nil {
		return map[string]any{}
	}
	return fields
}
