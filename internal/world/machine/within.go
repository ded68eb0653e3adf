package machine

import (
	"errors"
	"fmt"
)

// ErrNotIsolated is returned for a machine without its own mount namespace.
var ErrNotIsolated = errors.New("the machine has no mount namespace of its own: run as root, with isolation auto or namespace")

// Within runs f on a thread that has the machine's root directory and mounts; programs that f
// starts have them, too. Mounts that f makes belong to the machine. Within fails with
// ErrNotIsolated if f would change the host. f must not call the machine.
func (d *Disk) Within(f func() error) error {
	if d.own == nil {
		return fmt.Errorf("node %s: %w", d.name, ErrNotIsolated)
	}
	return d.do(f)
}

// Furnish is Within for preparations before the machine's first program. Mounts that f makes belong
// to the empty machine, like its root. Mounts does not list them, and they survive a power-off.
func (d *Disk) Furnish(f func() error) error {
	if err := d.Within(f); err != nil {
		return err
	}
	if err := d.own.furnish(); err != nil {
		return err
	}
	written, err := d.Written()
	if err != nil {
		return err
	}
	d.furnished = map[string]bool{}
	for _, change := range written {
		d.furnished[change] = true
	}
	return d.keepBase()
}
