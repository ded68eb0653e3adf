package nodeinfo_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/fakekubelet/internal/nodeinfo"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

const migrated = "kubernetes.io/aws-ebs,kubernetes.io/azure-disk,kubernetes.io/azure-file,kubernetes.io/cinder,kubernetes.io/gce-pd,kubernetes.io/portworx-volume,kubernetes.io/vsphere-volume"

// K-NODE-4, golden fact 20
func TestTheCSINodeIsCreatedForTheNode(t *testing.T) {
	w := newWorld(t)
	n := w.createNode(nil)
	w.info = nodeinfo.Start(w.kubelet, nil)
	assert.Equal(t, "CSINode is not yet initialized", w.info.NotReady()) // K-NODE-1
	changes := 0
	w.info.OnChange(func() { changes++ })
	w.quiet()

	assert.Empty(t, w.info.NotReady())
	assert.Equal(t, 1, changes)
	csiNode := w.csiNode()
	assert.Equal(t, []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: node, UID: n.UID}}, csiNode.OwnerReferences)
	assert.Equal(t, map[string]string{"storage.alpha.kubernetes.io/migrated-plugins": migrated}, csiNode.Annotations)
	assert.Empty(t, csiNode.Spec.Drivers)
}

// K-NODE-3
func TestAnExistingCSINodeIsTouchedOnlyIfItsAnnotationDiffers(t *testing.T) {
	for name, tt := range map[string]struct {
		annotation string
		want       []string
	}{
		"same":  {migrated, nil},
		"other": {"kubernetes.io/gce-pd", []string{"MODIFIED csinodes"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			n := w.createNode(nil)
			w.createCSINode(n.UID, tt.annotation)
			before := w.trace.Last()
			w.info = nodeinfo.Start(w.kubelet, nil)
			w.quiet()

			assert.Equal(t, tt.want, w.writes(before))
			assert.Equal(t, migrated, w.csiNode().Annotations["storage.alpha.kubernetes.io/migrated-plugins"])
			assert.Len(t, w.csiNode().Spec.Drivers, 1, "drivers stay as they are")
		})
	}
}

// K-NODE-5, C-NIM-3
func TestACSINodeOfAnotherNodeObjectIsRecreated(t *testing.T) {
	w := newWorld(t)
	n := w.createNode(nil)
	w.createCSINode("uid-of-the-node-before", migrated)
	before := w.trace.Last()
	w.info = nodeinfo.Start(w.kubelet, nil)
	w.quiet()

	assert.Equal(t, []string{"DELETED csinodes", "ADDED csinodes"}, w.writes(before))
	assert.Equal(t, n.UID, w.csiNode().OwnerReferences[0].UID)
	assert.Equal(t, 10*time.Millisecond, w.kernel.Elapsed(), "one inner retry")
}

// K-NODE-2: a new node registers while the initialisation is already trying.
func TestInitialisationWaitsForTheNodeToRegister(t *testing.T) {
	w := newWorld(t)
	w.info = nodeinfo.Start(w.kubelet, nil)
	w.until(350 * time.Millisecond)
	assert.Equal(t, `failed to initialize CSINode: error updating CSINode annotation: timed out waiting for the condition; caused by: nodes "node-a" not found`,
		w.info.NotReady())

	w.createNode(nil)
	w.quiet()
	assert.Empty(t, w.info.NotReady())
	assert.Equal(t, migrated, w.csiNode().Annotations["storage.alpha.kubernetes.io/migrated-plugins"])
}

// K-NODE-2: six attempts of four tries each, with 30 ms × 8ⁿ between the tries, then the kubelet
// exits.
func TestAKubeletThatCannotInitialiseItsCSINodeExits(t *testing.T) {
	w := newWorld(t)
	w.info = nodeinfo.Start(w.kubelet, nil)
	w.kernel.Run(kernel.Until{Cond: func() bool { return w.kubelet.Group.Running() == 0 }})

	const inner = 310 * time.Millisecond
	const pauses = (30 + 240 + 1_920 + 15_360 + 122_880) * time.Millisecond
	assert.Equal(t, 6*inner+pauses, w.kernel.Elapsed())
	events := w.trace.Events()
	last := events[len(events)-1]
	assert.Equal(t, trace.FaultFired, last.Kind)
	assert.Contains(t, last.Message, "failed to initialize CSINode")
}

func (w *world) createCSINode(owner types.UID, annotation string) {
	_, err := store.Create(w.store, &storagev1.CSINode{
		ObjectMeta: metav1.ObjectMeta{
			Name:            node,
			Annotations:     map[string]string{"storage.alpha.kubernetes.io/migrated-plugins": annotation},
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: node, UID: owner}},
		},
		Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: "old.csi.example.com", NodeID: "n"}}},
	})
	require.NoError(w.t, err)
}
