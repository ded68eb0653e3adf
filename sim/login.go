package sim

import (
	"context"
	"strings"

	"github.com/csisim/csisim/internal/world/machine"
)

// Host is a node, as seen by its administrator.
type Host struct {
	Name, Address string
	cluster       *Simulation
	machine       machine.Machine
	network       *machine.Network
}

// Hosts returns all nodes.
func (c *Simulation) Hosts() []Host {
	var all []Host
	for _, n := range c.nodes.All {
		all = append(all, Host{Name: n.Name, Address: n.Address, cluster: c, machine: n.Machine, network: n.Network})
	}
	return all
}

// Run runs the administrator's shell on the node, with the node's mounts and processes, until it
// ends or ctx is done. A terminal has the sizes in s.
func (h Host) Run(ctx context.Context, args []string, s machine.Stdio, terminal bool) (code int, err error) {
	apart, ok := h.machine.(interface{ Within(func() error) error })
	if !ok {
		return 0, machine.ErrNotIsolated
	}
	if err := apart.Within(func() error { return nil }); err != nil {
		return 0, err
	}
	command := machine.Command{Path: h.shell(), Args: args, Env: []string{"HOME=/root"}, Bare: true, Dir: "/", Attached: &s, Terminal: terminal, Network: h.network, Administrator: true}
	if terminal {
		command.Env = append(command.Env, "TERM=xterm")
	}
	process, err := h.machine.Start(command)
	if err != nil {
		return 0, err
	}
	return process.Await(ctx)
}

// shell returns the login shell of root in the node's /etc/passwd. Default: /bin/sh.
func (h Host) shell() string {
	users, _ := h.machine.ReadFile("/etc/passwd") // a machine may have none
	for line := range strings.Lines(string(users)) {
		if fields := strings.Split(strings.TrimSpace(line), ":"); len(fields) == 7 && fields[2] == "0" && fields[6] != "" {
			return fields[6]
		}
	}
	return "/bin/sh"
}

// KubeletRuns reports whether the node's kubelet runs.
func (h Host) KubeletRuns() (runs bool) {
	h.cluster.Exclusively(func() { runs = h.cluster.nodes.HasKubelet(h.Name) })
	return runs
}

// StartKubelet starts the node's kubelet unless it runs.
func (h Host) StartKubelet() (err error) {
	h.cluster.Exclusively(func() {
		if !h.cluster.nodes.HasKubelet(h.Name) {
			err = h.cluster.Start(Kubelet(h.Name))
		}
	})
	return err
}

// StopKubelet stops the node's kubelet if it runs. The node's containers continue to run.
func (h Host) StopKubelet() (err error) {
	h.cluster.Exclusively(func() {
		if h.cluster.nodes.HasKubelet(h.Name) {
			err = h.cluster.Stop(Kubelet(h.Name))
		}
	})
	return err
}
