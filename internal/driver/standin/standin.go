// Package standin replaces the services that a driver needs besides Kubernetes: a file server, a
// cloud. A stand-in serves the programs of one run, in wall time like them, and rejects everything
// that the real service rejects.
package standin

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"

	"github.com/csisim/csisim/internal/world/machine"
)

// StandIn is one service of a run. Its methods are called one after the other.
type StandIn interface {
	// Start begins it. Dir is a directory of the host that is deleted with the run. Programs find
	// it at the same path.
	Start(dir string) error
	// Furnish prepares a machine, before its first program. Its mounts outlast a power-off.
	Furnish(Node) error
	// Operations returns the operations that can be made to fail.
	Operations() []string
	// Fail makes an operation fail.
	Fail(Failure) error
	// Recover ends all failures.
	Recover() error
	// Stop ends it, after all programs. It leaves nothing behind.
	Stop() error
}

// Node is a machine with a driver's plugin: a node of the cluster, or the control plane.
type Node struct {
	Name, Zone string
	Machine    machine.Machine
}

// Failure is an injected error of a stand-in's operation.
type Failure struct {
	Operation string // such as mount; each stand-in has its own operations
	Message   string // empty for the operation's usual one
	Code      int    // exit code or HTTP status; 0 for the default
	Times     int    // number of failures; 0 for any number, until Recover
}

// isolated is a machine with separate mounts.
type isolated interface {
	Within(func() error) error
	Furnish(func() error) error
}

// Within runs f in a place with only the node's mounts and devices.
func (n Node) Within(f func() error) error {
	m, ok := n.Machine.(isolated)
	if !ok {
		return fmt.Errorf("node %s: %w", n.Name, machine.ErrNotIsolated)
	}
	return m.Within(f)
}

// Furnish is like Within, but for preparations before the node's first program.
func (n Node) Furnish(f func() error) error {
	m, ok := n.Machine.(isolated)
	if !ok {
		return fmt.Errorf("node %s: %w", n.Name, machine.ErrNotIsolated)
	}
	return m.Furnish(f)
}

// Run runs a program of the host to its end and returns its standard output.
func Run(name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(cmd.Args, " "), err, strings.TrimSpace(complaint.String()))
	}
	return strings.TrimSpace(out.String()), nil
}
