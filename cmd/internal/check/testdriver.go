package check

import (
	"fmt"
	"maps"
	"slices"

	storagev1 "k8s.io/api/storage/v1"
	"sigs.k8s.io/yaml"
)

// Classes names the cluster's classes with which the storage suite creates volumes and snapshots.
// If a name is empty, the suite creates a class without parameters itself.
type Classes struct{ Storage, Snapshot, GroupSnapshot string }

// testDriver is the file that describes the capabilities of a driver to Kubernetes' external
// storage suite. (kubernetes v1.36.3, test/e2e/storage/external/external.go: driverDefinition)
type testDriver struct {
	StorageClass       *testClass     `json:",omitempty"`
	SnapshotClass      *testClass     `json:",omitempty"`
	GroupSnapshotClass *testClass     `json:",omitempty"`
	InlineVolumes      []inlineVolume `json:",omitempty"`
	DriverInfo         testDriverInfo
}

type testClass struct {
	FromName              bool   `json:",omitempty"`
	FromExistingClassName string `json:",omitempty"`
}

type inlineVolume struct {
	Attributes map[string]string `json:",omitempty"`
	ReadOnly   bool              `json:",omitempty"`
}

type testDriverInfo struct {
	Name                 string
	SupportedSizeRange   struct{ Min string }
	SupportedFsType      map[string]struct{}
	SupportedMountOption map[string]struct{} `json:",omitempty"`
	TopologyKeys         []string            `json:",omitempty"`
	Capabilities         map[string]bool
}

// TestDriver returns the file for Kubernetes' external storage suite, in YAML. It contains the
// capabilities that the driver has shown. Capabilities that need a test are assumed, and the file's
// first lines name them.
func (f *Facts) TestDriver(classes Classes) ([]byte, error) {
	d := testDriver{DriverInfo: testDriverInfo{Name: f.Name, SupportedFsType: map[string]struct{}{"": {}}, Capabilities: f.suiteCapabilities()}}
	d.DriverInfo.SupportedSizeRange.Min = f.subject.size()
	if f.subject.FSType != "" {
		d.DriverInfo.SupportedFsType[f.subject.FSType] = struct{}{}
	}
	for _, option := range f.subject.MountOptions {
		if d.DriverInfo.SupportedMountOption == nil {
			d.DriverInfo.SupportedMountOption = map[string]struct{}{}
		}
		d.DriverInfo.SupportedMountOption[option] = struct{}{}
	}
	if f.Topology() {
		var err error
		if d.DriverInfo.TopologyKeys, err = f.topologyKeys(); err != nil {
			return nil, err
		}
	}
	if f.Provisions() {
		d.StorageClass = classOf(classes.Storage)
	}
	if f.Snapshots() {
		d.SnapshotClass = classOf(classes.Snapshot)
	}
	if f.GroupSnapshots() {
		d.GroupSnapshotClass = classOf(classes.GroupSnapshot)
	}
	if f.Inline() && f.InlineRefused == "" {
		d.InlineVolumes = []inlineVolume{{Attributes: f.subject.Attributes, ReadOnly: f.InlineReadOnly}}
	}
	text, err := yaml.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("writing the file for the storage suite: %w", err)
	}
	return append([]byte(testDriverHead), text...), nil
}

const testDriverHead = `# For Kubernetes' external storage suite: e2e.test --storage.testdriver=FILE
# exec, multipods, multiplePVsSameID and persistence were not tried. Where a volume that is made from another one does
# not grow on the node, FSResizeFromSourceNotSupported: true leaves out what needs it.
`

func classOf(name string) *testClass {
	return &testClass{FromName: name == "", FromExistingClassName: name}
}

// suiteCapabilities are the suite's capabilities that the driver has.
func (f *Facts) suiteCapabilities() map[string]bool {
	caps := map[string]bool{
		"persistence": f.Persistent(), "exec": true, "multipods": true, "multiplePVsSameID": true,
		"block":               f.makes(Kind{block, f.subject.access(oneNodeRW)}) && f.NotPublished == "",
		"RWX":                 f.makes(Kind{filesystem, manyRW}),
		"capReadOnlyMany":     f.makes(Kind{filesystem, manyRO}),
		"readWriteOncePod":    f.makes(Kind{filesystem, onePodRW}),
		"fsGroup":             f.ownsByGroup(),
		"volumeMountGroup":    f.caps.Node.Has("VOLUME_MOUNT_GROUP"),
		"snapshotDataSource":  f.Snapshots(),
		"groupSnapshot":       f.GroupSnapshots(),
		"pvcDataSource":       f.caps.Controller.Has("CLONE_VOLUME"),
		"controllerExpansion": f.caps.Controller.Has("EXPAND_VOLUME"),
		"nodeExpansion":       f.caps.Node.Has("EXPAND_VOLUME"),
		"onlineExpansion":     f.Expands() && f.caps.Plugin.Has("ONLINE"),
		"offlineExpansion":    f.Expands() && (f.caps.Plugin.Has("ONLINE") || f.caps.Plugin.Has("OFFLINE")),
		"volumeLimits":        f.MaxVolumes > 0,
		"topology":            f.Topology(),
		"singleNodeVolume":    f.subject.oneNode() || !f.OnePlace(),
		"capacity":            f.caps.Controller.Has("GET_CAPACITY") && f.declares(func(s *storagev1.CSIDriverSpec) *bool { return s.StorageCapacity }),
		"seLinuxMount":        f.declares(func(s *storagev1.CSIDriverSpec) *bool { return s.SELinuxMount }),
	}
	maps.DeleteFunc(caps, func(name string, has bool) bool { return !has && !(f.Expands() && trueByDefault[name]) })
	return caps
}

// trueByDefault are the capabilities of a driver that expands volumes, unless its file disables
// them.
var trueByDefault = map[string]bool{"onlineExpansion": true, "offlineExpansion": true}

// makes reports whether volumes of a kind were requested and created.
func (f *Facts) makes(k Kind) bool {
	_, refused := f.Refused[k]
	return f.Provisions() && !refused && slices.Contains(f.kindsToTry(), k)
}

// declares reads a switch of the CSIDriver object.
func (f *Facts) declares(which func(*storagev1.CSIDriverSpec) *bool) bool {
	if f.subject.CSIDriver == nil {
		return false
	}
	value := which(f.subject.CSIDriver)
	return value != nil && *value
}

// ownsByGroup reports whether a pod's fsGroup has an effect on volumes of the suite, which request
// no particular file system. Either the driver applies the fsGroup, or the kubelet applies it to
// any file system.
func (f *Facts) ownsByGroup() bool {
	if f.caps.Node.Has("VOLUME_MOUNT_GROUP") {
		return true
	}
	policy := storagev1.ReadWriteOnceWithFSTypeFSGroupPolicy
	if s := f.subject.CSIDriver; s != nil && s.FSGroupPolicy != nil {
		policy = *s.FSGroupPolicy
	}
	return policy == storagev1.FileFSGroupPolicy || policy == storagev1.ReadWriteOnceWithFSTypeFSGroupPolicy && f.subject.FSType != ""
}

// topologyKeys returns the topology keys of the nodes.
func (f *Facts) topologyKeys() ([]string, error) {
	keys := map[string]bool{}
	for _, place := range f.places {
		var segments map[string]string
		if err := yaml.Unmarshal([]byte(place), &segments); err != nil {
			return nil, fmt.Errorf("reading the place %s of a node: %w", place, err)
		}
		for key := range segments {
			keys[key] = true
		}
	}
	return slices.Sorted(maps.Keys(keys)), nil
}
