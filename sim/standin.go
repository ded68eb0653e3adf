package sim

import (
	"errors"
	"fmt"
	"slices"

	"github.com/csisim/csisim/internal/driver/standin"
)

// FailStandIn makes an operation of one of a driver's stand-ins fail.
func (c *Simulation) FailStandIn(name string, f standin.Failure) error {
	var known []string
	for _, s := range c.drivers.StandInsOf(name) {
		if slices.Contains(s.Operations(), f.Operation) {
			c.World.Trace.Note("", "%s of driver %s fails from now on", f.Operation, name)
			return s.Fail(f)
		}
		known = append(known, s.Operations()...)
	}
	return &ConfigError{Subject: fmt.Sprintf("operation %q", f.Operation), Problem: fmt.Sprintf("no stand-in of driver %q has it; there are %v", name, known)}
}

// RecoverStandIns ends all failures of a driver's stand-ins.
func (c *Simulation) RecoverStandIns(name string) error {
	c.World.Trace.Note("", "the services of driver %s work again", name)
	var errs []error
	for _, s := range c.drivers.StandInsOf(name) {
		errs = append(errs, s.Recover())
	}
	return errors.Join(errs...)
}
