package promotion

import (
	"fmt"
	"slices"
	"strings"

	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/driver/effect"
	"github.com/csisim/csisim/internal/driver/registrar"
	"github.com/csisim/csisim/internal/real/deploy"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/legacy"
	"github.com/csisim/csisim/sim"
)

// NeverDriver returns the reason why a driver cannot run on a real cluster; empty if it can.
func NeverDriver(d sim.Driver) string {
	switch {
	case d.Servers != nil:
		return "its servers are Go code of this process, which mounts on no real node: give its program"
	case d.Socket != nil:
		return "a driver that runs already on a socket of this machine is in no pod: give its program"
	case len(d.StandIns) > 0:
		return "stand-ins for services run in the simulation only"
	case d.Program != nil && (d.Program.Single || d.Program.PluginSocket != ""):
		return "a program that is single, or serves at a socket of its own, is not put into pods yet"
	case len(d.NodeIDs) > 0:
		return "all pods of a DaemonSet are alike: the node id is the node's name"
	case len(d.Further) > 0:
		return "a driver has one plugin on a node there"
	case d.Replicas > 1 || len(d.External) > 0 || len(d.Addons) > 0 || d.Sidecars.Provisioner.NodeDeployment:
		return "one controller plugin with the usual sidecars is deployed"
	case d.Sidecars.Registrar.Refused == registrar.RefusedStays:
		return "node-driver-registrar exits when the kubelet refuses the driver"
	case d.Mock != nil && d.Mock.CSIAddons != nil:
		return "the reference driver does not serve CSI-Addons in its pod"
	}
	return ""
}

// NeverNode returns the reason why a node cannot exist on a real cluster; empty if it can.
func NeverNode(n sim.Node) string {
	if n.SELinux || n.ChownTime > 0 || n.Kubernetes != 0 || len(n.Migration) > 0 {
		return "nodes have names, labels and taints only so far"
	}
	if n.MaxPods > 0 {
		return "pods of the cluster itself and of drivers take part of its capacity there"
	}
	return ""
}

// NeverFault returns the reason why a fault cannot be injected on a real cluster; empty if it can.
func NeverFault(f *fault.Fault) string {
	if why := effect.Never(f); why != "" {
		return why
	}
	if f.Effect == fault.Kill && !slices.Contains(fault.Victims(), string(f.Victim)) {
		return NeverController(string(f.Victim))
	}
	return ""
}

// NeverVersion returns the reason why no cluster can be created for a subject; empty if one can. An
// existing cluster has its own version.
func NeverVersion(s Subject, o TargetOptions) string {
	_, isKind := o.IsKind()
	if !isKind || o.NodeImage != "" || deploy.NodeImage(s.version()) != "" || s.namesImages() {
		return ""
	}
	return "kind has no image of nodes for it: --node-image names one"
}

// namesImages reports whether the configuration of kind has an image for each node.
func (s Subject) namesImages() bool {
	nodes := kindNodes(s.Kind)
	return len(nodes) > len(s.Nodes) && !slices.ContainsFunc(nodes, func(n v1alpha4.Node) bool { return n.Image == "" })
}

// NeverController returns the reason why a controller cannot be killed on a real cluster; empty if
// it can.
func NeverController(name string) string {
	if name == wholeManager || name == deploy.SnapshotController || strings.Contains(name, "/") {
		return ""
	}
	return name + " is a part of kube-controller-manager, which dies as a whole"
}

// wholeManager means all controllers of the kube-controller-manager.
const wholeManager = "kube-controller-manager"

// Reasons why options of a cluster are not supported on a real one.
const (
	OneCluster    = "a run on a real cluster has one"
	NoHistory     = "a real cluster of today has neither"
	OnlyDefaults  = "the cluster is made with the defaults"
	NoChosenOrder = "a real cluster runs in an order of its own"
)

// Never returns the options of a cluster that a real one does not support; nil if there are none.
// It ignores options that only configure the simulation.
func Never(o sim.Options) error {
	_, calm := o.Strategy.(kernel.Calm)
	for _, field := range []struct {
		is        bool
		what, why string
	}{
		{o.Strategy != nil && !calm || len(o.FaultSpace.Kinds) > 0, "a strategy", NoChosenOrder},
		{len(o.Migration) > 0 || o.Legacy != (legacy.Options{}), "Migration, Legacy", NoHistory},
		{len(o.FeatureGates) > 0 || len(o.Controllers) > 0, "FeatureGates, Controllers", OnlyDefaults},
		{o.SystemCalls, "SystemCalls", "the proxy does not see the driver's system calls"},
		{!o.Start.IsZero(), "Start", "its time is that of the wall clock"},
		{o.NoBoot, "a cluster that is not up", "nodes and drivers are up when a test begins there"},
	} {
		if field.is {
			return &sim.NotPromotedError{What: field.what, Why: field.why}
		}
	}
	for _, n := range o.Nodes {
		if why := NeverNode(n); why != "" {
			return &sim.NotPromotedError{What: "node " + n.Name, Why: why}
		}
	}
	for _, d := range o.Drivers {
		if why := NeverDriver(d); why != "" {
			return &sim.NotPromotedError{What: fmt.Sprintf("driver %q", d.Name), Why: why}
		}
	}
	if i := slices.IndexFunc(o.Faults, func(f *fault.Fault) bool { return NeverFault(f) != "" }); i >= 0 {
		return &sim.NotPromotedError{What: "a fault at " + o.Faults[i].Call, Why: NeverFault(o.Faults[i])}
	}
	return nil
}
