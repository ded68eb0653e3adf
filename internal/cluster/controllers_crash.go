package cluster

import (
	"fmt"
	"slices"

	"github.com/csisim/csisim/internal/world/trace"
)

// Named returns the controllers with a name: one, all replicas, the leader, or all of
// kube-controller-manager.
func (c *Controllers) Named(name string) ([]*Controller, error) {
	if found := c.named(name); len(found) > 0 {
		return found, nil
	}
	known := c.Names()
	if slices.Contains(known, name) {
		return nil, &ConfigError{fmt.Sprintf("controller %q", name), "none of its replicas holds the lease"}
	}
	known = append(known, ControllerManager)
	slices.Sort(known)
	return nil, &ConfigError{fmt.Sprintf("controller %q", name), fmt.Sprintf("there is no such controller; there are %v", known)}
}

// Kill crashes a controller or sidecar: its memory is lost.
func (c *Controllers) Kill(name string) error {
	found, err := c.Named(name)
	if err != nil {
		return err
	}
	c.Note(name, trace.Killed)
	for _, ctl := range found {
		c.Awaiting.Settle(ctl)
		ctl.Crash()
	}
	return nil
}

// Restart starts a controller or sidecar unless it runs.
func (c *Controllers) Restart(name string) error {
	found, err := c.Named(name)
	if err != nil {
		return err
	}
	c.Note(name, trace.Started)
	for _, ctl := range found {
		c.Awaiting.Settle(ctl)
		if !ctl.Runs() {
			ctl.Run()
		}
	}
	return nil
}

// Note records that the controllers with a name end or start.
func (c *Controllers) Note(name string, verb trace.Verb) {
	c.In.World.Trace.Add(trace.Transition{Part: trace.Controller, Name: name, Verb: verb}.Entry(""))
}
