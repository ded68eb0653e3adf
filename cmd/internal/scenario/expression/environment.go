// Package expression evaluates the CEL expressions of scenarios: conditions on one object, and
// statements about a whole run.
package expression

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/ext"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/csisim/csisim/internal/world/definition/rule/bound"
	"github.com/csisim/csisim/internal/world/excerpt"
)

// Source is the run to which statements refer. Objects are decoded JSON, calls and events the lines
// of the trace with readable names.
type Source interface {
	// Objects returns the objects of a resource, such as "pods", sorted by namespace and name.
	Objects(resource string) ([]any, error)
	Calls() []any
	Events() []any
	// Files lists the files below the kubelet's directory on a node, one per line, as in recorded
	// traces. It fails for an unknown node.
	Files(node string) ([]string, error)
	// Metrics returns the metrics of the kubelet on a node, a line each. It fails for an unknown
	// node.
	Metrics(node string) ([]string, error)
	Elapsed() time.Duration
}

// Expression is a compiled CEL expression.
type Expression struct {
	Text    string
	env     *cel.Env
	ast     *cel.Ast
	program cel.Program
}

// Object compiles a condition on one object. In the expression, the object has the name object.
func Object(text string) (*Expression, error) {
	return compile(text, cel.Variable("object", cel.DynType))
}

// Run compiles a statement about a run. The source may be nil as long as nothing is evaluated.
func Run(text string, source Source) (*Expression, error) {
	list := cel.ListType(cel.DynType)
	return compile(text,
		cel.Variable("calls", list),
		cel.Variable("events", list),
		cel.Variable("elapsed", cel.DurationType),
		cel.Function("objects", cel.Overload("objects_of_resource", []*cel.Type{cel.StringType}, list,
			cel.UnaryBinding(func(name ref.Val) ref.Val { return listed(source.Objects(string(name.(types.String)))) }))),
		cel.Function("files", cel.Overload("files_of_node", []*cel.Type{cel.StringType}, cel.ListType(cel.StringType),
			cel.UnaryBinding(func(node ref.Val) ref.Val { return listed(source.Files(string(node.(types.String)))) }))),
		cel.Function("metrics", cel.Overload("metrics_of_node", []*cel.Type{cel.StringType}, cel.ListType(cel.StringType),
			cel.UnaryBinding(func(node ref.Val) ref.Val { return listed(source.Metrics(string(node.(types.String)))) }))),
	)
}

func compile(text string, names ...cel.EnvOption) (*Expression, error) {
	library := []cel.EnvOption{ext.Strings(), ext.Lists(), ext.Sets(), ext.Math(), cel.OptionalTypes(), cel.EnableMacroCallTracking(), quantity}
	env, err := cel.NewEnv(append(library, names...)...)
	if err != nil {
		return nil, fmt.Errorf("make CEL environment: %w", err)
	}
	ast, issues := env.Compile(text)
	if issues.Err() != nil {
		return nil, fmt.Errorf("%s", oneLine(issues))
	}
	if out := ast.OutputType(); !out.IsExactType(cel.BoolType) && !out.IsExactType(cel.DynType) {
		return nil, fmt.Errorf("the expression gives %v, not true or false", out)
	}
	program, err := env.Program(ast, bound.Options()...)
	if err != nil {
		return nil, fmt.Errorf("prepare CEL expression: %w", err)
	}
	return &Expression{Text: text, env: env, ast: ast, program: program}, nil
}

// quantity turns a Kubernetes quantity such as "1Gi" into a number.
var quantity = cel.Function("quantity", cel.Overload("quantity_of_string", []*cel.Type{cel.StringType}, cel.IntType,
	cel.UnaryBinding(func(text ref.Val) ref.Val {
		parsed, err := resource.ParseQuantity(string(text.(types.String)))
		if err != nil {
			return types.NewErr("quantity %q: %v", text, err)
		}
		return types.Int(parsed.Value())
	})))

// oneLine returns CEL's error messages without the picture of the place.
func oneLine(issues *cel.Issues) string {
	var all []string
	for _, e := range issues.Errors() {
		all = append(all, fmt.Sprintf("%s at character %d", e.Message, e.Location.Column()+1))
	}
	return strings.Join(all, "; ")
}

func listed[T any](all []T, err error) ref.Val {
	if err != nil {
		return types.NewErr("%v", err)
	}
	return types.DefaultTypeAdapter.NativeToValue(all)
}

// HoldsFor evaluates a condition on an object, which is decoded JSON. A missing field makes the
// condition false without an error, because the field may appear while a scenario waits.
func (x *Expression) HoldsFor(object map[string]any) (bool, error) {
	return x.holds(map[string]any{"object": object})
}

// Holds evaluates a statement about the run.
func (x *Expression) Holds(source Source) (bool, error) {
	return x.holds(runNames(source))
}

func runNames(source Source) map[string]any {
	return map[string]any{"calls": source.Calls(), "events": source.Events(), "elapsed": source.Elapsed()}
}

func (x *Expression) holds(names map[string]any) (bool, error) {
	value, _, err := bound.Evaluate(x.program, names)
	if err != nil {
		if strings.Contains(err.Error(), "no such key") {
			return false, nil
		}
		return false, fmt.Errorf("evaluate %q: %w", excerpt.Of(x.Text, shown), err)
	}
	native, err := value.ConvertToNative(reflect.TypeFor[bool]())
	if err != nil {
		return false, fmt.Errorf("evaluate %q: it is %v, not true or false", x.Text, value.Value())
	}
	return native.(bool), nil
}
