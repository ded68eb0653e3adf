// Package rule enables the check of x-kubernetes-validations in every program that links it. These
// are expressions in CEL, in custom resource definitions.
package rule

import (
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/csisim/csisim/internal/world/definition"
	"github.com/csisim/csisim/internal/world/definition/rule/bound"
)

func init() { definition.UseRules(compile) }

const (
	nameOfSelf = "self"
	nameOfOld  = "oldSelf"
)

// rule is a compiled rule.
type rule struct {
	schema      *schema.Structural
	root        bool
	optionalOld bool
	comparesOld bool
	cost        definition.Cost
	program     cel.Program
	message     cel.Program // nil if it has none
}

func compile(s *schema.Structural, root bool, text apiextensionsv1.ValidationRule) (definition.Rule, error) {
	r := &rule{schema: s, root: root, optionalOld: text.OptionalOldSelf != nil && *text.OptionalOldSelf}
	self := declare(s, root, selfType)
	c := &compiler{costs: costs{self}}
	if err := c.open(self, r.optionalOld); err != nil {
		return nil, err
	}
	checked, err := c.compile(text.Rule, cel.BoolType, "cel expression must evaluate to a bool", "")
	if err != nil {
		return nil, err
	}
	r.comparesOld = mentions(checked, nameOfOld)
	if r.program, r.cost.Rule, err = c.program(checked); err != nil {
		return nil, err
	}
	r.cost.Values = valuesOf(self)
	if text.MessageExpression != "" {
		return r, c.addMessage(r, text.MessageExpression)
	}
	return r, nil
}

// valuesOf returns how many values of a type fit into a request. [schema/cel/compilation.go
// maxCardinality]
func valuesOf(self *declared) uint64 {
	if self == nil {
		return maxRequest
	}
	return maxRequest / (self.least + 1)
}

// mentions reports whether an expression names a variable.
func mentions(checked *cel.Ast, name string) (found bool) {
	ast.PreOrderVisit(checked.NativeRep().Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		found = found || e.Kind() == ast.IdentKind && e.AsIdent() == name
	}))
	return found
}

// Cost implements definition.Rule.
func (r *rule) Cost() definition.Cost { return r.cost }

// ComparesOld implements definition.Rule.
func (r *rule) ComparesOld() bool { return r.comparesOld }

// Holds implements definition.Rule.
func (r *rule) Holds(self, old any) (bool, error) {
	value, _, err := bound.Evaluate(r.program, r.variables(self, old))
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
	value, _, err := bound.Evaluate(r.message, r.variables(self, old))
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
