package nodeinfo_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/fakekubelet/internal/nodeinfo"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/legacy"
	"github.com/csisim/csisim/internal/world/migration"
	"github.com/csisim/csisim/internal/world/store"
)

const cinderDriver = "cinder.csi.openstack.org"

// old returns a world of v1.13 in which the node has registered.
func old(t *testing.T, o legacy.Options, plugins migration.Plugins) *world {
	w := newWorld(t)
	w.kubelet.World.Legacy, w.kubelet.Version = o, 13
	w.createNode(nil)
	w.info = nodeinfo.Start(w.kubelet, plugins)
	w.quiet()
	return w
}

// none returns a kubelet's migration without any plugin.
func none() migration.Plugins { return migration.Of(13) }

func (w *world) csiNodeInfo() (*legacy.CSINodeInfo, bool) {
	return store.Get[*legacy.CSINodeInfo](w.store, store.Key{Name: node})
}

func (w *world) mustCSINodeInfo() *legacy.CSINodeInfo {
	n, ok := w.csiNodeInfo()
	require.True(w.t, ok)
	return n
}

// L-LIFE-1, L-LIFE-2, L-LIFE-5, L-OBJ-3, L-START-1, L-VAL-2
func TestACSINodeInfoIsMadeWhenTheFirstDriverRegisters(t *testing.T) {
	w := old(t, legacy.Options{}, none())
	assert.Empty(t, w.info.NotReady(), "nothing is made at start-up, nothing waited for")
	_, there := w.csiNodeInfo()
	assert.False(t, there)

	before := w.trace.Last()
	require.NoError(t, w.install(nodeinfo.Driver{Name: regDriver, NodeID: "n-1", Topology: map[string]string{"b": "1", "a": "2"}}))
	assert.Equal(t, []string{"MODIFIED nodes", "ADDED csinodeinfos", "MODIFIED csinodeinfos"}, w.writes(before))
	n := w.mustCSINodeInfo()
	assert.Equal(t, []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: node, UID: w.node().UID}}, n.OwnerReferences)
	assert.Equal(t, []legacy.DriverSpec{{Name: regDriver, NodeID: "n-1", TopologyKeys: []string{"a", "b"}}}, n.Spec.Drivers)
	assert.Equal(t, []legacy.DriverStatus{{Name: regDriver, Available: true, VolumePluginMechanism: legacy.InTree}}, n.Status.Drivers)
	_, isCSINode := store.Get[*storagev1.CSINode](w.store, store.Key{Name: node})
	assert.False(t, isCSINode)
}

// L-LIFE-5, L-LIFE-9, L-LIFE-10, L-NEXT-1, L-OBJ-5
func TestAnUnregisteredDriverStaysListedAsNotAvailable(t *testing.T) {
	w := old(t, legacy.Options{}, none())
	require.NoError(t, w.install(nodeinfo.Driver{Name: regDriver, NodeID: "n-1", MaxVolumes: 7}))
	spec := w.mustCSINodeInfo().Spec
	before := w.trace.Last()
	require.NoError(t, w.uninstall(regDriver))
	assert.Equal(t, []string{"MODIFIED csinodeinfos", "MODIFIED nodes"}, w.writes(before))
	n := w.mustCSINodeInfo()
	assert.Equal(t, spec, n.Spec, "the spec stays as it is")
	assert.False(t, n.Status.Drivers[0].Available)

	before = w.trace.Last()
	require.NoError(t, w.uninstall(regDriver))
	assert.Empty(t, w.writes(before), "once is enough")

	require.NoError(t, w.install(nodeinfo.Driver{Name: regDriver, NodeID: "n-1", MaxVolumes: 7}))
	assert.Equal(t, spec, w.mustCSINodeInfo().Spec)
	assert.True(t, w.mustCSINodeInfo().Status.Drivers[0].Available)
	before = w.trace.Last()
	require.NoError(t, w.install(nodeinfo.Driver{Name: regDriver, NodeID: "n-1", MaxVolumes: 7}))
	assert.Empty(t, w.writes(before))
}

// L-LIFE-4
func TestANodeWithoutAnIDOrWithAnotherTopologyIsRefused(t *testing.T) {
	w := old(t, legacy.Options{}, none())
	require.Error(t, w.install(nodeinfo.Driver{Name: regDriver}))
	_, err := store.Modify(w.store, store.Key{Name: node}, func(n *corev1.Node) { n.Labels = map[string]string{"zone": "a"} })
	require.NoError(t, err)
	w.quiet()
	require.Error(t, w.install(nodeinfo.Driver{Name: regDriver, NodeID: "n-1", Topology: map[string]string{"zone": "b"}}))
	_, there := w.csiNodeInfo()
	assert.False(t, there)
}

// L-LIFE-6: the code did this, although the documentation excludes it.
func TestARegistrationWithAnotherNodeIDReplacesTheEntry(t *testing.T) {
	w := old(t, legacy.Options{}, none())
	require.NoError(t, w.install(nodeinfo.Driver{Name: regDriver, NodeID: "n-1"}))
	require.NoError(t, w.install(nodeinfo.Driver{Name: "other.example.com", NodeID: "n-1"}))
	require.NoError(t, w.install(nodeinfo.Driver{Name: regDriver, NodeID: "n-2"}))
	assert.Equal(t, []legacy.DriverSpec{
		{Name: "other.example.com", NodeID: "n-1", TopologyKeys: []string{}}, {Name: regDriver, NodeID: "n-2", TopologyKeys: []string{}},
	}, w.mustCSINodeInfo().Spec.Drivers, "at the end")
}

