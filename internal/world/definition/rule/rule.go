// Package rule makes the x-kubernetes-validations of custom resource definitions
// checked in every program that links it: they are expressions in CEL.
package rule

import (
	"errors"
	"fmt"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/ext"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/csisim/csisim/internal/world/definition"
)

func init() { definition.UseRules(compile) }

const (
	nameOfSelf = "self"
	nameOfOld  = "oldSelf"
)

// rule is one that is compiled.
type rule struct {
	schema      *schema.Structural
	root        bool
	optionalOld bool
	comparesOld bool
	program     cel.Program
	message     cel.Program // nil if it has none
}

func compile(s *schema.Structural, root bool, text apiextensionsv1.ValidationRule) (definition.Rule, error) {
	r := &rule{schema: s, root: root, optionalOld: text.OptionalOldSelf != nil && *text.OptionalOldSelf}
	env, err := environment()
	if err != nil {
		return nil, err
	}
	checked, issues := env.Compile(text.Rule)
	if issues.Err() != nil {
		return nil, fmt.Errorf("compilation failed: %w", issues.Err())
	}
	if out := checked.OutputType(); !out.IsExactType(cel.BoolType) && !out.IsExactType(cel.DynType) {
		return nil, errors.New("cel expression must evaluate to a bool")
	}
	r.comparesOld = mentions(checked, nameOfOld)
	if r.program, err = env.Program(checked, cel.CostLimit(perCallLimit)); err != nil {
		return nil, fmt.Errorf("program instantiation failed: %w", err)
	}
	if text.MessageExpression != "" {
		checked, issues := env.Compile(text.MessageExpression)
		if issues.Err() != nil {
			return nil, fmt.Errorf("messageExpression compilation failed: %w", issues.Err())
		}
		if r.message, err = env.Program(checked, cel.CostLimit(perCallLimit)); err != nil {
			return nil, fmt.Errorf("messageExpression program instantiation failed: %w", err)
		}
	}
	return r, nil
}

// perCallLimit is the cost at which the real server gives up on one rule.
const perCallLimit = 1_000_000

// environment has what rules can use. The types of values are found out when they
// are looked at.
func environment() (*cel.Env, error) {
	return cel.NewEnv(
		ext.Strings(ext.StringsVersion(2)), ext.Sets(), ext.Lists(), ext.TwoVarComprehensions(), cel.OptionalTypes(),
		cel.HomogeneousAggregateLiterals(), cel.DefaultUTCTimeZone(true), cel.CrossTypeNumericComparisons(true),
		library, quantities,
		cel.Variable(nameOfSelf, cel.DynType), cel.Variable(nameOfOld, cel.DynType),
	)
}

// mentions reports whether an expression names a variable.
func mentions(checked *cel.Ast, name string) (found bool) {
	ast.PreOrderVisit(checked.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		found = found || e.Kind() == ast.IdentKind && e.AsIdent() == name
	}))
	return found
}

// ComparesOld implements definition.Rule.
func (r *rule) ComparesOld() bool { return r.comparesOld }

// Holds implements definition.Rule.
func (r *rule) Holds(self, old any) (bool, error) {
	value, _, err := r.program.Eval(r.variables(self, old))
	if err != nil {
		return false, err
	}
	return value == types.True, nil
}

// Message implements definition.Rule.
func (r *rule) Message(self, old any) string {
	if r.message == nil {
		return ""
	}
	value, _, err := r.message.Eval(r.variables(self, old))
	if err != nil {
		return ""
	}
	text, _ := value.Value().(string)
	if text = strings.TrimSpace(text); strings.Contains(text, "\n") {
		return ""
	}
	return text
}

func (r *rule) variables(self, old any) map[string]any {
	bound := map[string]any{nameOfSelf: valueOf(self, r.schema, r.root)}
	switch {
	case r.optionalOld && old == nil:
		bound[nameOfOld] = types.OptionalNone
	case r.optionalOld:
		bound[nameOfOld] = types.OptionalOf(types.DefaultTypeAdapter.NativeToValue(valueOf(old, r.schema, r.root)))
	case old != nil:
		bound[nameOfOld] = valueOf(old, r.schema, r.root)
	}
	return bound
}
