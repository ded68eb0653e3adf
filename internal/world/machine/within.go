package machine

import (
	"errors"
	"fmt"
)

// ErrNotIsolated says that a machine has no mount namespace of its own.
var ErrNotIsolated = errors.New("the machine has no mount namespace of its own: run as root, with isolation auto or namespace")

// Within runs f on a thread that has the machine's root directory and mounts, as do
// the programs that f starts: what f mounts is the machine's own. It fails with
// ErrNotIsolated where f would change the host. f must not call the machine.
func (d *Disk) Within(f func() error) error {
	if d.own == nil {
		return fmt.Errorf("node %s: %w", d.name, ErrNotIsolated)
	}
	return d.do(f)
}

// Furnish is Within for what comes before the machine's programs: what f mounts belongs
// to the empty machine, as does its root. It is not among the machine's mounts, and stays
// when the machine loses power.
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
