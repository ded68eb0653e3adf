package expression

import (
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

const (
	// maxSteps is how many items all, exists, map and filter look at in one evaluation, nested ones included. It is
	// counted, not timed, so that a run comes again on any machine.
	maxSteps = 2_000_000
	// maxRange is the length of the longest list that lists.range makes.
	maxRange = 10_000
)

// limited has the loops of a program ask at each item whether they may go on: a counter answers them.
func limited(options ...cel.ProgramOption) []cel.ProgramOption {
	return append(options, cel.InterruptCheckFrequency(1), cel.CustomDecorator(boundRange))
}

// counter answers the loops of one evaluation.
type counter struct {
	interpreter.Activation
	steps int
}

// ResolveName counts an item when a loop asks, and hands on what else is asked for.
func (c *counter) ResolveName(name string) (any, bool) {
	if name == "#interrupted" {
		c.steps++
		return c.steps > maxSteps, true
	}
	return c.Activation.ResolveName(name)
}

// evaluate runs a program until it ends or has taken too many steps.
func evaluate(program cel.Program, names map[string]any) (ref.Val, *cel.EvalDetails, error) {
	activation, err := cel.NewActivation(names)
	if err != nil {
		return nil, nil, err
	}
	c := &counter{Activation: activation}
	value, details, err := program.Eval(c)
	if c.steps > maxSteps {
		return nil, nil, fmt.Errorf("it looks at more than %d items, so it is given up: filter before nesting one loop in another", maxSteps)
	}
	return value, details, err
}

// boundRange keeps a short expression from making a list that no memory holds.
func boundRange(step interpreter.Interpretable) (interpreter.Interpretable, error) {
	if call, ok := step.(interpreter.InterpretableCall); ok && call.Function() == "lists.range" {
		return boundedRange{call}, nil
	}
	return step, nil
}

type boundedRange struct{ interpreter.InterpretableCall }

// Eval makes the list.
func (r boundedRange) Eval(names interpreter.Activation) ref.Val {
	length := r.Args()[0].Eval(names)
	n, ok := length.(types.Int)
	switch {
	case !ok:
		return types.MaybeNoSuchOverloadErr(length)
	case n > maxRange:
		return types.NewErr("lists.range(%d): a list has at most %d items", n, maxRange)
	}
	numbers := make([]ref.Val, max(n, 0))
	for i := range numbers {
		numbers[i] = types.Int(i)
	}
	return types.DefaultTypeAdapter.NativeToValue(numbers)
}
