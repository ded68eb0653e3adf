package sim

import (
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/version"
	"github.com/csisim/csisim/internal/world/workdir"
)

// Kept is the state of a cluster that outlives it: the objects of its API, and its directory with
// the files of nodes and drivers. The next cluster with this state begins as after a reboot of all
// nodes. Drivers are programs or sockets, because the memory of this process is not kept.
type Kept struct {
	// Dir is the directory of the cluster. The caller closes it, after the cluster.
	Dir *workdir.Dir
	// Starts is the number of earlier clusters with this state. Default: 0, a new cluster.
	Starts uint32
	// Restore puts the objects of the last cluster into the store. It is called before the first
	// component starts, unless the cluster is new.
	Restore func(*store.Store) error
	// Nodes and Drivers are the names of the last cluster's nodes and drivers, and Kubernetes is
	// its version. This cluster may have more, and a newer version. The CSIDriver objects of the
	// drivers are among the restored objects, unless they were deleted.
	Nodes, Drivers []string
	Kubernetes     version.Version
}

// checkKept returns the first reason why the cluster cannot have a state that outlives it, or
// cannot take over the state of an earlier cluster.
func (o Options) checkKept() error {
	if o.Kept == nil {
		return nil
	}
	var nodes, drivers []string
	for _, n := range o.Nodes {
		nodes = append(nodes, n.Name)
	}
	for _, d := range o.Drivers {
		if problem := d.losesState(); problem != "" {
			return &ConfigError{Subject: fmt.Sprintf("driver %q", d.Name), Problem: problem}
		}
		drivers = append(drivers, d.Name)
	}
	if o.starts() == 0 {
		return nil
	}
	for _, name := range o.Kept.Nodes {
		if !slices.Contains(nodes, name) {
			return o.keptError("its nodes are %v, and this cluster lacks %s: want all of them", o.Kept.Nodes, name)
		}
	}
	for _, name := range o.Kept.Drivers {
		// A driver that has no name here may be this driver.
		if !slices.Contains(drivers, name) && !slices.Contains(drivers, "") {
			return o.keptError("its drivers are %v, and this cluster lacks %s: want all of them", o.Kept.Drivers, name)
		}
	}
	if o.Kubernetes.Minor() < o.Kept.Kubernetes.Minor() {
		return o.keptError("it has the objects of Kubernetes %s, and this cluster has %s: want that version or a newer one", o.Kept.Kubernetes, o.Kubernetes)
	}
	return nil
}

func (o Options) keptError(problem string, args ...any) error {
	return &ConfigError{Subject: "the state in " + o.Kept.Dir.Path(), Problem: fmt.Sprintf(problem, args...)}
}

// losesState returns the reason why a driver cannot serve its volumes after the end of this
// process; empty if it can.
func (d Driver) losesState() string {
	switch {
	case d.Mock != nil || d.Servers != nil:
		return "its volumes are in the memory of csisim and are lost with it: want a driver that is a program"
	case len(d.StandIns) > 0:
		return "its service is a stand-in in the memory of csisim and is lost with it: want a driver without stand-ins"
	case d.Program != nil && len(d.Program.NodePaths) > 0:
		return fmt.Sprintf("its nodePaths %v are in memory and are lost with csisim: want its files in {{.StateDir}} or {{.NodeStateDir}}", d.Program.NodePaths)
	}
	return ""
}

// starts returns the number of earlier clusters with the state of this one.
func (o Options) starts() uint32 {
	if o.Kept == nil {
		return 0
	}
	return o.Kept.Starts
}

// knew reports whether an earlier cluster with the state had the driver.
func (o Options) knew(driver string) bool {
	return o.starts() > 0 && slices.Contains(o.Kept.Drivers, driver)
}

// restore restores the objects of the last cluster. The containers of its pods have ended with the
// power of their nodes.
func (c *Simulation) restore() error {
	if c.options.starts() == 0 {
		return nil
	}
	if err := c.options.Kept.Restore(c.World.Store); err != nil {
		return err
	}
	for _, n := range c.nodes.All {
		for pod := range store.Indexed[*corev1.Pod](c.World.Store, kind.PodsByNode, n.Name) {
			n.Runtime.Recover(pod)
		}
	}
	return nil
}
