package nodeinfo_test

import (
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/fakekubelet/internal/nodeinfo"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

const (
	regDriver = "reg.csi.example.com"
	zone      = "topology.csi.example.com/zone"
	nodeIDs   = "csi.volume.kubernetes.io/nodeid"
)

func count(n int32) *storagev1.VolumeNodeResources { return &storagev1.VolumeNodeResources{Count: &n} }

// K-NODE-7, C-NIM-1, golden fact 17: the first registration in registration.jsonl, byte
// for byte.
//
// conformance: csinode-install-empty-node
func TestADriverIsPublishedOnTheNodeAndThenInTheCSINode(t *testing.T) {
	w := started(t)
	before := w.trace.Last()
	require.NoError(t, w.install(nodeinfo.Driver{
		Name: regDriver, NodeID: "node-a", MaxVolumes: 7, Topology: map[string]string{zone: "node-a"},
	}))

	assert.Equal(t, []string{"MODIFIED nodes", "MODIFIED csinodes"}, w.writes(before))
	want := []map[string]any{
		{"metadata": map[string]any{
			"annotations": map[string]any{nodeIDs: `{"reg.csi.example.com":"node-a"}`},
			"labels":      map[string]any{zone: "node-a"},
		}},
		{"spec": map[string]any{"drivers": []any{map[string]any{
			"allocatable": map[string]any{"count": float64(7)}, "name": regDriver, "nodeID": "node-a", "topologyKeys": []any{zone},
		}}}},
	}
	assert.Empty(t, cmp.Diff(want, w.patches(before)))
}

// K-NODE-13, C-NIM-4, golden fact 16
func TestADriverIsWithdrawnFromTheCSINodeAndThenFromTheNode(t *testing.T) {
	w := started(t)
	require.NoError(t, w.install(nodeinfo.Driver{Name: regDriver, NodeID: "node-a", Topology: map[string]string{zone: "node-a"}}))
	before := w.trace.Last()
	require.NoError(t, w.uninstall(regDriver))

	assert.Equal(t, []string{"MODIFIED csinodes", "MODIFIED nodes"}, w.writes(before))
	want := []map[string]any{
		{"spec": map[string]any{"drivers": nil}},
		{"metadata": map[string]any{"annotations": map[string]any{nodeIDs: nil}}},
	}
	assert.Empty(t, cmp.Diff(want, w.patches(before)))
	assert.Equal(t, "node-a", w.node().Labels[zone], "topology labels stay") // K-REG-19
}

// patches returns the API changes after event number after, in the format of recorded traces.
func (w *world) patches(after uint64) []map[string]any {
	var all []map[string]any
	for _, e := range w.trace.Events() {
		if e.Kind != trace.API || e.Seq <= after {
			continue
		}
		line, err := e.Line()
		require.NoError(w.t, err)
		all = append(all, line.Patch)
	}
	return all
}

// K-NODE-7: late-registration.jsonl
func TestOtherDriversKeepTheirEntries(t *testing.T) {
	w := started(t)
	require.NoError(t, w.install(nodeinfo.Driver{Name: "stub.csi.example.com", NodeID: "node-a"}))
	require.NoError(t, w.install(nodeinfo.Driver{Name: "late.csi.example.com", NodeID: "node-a"}))
	assert.Equal(t, `{"late.csi.example.com":"node-a","stub.csi.example.com":"node-a"}`, w.node().Annotations[nodeIDs])
	assert.Equal(t, []storagev1.CSINodeDriver{
		{Name: "stub.csi.example.com", NodeID: "node-a"}, {Name: "late.csi.example.com", NodeID: "node-a"},
	}, w.csiNode().Spec.Drivers)

	require.NoError(t, w.uninstall("stub.csi.example.com"))
	assert.Equal(t, `{"late.csi.example.com":"node-a"}`, w.node().Annotations[nodeIDs])
	assert.Len(t, w.csiNode().Spec.Drivers, 1)
}

// K-NODE-5, K-NODE-7, K-NODE-10, K-NODE-13: a driver is added beside another one.
//
// conformance: csinode-install-beside-other, csinode-install-no-topology-beside-other,
// csinode-limit-changed, csinode-uninstall-other-stays
func TestADriverBesideAnother(t *testing.T) {
	const rack = "net.example.storage/rack"
	other := nodeinfo.Driver{Name: "other.example.com", NodeID: "other", Topology: map[string]string{rack: "r1"}}
	for name, topology := range map[string]map[string]string{"with topology": {zone: "z1"}, "without": nil} {
		t.Run(name, func(t *testing.T) {
			w := started(t)
			require.NoError(t, w.install(other))
			d := nodeinfo.Driver{Name: regDriver, NodeID: "id", MaxVolumes: 10, Topology: topology}
			require.NoError(t, w.install(d))
			d.MaxVolumes = 20
			require.NoError(t, w.install(d))
			assert.Equal(t, "r1", w.node().Labels[rack])
			assert.Equal(t, topology[zone], w.node().Labels[zone])
			entries := w.csiNode().Spec.Drivers
			require.Len(t, entries, 2)
			assert.Equal(t, storagev1.CSINodeDriver{Name: "other.example.com", NodeID: "other", TopologyKeys: []string{rack}}, entries[0])
			assert.Equal(t, count(20), entries[1].Allocatable)
			assert.Equal(t, topology == nil, entries[1].TopologyKeys == nil)
			assert.Empty(t, w.node().Status.Capacity)

			before := w.trace.Last()
			require.NoError(t, w.uninstall("third.example.com"))
			assert.Empty(t, w.writes(before), "one that is not there changes nothing")
		})
	}
}

// K-NODE-10, C-NIM-2
//
// conformance: csinode-limit-ten, csinode-limit-max, csinode-limit-zero
func TestTheEntryOfADriver(t *testing.T) {
	for name, tt := range map[string]struct {
		driver nodeinfo.Driver
		want   storagev1.CSINodeDriver
	}{
		"plain":          {nodeinfo.Driver{}, storagev1.CSINodeDriver{}},
		"limit":          {nodeinfo.Driver{MaxVolumes: 3}, storagev1.CSINodeDriver{Allocatable: count(3)}},
		"ten":            {nodeinfo.Driver{MaxVolumes: 10}, storagev1.CSINodeDriver{Allocatable: count(10)}},
		"largest limit":  {nodeinfo.Driver{MaxVolumes: math.MaxInt32}, storagev1.CSINodeDriver{Allocatable: count(math.MaxInt32)}},
		"negative limit": {nodeinfo.Driver{MaxVolumes: -1}, storagev1.CSINodeDriver{}},
		"huge limit":     {nodeinfo.Driver{MaxVolumes: 1 << 40}, storagev1.CSINodeDriver{Allocatable: count(math.MaxInt32)}},
		"topology keys are sorted": {
			nodeinfo.Driver{Topology: map[string]string{"example.com/z": "1", "example.com/a": "2"}},
			storagev1.CSINodeDriver{TopologyKeys: []string{"example.com/a", "example.com/z"}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := started(t)
			tt.driver.Name, tt.driver.NodeID = regDriver, "id"
			tt.want.Name, tt.want.NodeID = regDriver, "id"
			require.NoError(t, w.install(tt.driver))
			assert.Equal(t, []storagev1.CSINodeDriver{tt.want}, w.csiNode().Spec.Drivers)
		})
	}
}

// K-NODE-8, K-NODE-11
//
// conformance: csinode-install-same-again
func TestAnInstalledDriverIsNotWrittenAgain(t *testing.T) {
	w := started(t)
	d := nodeinfo.Driver{Name: regDriver, NodeID: "id", MaxVolumes: 3, Topology: map[string]string{zone: "z1"}}
	require.NoError(t, w.install(d))
	before := w.trace.Last()
	require.NoError(t, w.install(d))
	assert.Empty(t, w.writes(before))
}

// K-NODE-10, C-NIM-2: a changed entry goes to the end.
func TestAChangedEntryMovesToTheEnd(t *testing.T) {
	w := started(t)
	require.NoError(t, w.install(nodeinfo.Driver{Name: "one.example.com", NodeID: "id", MaxVolumes: 1}))
	require.NoError(t, w.install(nodeinfo.Driver{Name: "two.example.com", NodeID: "id"}))
	require.NoError(t, w.install(nodeinfo.Driver{Name: "one.example.com", NodeID: "id", MaxVolumes: 2}))
	assert.Equal(t, []storagev1.CSINodeDriver{
		{Name: "two.example.com", NodeID: "id"}, {Name: "one.example.com", NodeID: "id", Allocatable: count(2)},
	}, w.csiNode().Spec.Drivers)
}

// K-NODE-9, C-NIM-1, golden fact 64
func TestATopologyValueThatDiffersFromTheLabelIsRefused(t *testing.T) {
	w := newWorld(t)
	w.createNode(map[string]string{zone: "zone-1"})
	w.info = nodeinfo.Start(w.kubelet, nil)
	w.quiet()
	from := w.kernel.Elapsed()
	err := w.install(nodeinfo.Driver{Name: regDriver, NodeID: "id", Topology: map[string]string{zone: "zone-2", "example.com/new": "x"}})

	assert.EqualError(t, err, `error updating Node object with CSI driver node info: error updating node: timed out waiting for the condition; caused by: `+
		`detected topology value collision: driver reported "topology.csi.example.com/zone":"zone-2" but existing label is "topology.csi.example.com/zone":"zone-1"`)
	assert.Equal(t, 310*time.Millisecond, w.kernel.Elapsed()-from, "four tries") // K-NODE-6
	assert.Equal(t, map[string]string{zone: "zone-1"}, w.node().Labels)
	assert.Empty(t, w.csiNode().Spec.Drivers)
}

// K-REG-13
//
// conformance: csinode-install-empty-node-id
func TestAnEmptyNodeIDIsRefused(t *testing.T) {
	w := started(t)
	assert.EqualError(t, w.install(nodeinfo.Driver{Name: regDriver}),
		"error adding CSI driver node info: driverNodeID must not be empty")
}

// K-NODE-12
func TestAnotherNodeIDIsRefusedByTheAPIServer(t *testing.T) {
	w := started(t)
	require.NoError(t, w.install(nodeinfo.Driver{Name: regDriver, NodeID: "old"}))
	err := w.install(nodeinfo.Driver{Name: regDriver, NodeID: "new"})
	assert.ErrorContains(t, err, "error updating CSINode object with CSI driver node info: error updating CSINode: timed out waiting for the condition; caused by: ")
	assert.ErrorContains(t, err, "field is immutable")
	assert.Equal(t, "old", w.csiNode().Spec.Drivers[0].NodeID)
}

// K-RACE-7: a driver that registers before the node's uid is known wipes the CSINode.
func TestADriverThatRegistersTooEarlyWipesTheCSINode(t *testing.T) {
	w := newWorld(t)
	w.createCSINode("the-uid", migrated)
	w.info = nodeinfo.Start(w.kubelet, nil)
	err := w.do(func(p *kernel.Process) error {
		return w.info.UpdateCSINode(p, nodeinfo.Driver{Name: regDriver, NodeID: "id"})
	})
	require.Error(t, err)
	_, there := store.Get[*storagev1.CSINode](w.store, store.Key{Name: node})
	assert.False(t, there)
}

// K-NODE-13: a CSINode or Node without the driver is not changed.
//
// conformance: csinode-uninstall-nothing
func TestWithdrawingAnUnknownDriverWritesNothing(t *testing.T) {
	w := started(t)
	before := w.trace.Last()
	require.NoError(t, w.uninstall(regDriver))
	assert.Empty(t, w.writes(before))
}

func TestAnAnnotationThatIsNotJSONIsAnError(t *testing.T) {
	w := started(t)
	_, err := store.Modify(w.store, store.Key{Name: node}, func(n *corev1.Node) { n.Annotations = map[string]string{nodeIDs: "{"} })
	require.NoError(t, err)
	assert.ErrorContains(t, w.install(nodeinfo.Driver{Name: regDriver, NodeID: "id"}), "failed to parse annotation "+nodeIDs)
}

// K-RACE-9: two concurrent drivers write one after the other, and then the objects contain both.
func TestDriversThatInstallAtOnceDoNotLoseEachOther(t *testing.T) {
	for seed := range uint64(30) {
		k := kernel.New(kernel.Options{Strategy: kernel.NewRandom(seed)})
		w := worldOn(t, k)
		w.createNode(nil)
		w.info = nodeinfo.Start(w.kubelet, nil)
		w.quiet()
		var failed []error
		var ended []func() bool
		for _, name := range []string{"one.example.com", "two.example.com", "three.example.com"} {
			p := w.kubelet.Go(name, func(p *kernel.Process) {
				failed = append(failed, w.info.Install(p, nodeinfo.Driver{Name: name, NodeID: "id"}))
			})
			ended = append(ended, p.Ended)
		}
		require.Equal(t, kernel.Done, k.Run(kernel.Until{Cond: func() bool { return ended[0]() && ended[1]() && ended[2]() }}))
		assert.Equal(t, []error{nil, nil, nil}, failed)
		assert.Len(t, w.csiNode().Spec.Drivers, 3)
		assert.Equal(t, `{"one.example.com":"id","three.example.com":"id","two.example.com":"id"}`, w.node().Annotations[nodeIDs])
	}
}

// K-NODE-14: a new driver is not added to a CSINode of another node object. A driver that
// unregisters is still removed from such a CSINode.
func TestWithdrawingIgnoresTheOwnerOfTheCSINode(t *testing.T) {
	w := started(t)
	require.NoError(t, w.install(nodeinfo.Driver{Name: "a", NodeID: "n-a"}))
	require.NoError(t, w.install(nodeinfo.Driver{Name: "b", NodeID: "n-b"}))
	_, err := store.Modify(w.store, store.Key{Name: node}, func(n *storagev1.CSINode) { n.OwnerReferences[0].UID = "of-another" })
	require.NoError(t, err)
	before := w.trace.Last()
	require.NoError(t, w.uninstall("a"))
	assert.Equal(t, []string{"MODIFIED csinodes", "MODIFIED nodes"}, w.writes(before))
	require.Len(t, w.csiNode().Spec.Drivers, 1)
	assert.Equal(t, "b", w.csiNode().Spec.Drivers[0].Name)

	before = w.trace.Last()
	require.NoError(t, w.install(nodeinfo.Driver{Name: "a", NodeID: "n-a"}))
	assert.Equal(t, "DELETED csinodes", w.writes(before)[1], "K-NODE-5: it is made anew")
}
