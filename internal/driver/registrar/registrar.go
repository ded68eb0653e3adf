// Package registrar replaces node-driver-registrar: it registers a CSI driver with the kubelet of
// its node.
package registrar

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"time"

	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/trace"
)

// Name is a registrar's name in traces.
const Name = "registrar"

// Options name the driver and its sockets.
type Options struct {
	// Node is the name of the node.
	Node string
	// Machine is the node's computer.
	Machine machine.Machine
	// Endpoint is the driver's socket in the kubelet's view.
	Endpoint string
	// RegistrationDir is the directory of the registration socket. Default: Directory.
	RegistrationDir string
	// Driver is the driver's name in traces and faults until GetPluginInfo returns its own.
	// Default: none.
	Driver string
	// RestartDelay returns the supervisor's virtual delay before the n-th restart, counted from 1.
	// A negative delay leaves the program down until Start. Default: sidecar.CrashLoop.
	RestartDelay func(n int) time.Duration
	// StaysWhenRefused leaves the program running when the kubelet refuses the driver, as
	// registrars other than node-driver-registrar do. Default: false, it exits. C-REG-3
	StaysWhenRefused bool
}

// Registrar is one instance of the program, across all its restarts. Its methods must not be called
// from its own processes.
type Registrar struct {
	world   *component.World
	wire    *wire.Wire
	options Options

	program    *kernel.Group // nil while it is down
	listener   machine.Listener
	driver     string // as the driver returned it
	registered bool
	refusal    string
}

// Directory returns the directory in which the kubelet of a machine looks for registration sockets.
// K-PATH-2
func Directory(m machine.Machine) string { return m.Layout().KubeletDir() + "/plugins_registry" }

// New returns the registrar of one driver on one node. It is not running yet.
func New(w *component.World, wire *wire.Wire, o Options) *Registrar {
	if o.RegistrationDir == "" {
		o.RegistrationDir = Directory(o.Machine)
	}
	if o.RestartDelay == nil {
		o.RestartDelay = sidecar.CrashLoop
	}
	return &Registrar{world: w, wire: wire, options: o, driver: o.Driver}
}

// Start starts the program again unless it runs.
func (r *Registrar) Start() {
	if r.program != nil {
		return
	}
	name := r.world.Named(Name) + "/" + path.Join(r.options.Node, path.Base(path.Dir(r.options.Endpoint)))
	r.program = kernel.NewGroup(name)
	r.world.Kernel.Spawn(r.program, name, r.supervise)
}

// Stop ends the program with SIGTERM, on which it removes its socket. C-REG-4
func (r *Registrar) Stop() error {
	listener := r.end()
	if listener == nil {
		return nil
	}
	if err := listener.Close(); err != nil {
		return fmt.Errorf("stop the registrar of %s on node %s: %w", r.driver, r.options.Node, err)
	}
	return nil
}

// Kill ends the program with SIGKILL: its socket stays without a listener.
func (r *Registrar) Kill() {
	if listener := r.end(); listener != nil {
		listener.Abandon()
	}
}

// Running reports whether the program was started and neither stopped nor killed, and its
// supervisor will restart it.
func (r *Registrar) Running() bool { return r.program != nil }

// Registered reports whether the kubelet has accepted the driver from the current instance of the
// program.
func (r *Registrar) Registered() bool { return r.registered }

// Refusal returns the kubelet's last error for the driver. It is empty if the kubelet has accepted
// the driver or has not decided yet.
func (r *Registrar) Refusal() string { return r.refusal }

// Socket returns the registration socket, as a path on the node; empty until the driver has
// returned its name.
func (r *Registrar) Socket() string {
	if r.driver == "" {
		return ""
	}
	return path.Join(r.options.RegistrationDir, r.driver+"-reg.sock")
}

// end ends the processes and returns the socket that was served, if any.
func (r *Registrar) end() machine.Listener {
	if r.program != nil {
		r.program.Crash()
	}
	listener := r.listener
	r.program, r.listener, r.registered = nil, nil, false
	return listener
}

// clearSocket removes the socket that an earlier instance left. C-REG-2
func (r *Registrar) clearSocket() error {
	m, socket := r.options.Machine, r.Socket()
	info, err := m.Lstat(socket)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if info.Mode().Type() != fs.ModeSocket {
		return fmt.Errorf("%s is there and is no socket", socket)
	}
	return m.Remove(socket)
}

func (r *Registrar) note(format string, args ...any) {
	r.world.Trace.Add(trace.Entry{
		Kind: trace.Registration, Actor: Name, Node: r.options.Node, Driver: r.driver,
		Method: "exit", Message: fmt.Sprintf(format, args...),
	})
}
