package mock

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

const (
	defaultName           = "mock.csi.example.com"
	defaultVendorVersion  = "0.1"
	defaultVolumeIDPrefix = "vol-"
	defaultVolumeBytes    = int64(1 << 30)
)

// Options select the features of the driver. The zero value supports the full life of a volume:
// create and delete, attach (also read-only), stage, SINGLE_NODE_MULTI_WRITER. A switch that is on
// by default is a pointer, so that YAML can set `attach: false`.
type Options struct {
	Name          string `json:"name,omitempty" doc:"Driver name in GetPluginInfo; default mock.csi.example.com."`
	VendorVersion string `json:"vendorVersion,omitempty" doc:"Version in GetPluginInfo; default 0.1."`

	CreateDeleteVolume *bool `json:"createDeleteVolume,omitempty" doc:"Controller capability CREATE_DELETE_VOLUME; default true."`
	Attach             *bool `json:"attach,omitempty" doc:"Controller capability PUBLISH_UNPUBLISH_VOLUME; default true."`
	PublishReadonly    *bool `json:"publishReadonly,omitempty" doc:"Controller capability PUBLISH_READONLY; default the value of attach."`
	Stage              *bool `json:"stage,omitempty" doc:"Node capability STAGE_UNSTAGE_VOLUME; default true."`

	SingleNodeMultiWriter *bool `json:"singleNodeMultiWriter,omitempty" doc:"Controller and node capability SINGLE_NODE_MULTI_WRITER; default true."`

	ControllerExpand bool `json:"controllerExpand,omitempty" doc:"Controller capability EXPAND_VOLUME; default false."`
	NodeExpand       bool `json:"nodeExpand,omitempty" doc:"Node capability EXPAND_VOLUME; default false."`
	OfflineExpand    bool `json:"offlineExpand,omitempty" doc:"Expansion only while the volume is not published (OFFLINE instead of ONLINE); needs controllerExpand; default false."`

	Snapshot      bool `json:"snapshot,omitempty" doc:"Controller capability CREATE_DELETE_SNAPSHOT; default false."`
	SnapshotPolls int  `json:"snapshotPolls,omitempty" doc:"The number of answers in which a new snapshot is not ready to use; default 0."`
	ListSnapshots bool `json:"listSnapshots,omitempty" doc:"Controller capability LIST_SNAPSHOTS; default false."`
	GetSnapshot   bool `json:"getSnapshot,omitempty" doc:"Controller capability GET_SNAPSHOT; default false."`
	GroupSnapshot bool `json:"groupSnapshot,omitempty" doc:"Plugin service GROUP_CONTROLLER_SERVICE, with CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT; needs snapshot; default false."`
	Clone         bool `json:"clone,omitempty" doc:"Controller capability CLONE_VOLUME; default false."`

	ListVolumes               bool `json:"listVolumes,omitempty" doc:"Controller capability LIST_VOLUMES; default false."`
	ListVolumesPublishedNodes bool `json:"listVolumesPublishedNodes,omitempty" doc:"Controller capability LIST_VOLUMES_PUBLISHED_NODES; needs listVolumes or getVolume, and attach; default false."`
	GetVolume                 bool `json:"getVolume,omitempty" doc:"Controller capability GET_VOLUME; default false."`
	GetCapacity               bool `json:"getCapacity,omitempty" doc:"Controller capability GET_CAPACITY; default false."`

	ModifyVolume      bool     `json:"modifyVolume,omitempty" doc:"Controller capability MODIFY_VOLUME; default false."`
	MutableParameters []string `json:"mutableParameters,omitempty" doc:"The accepted keys of mutable parameters; others get InvalidArgument. Default any key."`

	VolumeMountGroup bool   `json:"volumeMountGroup,omitempty" doc:"Node capability VOLUME_MOUNT_GROUP; default false."`
	Stats            bool   `json:"stats,omitempty" doc:"Node capability GET_VOLUME_STATS; default false."`
	VolumeCondition  bool   `json:"volumeCondition,omitempty" doc:"Capability VOLUME_CONDITION of CSI up to 1.12, in the answers of the list, get and stats calls; default false."`
	HealthyMessage   string `json:"healthyMessage,omitempty" doc:"With volumeCondition: the message for a healthy volume; default The volume is healthy."`
	VolumeHealth     bool   `json:"volumeHealth,omitempty" doc:"Capability GET_VOLUME_HEALTH of controller and node, which follows VOLUME_CONDITION in CSI 1.13; default false."`

	Topology    bool   `json:"topology,omitempty" doc:"Plugin capability VOLUME_ACCESSIBILITY_CONSTRAINTS; default false."`
	TopologyKey string `json:"topologyKey,omitempty" doc:"Key of the topology segment of a node without explicit segments; default <name>/zone, value the node id."`

	MaxVolumesPerNode int64  `json:"maxVolumesPerNode,omitempty" doc:"Attach limit of a node, reported by NodeGetInfo and enforced; default 0, unlimited."`
	CapacityBytes     int64  `json:"capacityBytes,omitempty" doc:"Size of the storage pool in bytes; default 0, unlimited."`
	VolumeIDPrefix    string `json:"volumeIDPrefix,omitempty" doc:"The prefix of volume ids, before a number; default vol-."`
	IDsFromNames      bool   `json:"idsFromNames,omitempty" doc:"Ids of volumes, snapshots and groups are the requested names, so a recreated object has the same id; default false: ids are numbered."`

	MinimumVolumeBytes int64 `json:"minimumVolumeBytes,omitempty" doc:"Size in bytes of the smallest volume, reported by GetCapacity: smaller requests get this size; default 0, none."`
	MaximumVolumeBytes int64 `json:"maximumVolumeBytes,omitempty" doc:"Size in bytes of the largest volume, reported by GetCapacity: larger requests get OutOfRange; default 0, none."`

	Strict    *bool `json:"strict,omitempty" doc:"Checks requests against earlier ones: volume_context and publish_context must be those that the driver returned, and a repeated call with another volume_capability, readonly or parameters gets AlreadyExists; default true. Many drivers check only the volume id."`
	Ephemeral bool  `json:"ephemeral,omitempty" doc:"Serves inline volumes (volume_context csi.storage.k8s.io/ephemeral), created at publish and deleted at unpublish; default false."`

	StagingMounts   *bool `json:"stagingMounts,omitempty" doc:"NodeStageVolume mounts on the staging path, and NodePublishVolume binds this mount; default true. If false, it mounts only when it publishes."`
	Marks           *bool `json:"marks,omitempty" doc:"Adds keys to volume_context and publish_context that mark their origin in a trace; default true."`
	NoVolumeContext bool  `json:"noVolumeContext,omitempty" doc:"Makes volumes without a volume_context. Drivers that replace an in-tree plugin must do so, because its volumes cannot store one. Default false."`

	CSIAddons *Addons `json:"csiAddons,omitempty" doc:"Serves CSI-Addons beside CSI; {} for the usual capabilities. Default: it is not served."`

	Existing []ExistingVolume `json:"existing,omitempty" doc:"Volumes that exist before the first call; default none."`
	Faulty   []string         `json:"faulty,omitempty" doc:"Names of defects, see Misbehaviours; default none."`

	// Now returns the times of snapshots. Default: one second after the last snapshot, from
	// 2024-01-01 on.
	Now func() time.Time `json:"-"`
}

