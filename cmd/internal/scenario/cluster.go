package scenario

import (
	"fmt"
	"reflect"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/fakecontroller"
	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/world/feature"
	"github.com/csisim/csisim/internal/world/migration"
	"github.com/csisim/csisim/internal/world/version"
	"github.com/csisim/csisim/sim"
)

// Cluster is the shape of the simulated cluster.
type Cluster struct {
	Nodes Nodes `json:"nodes,omitempty" doc:"The nodes: a number, or a list with names; default node-a and node-b."`

	KubeletDir KubeletDir `json:"kubeletDir,omitzero" example:"/var/lib/k0s/kubelet" doc:"The directory of the kubelet on each node; default /var/lib/kubelet. With path and symlinkTo or symlinkFrom, a symlink is on the way."`

	Migration Migration `json:"migration,omitempty" doc:"The state of in-tree plugins by name: disabled, the plugin itself acts; enabled, the driver acts on nodes that declare it; complete. The default depends on the version."`
	Legacy    *Legacy   `json:"legacy,omitempty" doc:"How a cluster before Kubernetes 1.17 differs from the default."`

	Controllers Controllers `json:"controllers,omitempty" doc:"Controllers of kube-controller-manager that only run if its flag --controllers names them."`

	SnapshotController fakecontroller.SnapshotControllerOptions `json:"snapshot-controller,omitzero" doc:"Flags of the snapshot-controller, which runs beside drivers that make snapshots."`

	AddonsManager sim.AddonsManagerOptions `json:"csi-addons-controller-manager,omitzero" doc:"Flags of the controller manager of CSI-Addons, which runs if a driver has sidecars of CSI-Addons."`

	Kind *KindConfig `json:"kind,omitempty" example:"{networking: {ipFamily: ipv6}}" doc:"Configuration of kind for a cluster that --on kind makes, kind.x-k8s.io/v1alpha4: networking, featureGates, kubeadmConfigPatches, nodes with extraMounts, …; its workers are the nodes in their order. A simulation ignores it."`

	FeatureGates FeatureGates `json:"featureGates,omitempty" doc:"Feature gates of Kubernetes that differ from v1.36."`
}

// Controllers are controllers that are off by default.
type Controllers struct {
	SELinuxWarning bool `json:"selinux-warning-controller,omitempty" doc:"Events on pods that share a volume and have different SELinux labels or policies, since Kubernetes 1.33; default false."`
}

func (c Controllers) names() (names []string) {
	if c.SELinuxWarning {
		names = append(names, fakecontroller.SELinuxWarningName)
	}
	return names
}

// FeatureGates are the feature gates that a scenario can set.
type FeatureGates struct {
	CSIVolumeHealth bool `json:"CSIVolumeHealth,omitempty" doc:"The kubelet reads the condition of volumes together with their statistics; default false."`
	SELinuxMount    bool `json:"SELinuxMount,omitempty" doc:"Volumes of any access mode are mounted with the pod's SELinux label, not only those of one pod; default false."`

	CrossNamespaceVolumeDataSource bool `json:"CrossNamespaceVolumeDataSource,omitempty" doc:"The API server keeps a dataSourceRef of a claim to another namespace; csi-provisioner has a separate gate. Default false."`

	VolumeLimitScaling bool `json:"VolumeLimitScaling,omitempty" doc:"A CSIDriver with preventPodSchedulingIfMissing keeps pods with its volumes off nodes without the driver; default false."`
}

func (f FeatureGates) gates() feature.Gates {
	return feature.Gates{
		feature.CSIVolumeHealth:                f.CSIVolumeHealth,
		feature.CrossNamespaceVolumeDataSource: f.CrossNamespaceVolumeDataSource,
		feature.SELinuxMount:                   f.SELinuxMount,
		feature.VolumeLimitScaling:             f.VolumeLimitScaling,
	}
}

// Nodes are the nodes of a cluster. A file has a list of nodes, or their number.
type Nodes []Node