// L-LIFE-7, L-LIFE-12
func TestTheMechanismFollowsTheMigrationAtTheNextRegistration(t *testing.T) {
	w := old(t, legacy.Options{}, none())
	mechanism := func() legacy.Mechanism { return w.mustCSINodeInfo().Status.Drivers[0].VolumePluginMechanism }
	require.NoError(t, w.install(nodeinfo.Driver{Name: cinderDriver, NodeID: "n-1"}))
	assert.Equal(t, legacy.InTree, mechanism())

	w.restart(none().With(migration.Plugins{"kubernetes.io/cinder": migration.Enabled}))
	assert.Equal(t, legacy.InTree, mechanism(), "L-LIFE-11: a restart alone changes nothing")
	require.NoError(t, w.install(nodeinfo.Driver{Name: cinderDriver, NodeID: "n-1"}))
	assert.Equal(t, legacy.CSI, mechanism())
}

// restart starts the kubelet again.
func (w *world) restart(plugins migration.Plugins) {
	world := w.kubelet.World
	w.kubelet.Crash()
	w.kubelet = world.Start("kubelet", node)
	w.kubelet.Version = 13
	w.info = nodeinfo.Start(w.kubelet, plugins)
	w.quiet()
}

// L-START-2, L-START-3
func TestACSINodeInfoThatIsMadeAtStartUp(t *testing.T) {
	cinder := none().With(migration.Plugins{"kubernetes.io/cinder": migration.Enabled})
	w := old(t, legacy.Options{CreateOnStartup: true}, cinder)
	assert.Empty(t, w.mustCSINodeInfo().Spec.Drivers)

	w = old(t, legacy.Options{CreateOnStartup: true, AnnounceMigrated: true}, cinder)
	assert.Equal(t, []legacy.DriverSpec{{Name: cinderDriver, TopologyKeys: []string{}}}, w.mustCSINodeInfo().Spec.Drivers)
	assert.Equal(t, []legacy.DriverStatus{{Name: cinderDriver, VolumePluginMechanism: legacy.CSI}}, w.mustCSINodeInfo().Status.Drivers)
	require.NoError(t, w.install(nodeinfo.Driver{Name: cinderDriver, NodeID: "n-1"}))
	w.restart(none())
	assert.Equal(t, legacy.InTree, w.mustCSINodeInfo().Status.Drivers[0].VolumePluginMechanism, "L-LIFE-12")
}

// L-START-2: the node is not Ready before its CSINodeInfo exists.
func TestTheNodeIsNotReadyBeforeItsCSINodeInfo(t *testing.T) {
	w := newWorld(t)
	w.kubelet.World.Legacy.CreateOnStartup, w.kubelet.Version = true, 13
	w.info = nodeinfo.Start(w.kubelet, none())
	assert.Equal(t, "CSINodeInfo is not yet initialized", w.info.NotReady())
	w.createNode(nil)
	w.quiet()
	assert.Empty(t, w.info.NotReady())
}

// L-LIFE-8, L-LIFE-9, L-NEXT-2
func TestWithoutTheDefinitionsNoDriverRegisters(t *testing.T) {
	w := old(t, legacy.Options{NoCRD: true}, none())
	assert.ErrorContains(t, w.install(nodeinfo.Driver{Name: regDriver, NodeID: "n-1"}), "the server could not find the requested resource")
	assert.ErrorContains(t, w.uninstall(regDriver), `csinodeinfos.csi.storage.k8s.io "node-a" not found`)
	assert.Contains(t, w.node().Annotations[nodeIDs], regDriver, "then the Node is not cleaned up")
}

// L-VAL-1
func TestAnObjectThatOthersChangedIsNotWritten(t *testing.T) {
	w := old(t, legacy.Options{}, none())
	require.NoError(t, w.install(nodeinfo.Driver{Name: regDriver, NodeID: "n-1"}))
	_, err := store.Modify(w.store, store.Key{Name: node}, func(n *legacy.CSINodeInfo) {
		n.Spec.Drivers = append(n.Spec.Drivers, legacy.DriverSpec{Name: "alone.example.com"})
	})
	require.NoError(t, err)
	assert.ErrorContains(t, w.uninstall(regDriver), "spec and status of CSINodeInfo node-a list different drivers")
}

// L-LIFE-2, L-NEXT-3
func TestAnOldNodeShowsTheAttachLimitItself(t *testing.T) {
	w := old(t, legacy.Options{}, none())
	require.NoError(t, w.install(nodeinfo.Driver{Name: regDriver, NodeID: "n-1", MaxVolumes: 7}))
	limit := w.node().Status.Allocatable["attachable-volumes-csi-"+regDriver]
	assert.Equal(t, "7", limit.String())
	require.NoError(t, w.uninstall(regDriver))
	assert.NotContains(t, w.node().Status.Capacity, corev1.ResourceName("attachable-volumes-csi-"+regDriver))
	assert.Equal(t, corev1.ResourceName("attachable-volumes-csi-a-very-long-name-of-a-d"), legacy.LimitName("a-very-long-name-of-a-driver.csi.example.com")[:46])
	assert.Len(t, legacy.LimitName("a-very-long-name-of-a-driver.csi.example.com"), 23+23+16)
}

// L-LIFE-3: both drivers' registrations read; the first one writes, and the second one reads again.
func TestTwoDriversThatRegisterAtOnceAreBothListed(t *testing.T) {
	w := old(t, legacy.Options{}, none())
	ended := 0
	for _, name := range []string{"a.example.com", "b.example.com"} {
		w.kubelet.Go("registration of "+name, func(p *kernel.Process) {
			assert.NoError(t, w.info.Install(p, nodeinfo.Driver{Name: name, NodeID: "n-1"}))
			ended++
		})
	}
	w.quiet()
	assert.Equal(t, 2, ended)
	assert.Len(t, w.mustCSINodeInfo().Status.Drivers, 2)
}
