package sim

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/fakekubelet"
	"github.com/csisim/csisim/internal/cluster"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/namespaces"
	"github.com/csisim/csisim/internal/world/workdir"
)

// controlPlaneName is the machine on which controller plugins run; those of further replicas have a
// number.
const controlPlaneName = "control-plane"

// firstAddress is the address of the first node; the others follow it. All are loopback addresses
// if nodes share the network of the machine.
var firstAddress = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// startMachines creates the computers of the nodes and the computer of the control plane: in memory
// if all drivers are Go code of this process, otherwise on disk.
func (c *Simulation) startMachines() error {
	if found, want := c.options.KubeletDir.Mistake(); found != "" {
		return &ConfigError{"the kubelet's directory", fmt.Sprintf("found %s, want %s", found, want)}
	}
	if c.options.outside() {
		if err := c.run.makeDirectory(c.options.WorkDir); err != nil {
			return err
		}
		c.checks.Watch.Loops = c.run.loops
		c.Wire.RunDir = c.run.work.Path()
		if err := os.MkdirAll(c.logDir(), 0o755); err != nil {
			return &EnvironmentError{"make the directory of logs", err}
		}
	}
	if err := c.unpackImages(); err != nil {
		return err
	}
	if err := c.startControlPlanes(); err != nil {
		return err
	}
	address := firstAddress
	for i, o := range c.options.Nodes {
		networks, err := c.networkOf(i)
		if err != nil {
			return err
		}
		if networks != nil {
			address = networks.Node.Address
		}
		m, err := c.newMachine(o.Name, networks)
		if err != nil {
			return err
		}
		c.nodes.All = append(c.nodes.All, c.newNode(o, address.String(), m, networks))
		address = address.Next()
	}
	return nil
}

func (c *Simulation) newNode(o Node, address string, m machine.Machine, networks *fakekubelet.Networks) *cluster.Node {
	var programs fakekubelet.RuntimeOptions
	if c.options.hasImages() {
		programs = fakekubelet.RuntimeOptions{Images: c.options.Images, RootFS: c.options.RootFS, Machine: m, LogDir: c.logDir(), Networks: networks}
		if c.options.Pull != nil {
			programs.Pull = c.pull
		}
	}
	programs.RefuseUnmapped, programs.Lives = c.options.RefuseUnmapped, c.options.Lives
	n := &cluster.Node{Options: fakekubelet.Options{
		Name: o.Name, Address: address, Labels: o.labels(), Taints: o.Taints, MaxPods: o.MaxPods, SELinux: o.SELinux, ChownTime: o.ChownTime,
		Version: o.Kubernetes, Migration: o.Migration,
		Machine: m, Runtime: fakekubelet.NewRuntime(c.World, o.Name, programs), Wire: c.Wire, Data: c.checks.Data, API: c.options.reach(), ClusterDNS: c.nameServer(),
		Pressure: fakekubelet.Pressure{},
	}}
	if networks != nil {
		n.Network = networks.Node
	}
	return n
}

func (n Node) labels() map[string]string {
	labels := maps.Clone(n.Labels)
	if labels == nil {
		labels = map[string]string{}
	}
	if n.Zone != "" {
		labels[corev1.LabelTopologyZone] = n.Zone
	}
	if n.Region != "" {
		labels[corev1.LabelTopologyRegion] = n.Region
	}
	return labels
}

// makeDirectory creates the directory of the run.
func (r *run) makeDirectory(parent string) error {
	if r.work != nil {
		return nil
	}
	work, err := workdir.New(parent)
	if err != nil {
		return &EnvironmentError{"put the cluster on disk", err}
	}
	r.work, r.loops = work, workdir.NewLoops(work.Path())
	return nil
}

// newMachine creates a computer, with networks if it is the computer of a node with networks.
func (c *Simulation) newMachine(name string, networks *fakekubelet.Networks) (machine.Machine, error) {
	if c.run.work == nil {
		return machine.NewMemoryWith(name, c.options.KubeletDir), nil
	}
	dir := filepath.Join(c.run.work.Path(), c.cluster, name)
	wanted := c.options.Isolation
	if c.options.hasImages() {
		if wanted == None {
			return nil, &ConfigError{"isolation none", "containers that are programs find their volumes in a mount namespace only"}
		}
		wanted = Namespace
	}
	if wanted == Namespace || (wanted == Auto && c.options.mounts()) {
		return c.newApart(name, dir, networks)
	}
	if c.options.KubeletDir.HasSymlink() {
		return nil, &ConfigError{"the kubelet's directory", "programs find its symlink on nodes with mount namespaces only: use isolation auto or namespace"}
	}
	if wanted == None {
		c.apart = "by directories only, as asked for"
	}
	m, err := machine.NewDiskWith(name, dir, c.options.KubeletDir)
	if err != nil {
		return nil, &EnvironmentError{"put the cluster on disk", err}
	}
	c.keepTime(m)
	m.SeeLoops(c.run.loops.Attached)
	return m, nil
}

// keepTime gives a machine the cluster's time, with which it writes files to its disk.
func (c *Simulation) keepTime(d *machine.Disk) {
	moved := func() { d.ClockMoved(c.World.Kernel.Elapsed()) }
	moved()
	c.World.Kernel.OnClock(moved)
}

// newApart makes a machine in a mount namespace of its own.
func (c *Simulation) newApart(name, dir string, networks *fakekubelet.Networks) (machine.Machine, error) {
	through := []string{c.run.work.Path()}
	for _, given := range c.options.HostPaths {
		real, err := c.options.KubeletDir.HostPath(given)
		if err != nil {
			return nil, &ConfigError{"the cluster", err.Error()}
		}
		through = append(through, real)
	}
	var network *machine.Network
	if networks != nil {
		network = networks.Node
	}
	m, err := machine.NewNamespaceWith(name, dir, c.options.onDisk(), c.options.KubeletDir, network, through...)
	var refusal *namespaces.Refusal
	switch {
	case errors.As(err, &refusal):
		return nil, &EnvironmentError{"keep nodes apart", fmt.Errorf("%w; drivers that mount nothing run with isolation none", refusal)}
	case err != nil:
		return nil, &EnvironmentError{"put the cluster on disk", err}
	case namespaces.Rootless():
		c.apart = "by mount namespaces of an ordinary user: no loop devices, no device nodes, no change of owners"
		if err := machine.FUSERefused(); err != nil {
			c.apart += fmt.Sprintf(", no FUSE (%v)", err)
		}
	}
	if cause := m.SharesProcesses(); cause != nil {
		c.apart = cmp.Or(c.apart, "by mount namespaces") + fmt.Sprintf("; they share processes (%v), so a program that enters the mount namespace of process 1 leaves its node", cause)
	}
	c.keepTime(m)
	m.SeeLoops(c.run.loops.Attached)
	c.watchProcessOne(m)
	return m, c.run.loops.AddMemory(m.Memory()...)
}

// closeMachine frees the loop devices of a machine's memory while that is known to be the
// machine's, and closes it.
func (c *Simulation) closeMachine(m machine.Machine) (err error) {
	if d, is := m.(*machine.Disk); is {
		err = c.run.loops.RemoveMemory(d.Memory()...)
	}
	return errors.Join(err, m.Close())
}

// Apart returns the reason and the consequences if the nodes are not as separate as they can be;
// otherwise it is empty.
func (c *Simulation) Apart() string { return c.apart }
