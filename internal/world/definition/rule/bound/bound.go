// Package bound limits the time and memory of CEL expressions in scenarios and in the rules of
// custom resource definitions.
package bound

import (
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

const (
	// maxSteps limits the items that all, exists, map, filter and the set functions visit in one
	// evaluation, including nested ones. It is a count instead of a time, so that a run is
	// repeatable on any machine.
	maxSteps = 2_000_000
	// maxRange is the longest list that lists.range makes.
	maxRange = 10_000
)

// Options returns the options of a program for Evaluate. The program's loops check at each item
// whether they may continue, and calls that create lists or texts are limited.
func Options(options ...cel.ProgramOption) []cel.ProgramOption {
	return append(options, cel.InterruptCheckFrequency(1), cel.CustomDecorator(boundCalls))
}

// counter counts the steps of one evaluation.
type counter struct {
	interpreter.Activation
	steps int
}

// ResolveName counts an item when a loop checks for interruption, and forwards all other names.
func (c *counter) ResolveName(name string) (any, bool) {
	if name == "#interrupted" {
		c.steps++
		return c.steps > maxSteps, true
	}
	return c.Activation.ResolveName(name)
}

// Evaluate runs a program with the Options until it ends. Visiting too many items is an error.
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
