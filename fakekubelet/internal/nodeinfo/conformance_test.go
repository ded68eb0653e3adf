package nodeinfo_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/fakekubelet/internal/nodeinfo"
	"github.com/csisim/csisim/internal/world/store"
)

const migratedPlugins = "storage.alpha.kubernetes.io/migrated-plugins"

// K-NODE-9, K-NODE-10: an entry is immutable, so the driver has to be removed and added again, as
// after a failed registration.
func TestADriversTopologyIsAddedAfterItsEntryIsRemoved(t *testing.T) {
	w := started(t)
	d := nodeinfo.Driver{Name: regDriver, NodeID: "id"}
	require.NoError(t, w.install(d))
	d.Topology = map[string]string{zone: "zoneA"}
	assert.ErrorContains(t, w.install(d), "spec.drivers: Invalid value")
	require.NoError(t, w.uninstall(regDriver))
	require.NoError(t, w.install(d))
	assert.Equal(t, "zoneA", w.node().Labels[zone])
	assert.Equal(t, []storagev1.CSINodeDriver{{Name: regDriver, NodeID: "id", TopologyKeys: []string{zone}}}, w.csiNode().Spec.Drivers)
}

// K-NODE-5
//
// conformance: csinode-owned-by-former-node
func TestACSINodeOfAFormerNodeIsReplacedAtRegistration(t *testing.T) {
	w := started(t)
	_, err := store.Delete[*storagev1.CSINode](w.store, store.Key{Name: node})
	require.NoError(t, err)
	w.createCSINode("uid-of-the-node-before", "")
	require.NoError(t, w.install(nodeinfo.Driver{Name: regDriver, NodeID: "id"}))
	assert.Equal(t, w.node().UID, w.csiNode().OwnerReferences[0].UID)
	assert.Equal(t, []storagev1.CSINodeDriver{{Name: regDriver, NodeID: "id"}}, w.csiNode().Spec.Drivers, "the entries of the former node are gone")
	assert.Equal(t, migrated, w.csiNode().Annotations[migratedPlugins])
}

// K-NODE-13
//
// conformance: csinode-uninstall-annotation-only, csinode-uninstall-other-annotation
func TestADriverThatOnlyTheNodeKnowsIsWithdrawnFromIt(t *testing.T) {
	for name, tt := range map[string]struct{ annotation, want string }{
		"its own":              {`{"reg.csi.example.com":"id"}`, ""},
		"another driver's":     {`{"other.example.com":"x"}`, `{"other.example.com":"x"}`},
		"beside another's":     {`{"other.example.com":"x","reg.csi.example.com":"id"}`, `{"other.example.com":"x"}`},
		"none":                 {"", ""},
		"nothing but brackets": {"{}", "{}"},
	} {
		t.Run(name, func(t *testing.T) {
			w := started(t)
			w.annotate(tt.annotation)
			require.NoError(t, w.uninstall(regDriver))
			assert.Equal(t, tt.want, w.node().Annotations[nodeIDs])
			assert.Empty(t, w.csiNode().Spec.Drivers)
		})
	}
}

// annotate sets the ids in the Node's annotation, like another writer.
func (w *world) annotate(ids string) {
	if ids == "" {
		return
	}
	_, err := store.Modify(w.store, store.Key{Name: node}, func(n *corev1.Node) { metav1.SetMetaDataAnnotation(&n.ObjectMeta, nodeIDs, ids) })
	require.NoError(w.t, err)
}

// K-NODE-7: the annotation of an earlier kubelet on the Node is replaced.
//
// conformance: csinode-install-over-old-annotation
func TestAnotherNodeIDReplacesTheOneInTheAnnotation(t *testing.T) {
	w := started(t)
	w.annotate(`{"reg.csi.example.com":"old"}`)
	require.NoError(t, w.install(nodeinfo.Driver{Name: regDriver, NodeID: "new"}))
	assert.JSONEq(t, `{"reg.csi.example.com":"new"}`, w.node().Annotations[nodeIDs])
	assert.Equal(t, []storagev1.CSINodeDriver{{Name: regDriver, NodeID: "new"}}, w.csiNode().Spec.Drivers)
}

// K-NODE-4: the list of migrated plugins is written as a whole, sorted, and nothing else is
// written.
//
// conformance: csinode-migrated-plugins-one, csinode-migrated-plugins-others-stay,
// csinode-migrated-plugins-swap, csinode-migrated-plugins-sorted
func TestTheMigratedPluginsReplaceTheirAnnotation(t *testing.T) {
	for name, before := range map[string]map[string]string{
		"no annotations":              nil,
		"another annotation":          {"example.com/other": "kept"},
		"a plugin that is not one":    {migratedPlugins: "kubernetes.io/other", "example.com/other": "kept"},
		"some of them, in no order":   {migratedPlugins: "kubernetes.io/vsphere-volume,kubernetes.io/gce-pd", "example.com/other": "kept"},
		"all of them and one besides": {migratedPlugins: migrated + ",kubernetes.io/zzz", "example.com/other": "kept"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			n := w.createNode(nil)
			w.createCSINode(n.UID, "")
			_, err := store.Modify(w.store, store.Key{Name: node}, func(c *storagev1.CSINode) { c.Annotations = before })
			require.NoError(t, err)
			w.info = nodeinfo.Start(w.kubelet, nil)
			w.quiet()
			assert.Equal(t, migrated, w.csiNode().Annotations[migratedPlugins])
			assert.Equal(t, before["example.com/other"], w.csiNode().Annotations["example.com/other"])
		})
	}
}