// ExistingVolume is a volume made by an administrator, for statically provisioned PVs. It can be
// used with any access mode, as a block device or a file system.
type ExistingVolume struct {
	ID            string `json:"id" doc:"The volume id, the PV's volumeHandle."`
	CapacityBytes int64  `json:"capacityBytes,omitempty" doc:"Size in bytes; default 1 GiB."`
}

// Validate returns all mistakes of the options at once.
func (o Options) Validate() error {
	var mistakes []error
	wrong := func(format string, args ...any) { mistakes = append(mistakes, fmt.Errorf(format, args...)) }
	if o.OfflineExpand && !o.ControllerExpand {
		wrong("offlineExpand needs controllerExpand")
	}
	if o.ListVolumesPublishedNodes && !o.attach() {
		wrong("listVolumesPublishedNodes needs attach")
	}
	if o.ListVolumesPublishedNodes && !o.ListVolumes && !o.GetVolume {
		wrong("listVolumesPublishedNodes needs listVolumes or getVolume")
	}
	if o.GroupSnapshot && !o.Snapshot {
		wrong("groupSnapshot needs snapshot")
	}
	if o.PublishReadonly != nil && *o.PublishReadonly && !o.attach() {
		wrong("publishReadonly needs attach")
	}
	if o.MinimumVolumeBytes < 0 || o.MaximumVolumeBytes < 0 || o.MaximumVolumeBytes > 0 && o.MinimumVolumeBytes > o.MaximumVolumeBytes {
		wrong("minimumVolumeBytes and maximumVolumeBytes must not be negative, nor the minimum more than the maximum")
	}
	for _, mistake := range o.CSIAddons.mistakes() {
		wrong("%s", mistake)
	}
	if o.IDsFromNames && o.VolumeIDPrefix != "" {
		wrong("idsFromNames and volumeIDPrefix exclude each other")
	}
	for _, name := range []string{createNotIdempotent, cloneNotIdempotent, snapshotNotIdempotent} {
		if o.IDsFromNames && slices.Contains(o.Faulty, name) {
			wrong("faulty %s makes several things of one name, which have one id with idsFromNames", name)
		}
	}
	if o.MaxVolumesPerNode < 0 || o.CapacityBytes < 0 || o.SnapshotPolls < 0 {
		wrong("maxVolumesPerNode, capacityBytes and snapshotPolls must not be negative")
	}
	seen := map[string]bool{}
	for _, v := range o.Existing {
		if v.ID == "" || seen[v.ID] || v.CapacityBytes < 0 {
			wrong("existing volume %q: want a unique id and a capacity that is not negative", v.ID)
		}
		seen[v.ID] = true
	}
	for _, name := range o.Faulty {
		if _, ok := misbehaviour(name); !ok {
			wrong("faulty: there is no misbehaviour %q, see mock.Misbehaviours", name)
		}
	}
	return errors.Join(mistakes...)
}

