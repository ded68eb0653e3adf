// Package bound keeps CEL expressions from running or growing without end: those of scenarios, and the rules
// of custom resource definitions.
package bound

import (
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

const (
	// maxSteps is how many items all, exists, map, filter and the functions of sets look at in one evaluation, nested ones included. It is
	// counted, not timed, so that a run comes again on any machine.
	maxSteps = 2_000_000
	// maxRange is the length of the longest list that lists.range makes.
	maxRange = 10_000
)

// Options are those of a program that Evaluate runs: its loops ask at each item whether they may go on, and
// calls that make lists or texts are bounded.
func Options(options ...cel.ProgramOption) []cel.ProgramOption {
	return append(options, cel.InterruptCheckFrequency(1), cel.CustomDecorator(boundCalls))
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

// Evaluate runs a program that has the Options until it ends or has looked at too many items, which is an error.
func Evaluate(program cel.Program, names map[string]any) (ref.Val, *cel.EvalDetails, error) {
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
