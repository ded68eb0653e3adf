package check

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/sim"
)

// Facts contains a driver's description of itself and the kinds of volumes that it makes.
type Facts struct {
	Name, Version string
	// Plugin, Controller, Group and Node are the capabilities of its services.
	Plugin, Controller, Group, Node []string
	// Refused are the kinds of volumes that the driver refuses, with its answers.
	Refused map[Kind]string
	// NotPublished is the answer by which a node plugin refuses raw block volumes; empty if the
	// plugin accepts them.
	NotPublished string
	// InlineRefused is the answer by which a node plugin refuses the inline volumes that the
	// CSIDriver object offers; empty if the plugin accepts them.
	InlineRefused string
	// InlineReadOnly is set if a node plugin accepts inline volumes only with readOnly: true.
	InlineReadOnly bool
	// MountOptionRefused is the answer by which the driver refuses a volume with a mount option;
	// empty if it accepts the volume.
	MountOptionRefused string
	// Addons are its capabilities of CSI-Addons.
	Addons sim.AddonsPromise
	// MaxVolumes bounds the volumes of a node; 0 is no limit.
	MaxVolumes int64
	// Controllers are the controllers of the cluster, including the driver's sidecars.
	Controllers []string
	// SystemCalls lists the system calls by which the driver changes files, by the method of the
	// CSI call that makes them; none for a mock.
	SystemCalls map[string][]point
	// InlineCalls lists these system calls for the calls with inline volumes.
	InlineCalls map[string][]point
	// Requests lists the driver's requests to a stand-in for its HTTP service, by the method of the
	// CSI call; none without such a stand-in.
	Requests map[string][]request
	// NoMounts is the reason why this machine cannot mount anything; empty if it can.
	NoMounts string
	// NoDevices is the reason why this machine has no raw block volumes; empty if it has them.
	NoDevices string
	// NoUnmounts is the reason why a test cannot make unmounting fail here; empty if it can.
	NoUnmounts string
	// NoFUSE is the reason why this machine cannot mount the driver's FUSE file systems; empty if
	// it can, or if its volumes are not FUSE file systems.
	NoFUSE string
	// Overdue is the number of calls that exceeded the patience while the facts were collected.
	Overdue int

	subject Subject
	caps    contract.Caps
	places  map[string]string // by node: the place that it reports
	nodeIDs map[string]string // by node: the answer of NodeGetInfo
	// volumeContext and publishContext are the keys of the contexts of volumes.
	volumeContext, publishContext map[string]bool
}

// Kind is a kind of volume: its form and its permitted access.
type Kind struct{ Form, Access string }

// Provisions reports whether the driver makes volumes.
func (f *Facts) Provisions() bool { return f.caps.Controller.Has("CREATE_DELETE_VOLUME") }

// Persistent reports whether claims can have volumes of the driver. Inline reports whether pod
// specs can define volumes of the driver.
func (f *Facts) Persistent() bool { return f.subject.offers(storagev1.VolumeLifecyclePersistent) }
func (f *Facts) Inline() bool     { return f.subject.offers(storagev1.VolumeLifecycleEphemeral) }

// Attaches reports whether volumes are attached to nodes.
func (f *Facts) Attaches() bool { return f.caps.Controller.Has("PUBLISH_UNPUBLISH_VOLUME") }

// Stages reports whether volumes are staged on nodes.
func (f *Facts) Stages() bool { return f.caps.Node.Has("STAGE_UNSTAGE_VOLUME") }

// Topology reports whether volumes have a topology.
func (f *Facts) Topology() bool { return f.caps.Plugin.Has("VOLUME_ACCESSIBILITY_CONSTRAINTS") }

// OnePlace reports whether a volume of one node can be used on every other node.
func (f *Facts) OnePlace() bool {
	places := slices.Sorted(maps.Values(f.places))
	return !f.Topology() || len(places) > 0 && places[0] == places[len(places)-1]
}

// Expands reports whether volumes can be expanded.
func (f *Facts) Expands() bool { return len(f.expansions()) > 0 }

// Snapshots reports whether the driver takes snapshots.
func (f *Facts) Snapshots() bool { return f.caps.Controller.Has("CREATE_DELETE_SNAPSHOT") }

// GroupSnapshots reports whether the driver takes snapshots of several volumes at once.
func (f *Facts) GroupSnapshots() bool {
	return f.caps.Group.Has("CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT")
}

// sidecars returns the sidecars of the driver's controller plugin.
func (f *Facts) sidecars() []string {
	var names []string
	for _, name := range f.Controllers {
		if sidecar, driver, ok := strings.Cut(name, "/"); ok && driver == f.Name {
			names = append(names, sidecar)
		}
	}
	return names
}

// handle returns the volume handle of a claim if the driver makes no volumes.
func (f *Facts) handle(claim string) string { return cmp.Or(f.subject.Handle, "csisim-check-"+claim) }

// learn reads facts from the driver's answers in a run.
func (f *Facts) learn(events []*trace.Event) {
	for _, e := range events {
		if e.Kind != trace.Call || e.Response == nil {
			continue
		}
		f.caps.Learn(e.Response)
		switch answer := e.Response.(type) {
		case *csi.GetPluginInfoResponse:
			f.Name, f.Version = answer.GetName(), answer.GetVendorVersion()
		case *csi.NodeGetInfoResponse:
			f.MaxVolumes = answer.GetMaxVolumesPerNode()
			f.places[e.Node], f.nodeIDs[e.Node] = pairs("", answer.GetAccessibleTopology().GetSegments()), answer.GetNodeId()
		case *csi.CreateVolumeResponse:
			addKeys(f.volumeContext, answer.GetVolume().GetVolumeContext())
		case *csi.ControllerPublishVolumeResponse:
			addKeys(f.publishContext, answer.GetPublishContext())
		}
	}
	if f.subject.lacksSidecar(sim.Resizer) {
		f.caps.Controller, f.caps.Node = f.caps.Controller.Without("EXPAND_VOLUME"), f.caps.Node.Without("EXPAND_VOLUME")
	}
	if f.subject.lacksSidecar(sim.Snapshotter) {
		f.caps.Controller = f.caps.Controller.Without("CREATE_DELETE_SNAPSHOT")
		f.caps.Group = f.caps.Group.Without("CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT")
	}
	f.Plugin, f.Controller = named(f.caps.Plugin), named(f.caps.Controller)
	f.Group, f.Node = named(f.caps.Group), named(f.caps.Node)
}

func addKeys(to map[string]bool, of map[string]string) {
	for key := range of {
		to[key] = true
	}
}

func named(set contract.Set) []string {
	return slices.Compact(slices.Sorted(slices.Values(set)))
}