func onByDefault(p *bool) bool { return p == nil || *p }

func (o Options) createDeleteVolume() bool    { return onByDefault(o.CreateDeleteVolume) }
func (o Options) attach() bool                { return onByDefault(o.Attach) }
func (o Options) stage() bool                 { return onByDefault(o.Stage) }
func (o Options) singleNodeMultiWriter() bool { return onByDefault(o.SingleNodeMultiWriter) }
func (o Options) stagingMounts() bool         { return onByDefault(o.StagingMounts) }
func (o Options) strict() bool                { return onByDefault(o.Strict) }
func (o Options) marks() bool                 { return onByDefault(o.Marks) }
func (o Options) publishReadonly() bool       { return o.attach() && onByDefault(o.PublishReadonly) }

// idOf returns the id of an object with a name.
func (o Options) idOf(name, numbered string) string {
	if o.IDsFromNames {
		return name
	}
	return numbered
}

func (o Options) name() string           { return or(o.Name, defaultName) }
func (o Options) vendorVersion() string  { return or(o.VendorVersion, defaultVendorVersion) }
func (o Options) volumeIDPrefix() string { return or(o.VolumeIDPrefix, defaultVolumeIDPrefix) }
func (o Options) topologyKey() string    { return or(o.TopologyKey, o.name()+"/zone") }

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
