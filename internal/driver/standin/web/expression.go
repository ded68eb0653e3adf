package web

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/ext"
	"google.golang.org/protobuf/types/known/structpb"

	"github.com/csisim/csisim/internal/world/definition/rule/bound"
)

// expression is a compiled CEL expression; nil if the declaration has none.
type expression struct {
	text    string
	program cel.Program
}

// names are the values that expressions refer to. All are decoded JSON with whole numbers as int64.
type names struct {
	object, made, body object
	objects            []any
	query, node        map[string]any
	collections        map[string]any
	status             int
	text               string
}

var environment = sync.OnceValues(func() (*cel.Env, error) {
	options := []cel.EnvOption{ext.Strings(), ext.Lists(), ext.Math(), ext.Bindings(), cel.CrossTypeNumericComparisons(true)}
	for _, name := range []string{"object", "objects", "made", "body", "query", "node", "collections", "status", "text"} {
		options = append(options, cel.Variable(name, cel.DynType))
	}
	return cel.NewEnv(options...)
})

// compile returns nil for an empty text.
func compile(text string) (*expression, error) {
	if text == "" {
		return nil, nil
	}
	env, err := environment()
	if err != nil {
		return nil, fmt.Errorf("make CEL environment: %w", err)
	}
	ast, issues := env.Compile(text)
	if issues.Err() != nil {
		first := issues.Errors()[0]
		return nil, fmt.Errorf("expression %q: %s at character %d", text, first.Message, first.Location.Column()+1)
	}
	program, err := env.Program(ast, bound.Options()...)
	if err != nil {
		return nil, fmt.Errorf("expression %q: %w", text, err)
	}
	return &expression{text, program}, nil
}

// value evaluates the expression to decoded JSON.
func (x *expression) value(n names) (any, error) {
	found, _, err := bound.Evaluate(x.program, map[string]any{
		"object": map[string]any(n.object), "objects": n.objects, "made": map[string]any(n.made), "body": map[string]any(n.body),
		"query": n.query, "node": n.node, "collections": n.collections, "status": n.status, "text": n.text,
	})
	if err != nil {
		return nil, fmt.Errorf("expression %q: %w", x.text, err)
	}
	native, err := found.ConvertToNative(reflect.TypeFor[*structpb.Value]())
	if err != nil {
		return nil, fmt.Errorf("expression %q: %w", x.text, err)
	}
	return whole(native.(*structpb.Value).AsInterface()), nil
}

// holds evaluates a condition. A missing field makes it false.
func (x *expression) holds(n names) (bool, error) {
	if x == nil {
		return true, nil
	}
	value, err := x.value(n)
	if err != nil && strings.Contains(err.Error(), "no such key") {
		return false, nil
	}
	return value == true, err
}

// fields evaluates the expression to an object; empty without an expression.
func (x *expression) fields(n names) (object, error) {
	if x == nil {
		return object{}, nil
	}
	value, err := x.value(n)
	if err != nil {
		return nil, err
	}
	fields, is := value.(map[string]any)
	if !is {
		return nil, fmt.Errorf("expression %q gives %v, not an object", x.text, value)
	}
	return fields, nil
}

// whole turns numbers of decoded JSON without a fraction into int64, as CEL compares and adds
// numbers of one type.
func whole(value any) any {
	switch v := value.(type) {
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int64(v)
		}
	case []any:
		for i := range v {
			v[i] = whole(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = whole(v[name])
		}
	}
	return value
}
