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