// Node is one node of the cluster.
type Node struct {
	Name    string            `json:"name" want:"required" example:"node-a" doc:"The node's name."`
	Zone    string            `json:"zone,omitempty" example:"zone-a" doc:"Its label topology.kubernetes.io/zone."`
	Region  string            `json:"region,omitempty" example:"r1" doc:"Its label topology.kubernetes.io/region."`
	Labels  map[string]string `json:"labels,omitempty" doc:"Further labels."`
	Taints  []Taint           `json:"taints,omitempty" doc:"Its taints."`
	MaxPods int               `json:"maxPods,omitempty" doc:"Its pod capacity; default 110."`

	Kubernetes Version   `json:"kubernetes,omitempty" example:"1.36" doc:"The version of its kubelet; the default is the scenario's version."`
	Migration  Migration `json:"migration,omitempty" doc:"In-tree plugins that its kubelet treats differently from the control plane."`

	SELinux   bool            `json:"seLinux,omitempty" doc:"The node enforces SELinux, with the file labels of Fedora; default false."`
	ChownTime strict.Duration `json:"chownTime,omitempty" example:"10ms" doc:"The time that its kubelet needs to give one file of a volume to a pod's fsGroup; default none."`
}

// Taint is a taint of a node.
type Taint struct {
	Key    string `json:"key" want:"required" example:"node.kubernetes.io/out-of-service" doc:"The taint's key."`
	Value  string `json:"value,omitempty" doc:"The taint's value."`
	Effect string `json:"effect" want:"required" enum:"NoSchedule|PreferNoSchedule|NoExecute" doc:"Its effect on pods."`
}

// maxNodes bounds the number of nodes, so that a mistyped number is reported at once.
const maxNodes = 10_000

// Wanted describes both forms.
func (Nodes) Wanted() string { return "a number of nodes from 1, or a list of nodes with their names" }

// UnmarshalStrict reads either form.
func (ns *Nodes) UnmarshalStrict(n *strict.Node) {
	if n.IsList() {
		n.Decode((*[]Node)(ns))
		if len(*ns) == 0 {
			n.Report("an empty list", ns.Wanted())
		}
		return
	}
	var number uint
	if n.IsMap() || n.IsNull() {
		n.ReportWrong(ns.Wanted())
		return
	}
	n.Decode(&number)
	if number == 0 || number > maxNodes {
		n.ReportWrong(ns.Wanted())
		return
	}
	for i := range int(number) {
		*ns = append(*ns, Node{Name: nodeName(i)})
	}
}

// nodeName returns node-a to node-z, then node-27 and so on.
func nodeName(i int) string {
	if i < 26 {
		return "node-" + string(rune('a'+i))
	}
	return fmt.Sprintf("node-%d", i+1)
}

// JSONSchema allows both forms.
func (Nodes) JSONSchema() map[string]any {
	return map[string]any{"oneOf": []any{
		map[string]any{"type": "integer", "minimum": 1, "maximum": maxNodes},
		map[string]any{"type": "array", "minItems": 1, "items": map[string]any{"$ref": reflect.TypeFor[Node]()}},
	}}
}

func (ns Nodes) options() []sim.Node {
	all := make([]sim.Node, len(ns))
	for i, n := range ns {
		all[i] = sim.Node{Name: n.Name, Labels: n.Labels, Zone: n.Zone, Region: n.Region, Kubernetes: version.Version(n.Kubernetes), Migration: migration.Plugins(n.Migration), MaxPods: n.MaxPods, SELinux: n.SELinux, ChownTime: n.ChownTime.Duration}
		for _, t := range n.Taints {
			all[i].Taints = append(all[i].Taints, t.taint())
		}
	}
	return all
}

func (t Taint) taint() corev1.Taint {
	return corev1.Taint{Key: t.Key, Value: t.Value, Effect: corev1.TaintEffect(t.Effect)}
}
