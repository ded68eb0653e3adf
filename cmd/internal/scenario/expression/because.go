package expression

import (
	"slices"
	"strings"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/interpreter"

	"github.com/csisim/csisim/internal/world/definition/rule/bound"
)

// shown bounds the displayed part of a value, in bytes.
const shown = 200

// Because explains why a statement is false. It names the first false part, and the values of both
// sides of a comparison, as in "events.size() is 3". The result is empty if the explanation would
// only repeat that the statement is false.
func (x *Expression) Because(source Source) string { return x.because(runNames(source)) }

// BecauseOf does the same as Because for a condition on an object, which is decoded JSON.
func (x *Expression) BecauseOf(object map[string]any) string {
	return x.because(map[string]any{"object": object})
}

func (x *Expression) because(names map[string]any) string {
	program, err := x.env.Program(x.ast, bound.Options(cel.EvalOptions(cel.OptTrackState))...)
	if err != nil {
		return ""
	}
	_, details, err := bound.Evaluate(program, names)
	if err != nil {
		return err.Error()
	}
	e := explanation{info: x.ast.NativeRep().SourceInfo(), state: details.State()}
	return e.of(x.ast.NativeRep().Expr())
}

// explanation reads the values of the parts of an expression.
type explanation struct {
	info  *ast.SourceInfo
	state interpreter.EvalState
}

func (e explanation) of(x ast.Expr) string {
	if x.Kind() != ast.CallKind {
		return ""
	}
	call := x.AsCall()
	switch {
	case call.FunctionName() == operators.LogicalAnd:
		return e.ofFalsePart(call.Args())
	case slices.Contains([]string{
		operators.Equals, operators.NotEquals, operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals, operators.In,
	}, call.FunctionName()):
		return e.ofSides(call.Args())
	}
	return ""
}

func (e explanation) ofFalsePart(parts []ast.Expr) string {
	for _, part := range parts {
		if value, ok := e.state.Value(part.ID()); ok && value == types.False {
			why := e.of(part)
			if why == "" {
				text, _ := cel.ExprToString(part, e.info)
				why = text + " is false"
			}
			return why
		}
	}
	return ""
}

// ofSides returns the values of the sides of a comparison, except literals.
func (e explanation) ofSides(sides []ast.Expr) string {
	var all []string
	for _, side := range sides {
		value, known := e.state.Value(side.ID())
		text, err := cel.ExprToString(side, e.info)
		if err != nil || !known || side.Kind() == ast.LiteralKind || side.Kind() == ast.ListKind {
			continue
		}
		is := types.Format(value)
		if len(is) > shown {
			is = strings.ToValidUTF8(is[:shown], "") + "…"
		}
		if is != text {
			all = append(all, text+" is "+is)
		}
	}
	return strings.Join(all, ", ")
}
