package mock

import (
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/csisim/csisim/internal/world/ordered"
)

// Driver is a release of the driver, with the storage system that all of its releases share. The
// storage system contains volumes, snapshots and attachments, and the mounts of each node. All
// instances made by Controller and Node share it, including later ones, like the instances of a
// restarted driver. It is safe for concurrent use.
type Driver struct {
	options Options
	faults  map[string]bool
	// The lists in every answer, which must not be changed.
	controllerCapabilities []*csi.ControllerServiceCapability
	nodeCapabilities       []*csi.NodeServiceCapability
	*system
}

// system is the storage system behind a driver.
type system struct {
	mu           *sync.Mutex // lock of both sites, if there are two
	volumes      map[string]*volume
	volumeNames  map[string]*volume
	everKnown    map[string]bool // ids of all volumes that ever existed
	snapshots    map[string]*snapshot
	snapshotName map[string]*snapshot
	groups       map[string]*groupSnapshot
	groupNames   map[string]*groupSnapshot
	nodes        map[string]*nodeState
	addons       addonsState
	contents     Contents // nil if they are not stored
	// Receives replicated volumes. Its Driver is nil if there is no other site.
	other        Site
	used         []*csi.VolumeCapability // see alike
	usedBytes    int64
	volumeSerial int
	existing     int // volumes of the options
	snapSerial   int
	groupSerial  int
}

type volume struct {
	serial       int
	id, name     string
	bytes        int64
	parameters   ordered.Map[string, string]
	mutable      map[string]string
	context      ordered.Map[string, string]
	capabilities []*csi.VolumeCapability // none: any
	source       *csi.VolumeContentSource
	topology     []*csi.Topology
	attachments  ordered.Map[string, attachment] // by node id
	adverse      *Condition
	copied       bool // created by replication
}

type attachment struct {
	capability *csi.VolumeCapability
	readOnly   bool
}

type snapshot struct {
	serial             int
	id, name, sourceID string
	bytes              int64
	created            *timestamppb.Timestamp
	pollsLeft          int
	group              *groupSnapshot // nil for a snapshot without a group
}

// New returns a storage system. It panics with the message of Options.Validate if the options
// contradict each other.
func New(o Options) *Driver {
	if err := o.Validate(); err != nil {
		panic(fmt.Sprintf("mock driver: %v", err))
	}
	d := release(o, &system{
		mu:           &sync.Mutex{},
		volumes:      map[string]*volume{},
		volumeNames:  map[string]*volume{},
		everKnown:    map[string]bool{},
		snapshots:    map[string]*snapshot{},
		snapshotName: map[string]*snapshot{},
		groups:       map[string]*groupSnapshot{},
		groupNames:   map[string]*groupSnapshot{},
		nodes:        map[string]*nodeState{},
		addons:       newAddonsState(),
		existing:     len(o.Existing),
	})
	for _, e := range o.Existing {
		v := &volume{id: e.ID, bytes: e.CapacityBytes}
		if v.bytes == 0 {
			v.bytes = defaultVolumeBytes
		}
		d.insertVolume(v)
	}
	return d
}

// Release returns another release of the driver, with other options and the same storage system. It
// does not create the existing volumes in the options. It panics like New.
func (d *Driver) Release(o Options) *Driver {
	if err := o.Validate(); err != nil {
		panic(fmt.Sprintf("mock driver: %v", err))
	}
	return release(o, d.system)
}

func release(o Options, on *system) *Driver {
	d := &Driver{options: o, faults: map[string]bool{}, system: on, nodeCapabilities: nodeCapabilities(o)}
	for _, name := range o.Faulty {
		d.faults[name] = true
	}
	d.controllerCapabilities = controllerCapabilities(o, d.faults[promisesTooMuch])
	return d
}

// Name returns the driver's name in the answer of GetPluginInfo.
func (d *Driver) Name() string { return d.options.name() }

// Restart applies the effect of a controller plugin's restart to the storage system. A restart has
// no effect, unless the driver misbehaves.
func (d *Driver) Restart() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.faults[forgetNamesOnRestart] {
		clear(d.volumeNames)
	}
	if d.faults[forgetFencesOnRestart] {
		d.addons.fenced = nil
	}
	if d.faults[forgetAttachmentOnRestart] {
		for _, v := range d.volumes {
			v.attachments = nil
		}
	}
}

// Condition is a problem of a volume.
type Condition struct {
	Reason  string // one CamelCase word
	Message string // for the user
}

// SetCondition makes a volume abnormal, or normal again with nil. The answers contain it if
// volumeCondition or volumeHealth is on. Unknown volumes are an error.
func (d *Driver) SetCondition(volumeID string, c *Condition) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	v := d.volumes[volumeID]
	if v == nil {
		return fmt.Errorf("set condition of volume %s: no such volume", volumeID)
	}
	v.adverse = c
	return nil
}

// Detach detaches a volume from a node in the storage system itself, like its administrator.
func (d *Driver) Detach(volumeID, nodeID string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if v := d.volumes[volumeID]; v != nil {
		v.attachments.Delete(nodeID)
	}
}

func (d *Driver) insertVolume(v *volume) {
	d.volumeSerial++
	v.serial = d.volumeSerial
	if v.id == "" {
		v.id = d.options.idOf(v.name, fmt.Sprintf("%s%04d", d.options.volumeIDPrefix(), v.serial-d.existing))
	}
	d.volumes[v.id] = v
	d.everKnown[v.id] = true
	if v.name != "" {
		d.volumeNames[v.name] = v
	}
	d.usedBytes += v.bytes
}

func (d *Driver) removeVolume(v *volume) {
	delete(d.volumes, v.id)
	if d.volumeNames[v.name] == v {
		delete(d.volumeNames, v.name)
	}
	d.usedBytes -= v.bytes
	d.dropContent(v.id)
}

// now returns the time of a new snapshot.
func (d *Driver) now() *timestamppb.Timestamp {
	if d.options.Now != nil {
		return timestamppb.New(d.options.Now())
	}
	start := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	return timestamppb.New(start.Add(time.Duration(d.snapSerial) * time.Second))
}

func (d *Driver) volumesInOrder() []*volume {
	return slices.SortedFunc(maps.Values(d.volumes), func(a, b *volume) int { return a.serial - b.serial })
}

func (d *Driver) snapshotsInOrder() []*snapshot {
	return slices.SortedFunc(maps.Values(d.snapshots), func(a, b *snapshot) int { return a.serial - b.serial })
}

func (v *volume) message() *csi.Volume {
	m := &csi.Volume{
		VolumeId:      v.id,
		CapacityBytes: v.bytes,
		VolumeContext: v.context.Go(),
	}
	if v.source != nil {
		m.ContentSource = proto.CloneOf(v.source)
	}
	for _, t := range v.topology {
		m.AccessibleTopology = append(m.AccessibleTopology, proto.CloneOf(t))
	}
	return m
}

func (v *volume) nodeIDs() []string { return v.attachments.Keys() }
