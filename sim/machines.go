package sim

import (
	"context"
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

// firstAddress is the address of the first node; the others follow it. All are loopback addresses
// if nodes share the network of the machine.
var firstAddress = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// startMachines creates the computers of the nodes and of the control plane. They are in memory if
// all drivers are Go code of this process, otherwise on disk.
func (c *Simulation) startMachines() error {
	if found, want := c.options.KubeletDir.Mistake(); found != "" {
		return &ConfigError{Subject: "the kubelet's directory", Problem: fmt.Sprintf("found %s, want %s", found, want)}
	}
	if c.options.outside() {
		if err := c.run.makeDirectory(c.options); err != nil {
			return err
		}
		c.checks.Watch.Loops = c.run.loops
		c.Wire.RunDir = c.run.work.Path()
		if err := os.MkdirAll(c.logDir(), 0o755); err != nil {
			return &EnvironmentError{Doing: "make the directory of logs", Err: err}
		}
		if err := c.putOnDisk(); err != nil {
			return err
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
		networks, err := c.options.networkOf(i)
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
			programs.Pull = func(ctx context.Context, image string) (RootFS, error) {
				return c.images.Pull(ctx, c.options.Pull, image)
			}
		}
	}
	programs.RefuseUnmapped, programs.Lives = c.options.RefuseUnmapped, c.options.Lives
	n := &cluster.Node{Zone: o.Zone, Options: fakekubelet.Options{
		Name: o.Name, Address: address, Labels: o.labels(), Taints: o.Taints, MaxPods: o.MaxPods, SELinux: o.SELinux, ChownTime: o.ChownTime,
		Version: o.Kubernetes, Migration: o.Migration,
		Machine: m, Runtime: fakekubelet.NewRuntime(c.World, o.Name, programs), Wire: c.Wire, Data: c.checks.Data, API: c.options.reach(), ClusterDNS: c.options.nameServer(),
		Pressure: fakekubelet.Pressure{},
	}}
	if networks != nil {
		n.Network = networks.Node
	}
	return n
}

func (n Node) labels() map[string]string {
	labels := map[string]string{}
	maps.Copy(labels, n.Labels)
	if n.Zone != "" {
		labels[corev1.LabelTopologyZone] = n.Zone
	}
	if n.Region != "" {
		labels[corev1.LabelTopologyRegion] = n.Region
	}
	return labels
}

// makeDirectory creates the directory of the run.
func (r *run) makeDirectory(o Options) error {
	if r.work != nil {
		return nil
	}
	if o.Kept != nil {
		r.work, r.keeps = o.Kept.Dir, true
	} else {
		work, err := workdir.New(o.WorkDir)
		if err != nil {
			return &EnvironmentError{Doing: "put the cluster on disk", Err: err}
		}
		r.work = work
	}
	r.loops = workdir.NewLoops(r.work.Path())
	return nil
}

// putOnDisk moves the machines of the cluster to disk, in mount namespaces if they need them.
func (c *Simulation) putOnDisk() error {
	o, all := c.options, &c.machines
	all.Dir, all.Loops, all.OnDisk, all.Keep = filepath.Join(c.run.work.Path(), c.cluster), c.run.loops, o.onDisk(), c.run.keeps
	all.Namespaces = o.Isolation == Namespace || o.hasImages() || o.Isolation == Auto && o.mounts()
	switch {
	case o.hasImages() && o.Isolation == None:
		return &ConfigError{Subject: "isolation none", Problem: "containers that are programs find their volumes in a mount namespace only"}
	case !all.Namespaces && o.KubeletDir.HasSymlink():
		return &ConfigError{Subject: "the kubelet's directory", Problem: "programs find its symlink on nodes with mount namespaces only: use isolation auto or namespace"}
	case o.Isolation == None:
		all.Apart = "by directories only, as asked for"
	case all.Namespaces:
		all.Through = []string{c.run.work.Path()}
		for _, given := range o.HostPaths {
			real, err := o.KubeletDir.HostPath(given)
			if err != nil {
				return &ConfigError{Subject: "the cluster", Problem: err.Error()}
			}
			all.Through = append(all.Through, real)
		}
	}
	return nil
}

// newMachine makes a computer, with networks if it is the computer of a node with networks.
func (c *Simulation) newMachine(name string, networks *fakekubelet.Networks) (machine.Machine, error) {
	var network *machine.Network
	if networks != nil {
		network = networks.Node
	}
	m, err := c.machines.New(name, network)
	var refusal *namespaces.Refusal
	switch {
	case errors.As(err, &refusal):
		return nil, &EnvironmentError{Doing: "keep nodes apart", Err: fmt.Errorf("%w; drivers that mount nothing run with isolation none", refusal)}
	case err != nil:
		return nil, &EnvironmentError{Doing: "put the cluster on disk", Err: err}
	}
	return m, nil
}

// Written returns the changes of the host's directories by programs of drivers and pods. Nodes with
// private views kept these changes off the host: "node-a: made /etc/x". Changes in the places of a
// driver and in Options.HostPaths are left out. The list is complete when the simulation is closed.
func (c *Simulation) Written() []string { return c.machines.Written }

// Apart returns the reason why the nodes are not fully separate, and the consequences. It is empty
// if they are separate.
func (c *Simulation) Apart() string { return c.machines.Apart }
