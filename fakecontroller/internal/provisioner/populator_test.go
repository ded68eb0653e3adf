package provisioner_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/fakecontroller/internal/provisioner"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// C-PROV-42, C-PV-12, C-PV-13, C-PV-23, C-PV-33, C-SCHED-8: how a populator fills a volume. The
// populator creates a second claim, the prime claim, and the provisioner creates a volume for it.
// Then the populator binds this volume to the claim with the source. The prime becomes Lost and is
// deleted; the volume stays.
func TestAPopulatorHandsItsVolumeOver(t *testing.T) {
	for says, class := range map[string]string{"at once": "stub", "when there is a consumer": "later"} {
		t.Run(says, func(t *testing.T) {
			w := newWorld(t, kernel.Options{}, mock.Options{}, provisioner.Options{})
			w.node("node-a")
			w.class("stub")
			w.class("later", waitForFirstConsumer)
			const selected = "volume.kubernetes.io/selected-node"
			get := func(name string) *corev1.PersistentVolumeClaim {
				pvc, ok := get[*corev1.PersistentVolumeClaim](w, "default", name)
				require.True(t, ok)
				return pvc
			}
			w.from("hello", "hello.example.com", "Hello", "world", func(pvc *corev1.PersistentVolumeClaim) { pvc.Spec.StorageClassName = &class })
			w.pod("web", "hello", "")
			w.Run(5 * time.Second)
			assert.Empty(t, w.callTimes(createCall))
			assert.Equal(t, corev1.ClaimPending, w.phase("hello"))
			if class == "later" {
				assert.Equal(t, "node-a", get("hello").Annotations[selected], "which the populator waits for and copies")
			}

			w.claimWith("prime", class, func(pvc *corev1.PersistentVolumeClaim) {
				if node := get("hello").Annotations[selected]; node != "" {
					pvc.Annotations = map[string]string{selected: node}
				}
			})
			w.Run(5 * time.Second)
			require.Equal(t, corev1.ClaimBound, w.phase("prime"))
			volume := get("prime").Spec.VolumeName
			hello := get("hello")
			_, err := store.Modify(w.Store, store.Key{Name: volume}, func(pv *corev1.PersistentVolume) {
				pv.Spec.ClaimRef = &corev1.ObjectReference{
					APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: "default", Name: "hello", UID: hello.UID, ResourceVersion: hello.ResourceVersion,
				}
			})
			require.NoError(t, err)
			w.Run(2 * time.Second)
			assert.Equal(t, corev1.ClaimBound, w.phase("hello"))
			assert.Equal(t, volume, get("hello").Spec.VolumeName)
			w.Run(15 * time.Second) // the next resync
			assert.Equal(t, corev1.ClaimLost, w.phase("prime"))
			assert.Equal(t, []string{"Two claims are bound to the same volume, this one is bound incorrectly"}, w.messages("ClaimMisbound"))

			w.deleteClaim("prime")
			w.Run(5 * time.Second)
			pv := w.volumes()[0]
			assert.Equal(t, corev1.VolumeBound, pv.Status.Phase)
			assert.Equal(t, hello.UID, pv.Spec.ClaimRef.UID)
			web, _ := store.Get[*corev1.Pod](w.Store, store.Key{Namespace: "default", Name: "web"})
			assert.Equal(t, "node-a", web.Spec.NodeName)
			assert.Len(t, w.callTimes(createCall), 1)
			assert.Empty(t, w.callTimes(deleteCall))
		})
	}
}

// C-PROV-42: a source in another namespace needs an alpha feature gate that is off by default. The
// API drops the field, and the claim gets an empty volume.
func TestASourceInAnotherNamespaceIsDropped(t *testing.T) {
	w := newWorld(t, kernel.Options{}, mock.Options{Snapshot: true}, provisioner.Options{})
	w.class("stub")
	w.from("restored", "snapshot.storage.k8s.io", "VolumeSnapshot", "daily", func(pvc *corev1.PersistentVolumeClaim) {
		pvc.Spec.DataSourceRef.Namespace = ptr.To("elsewhere")
	})
	w.Run(time.Second)
	assert.Equal(t, corev1.ClaimBound, w.phase("restored"))
	assert.Nil(t, lastCreate(w).GetVolumeContentSource())
}

// C-PROV-42: the informer of a kind that does not exist never syncs. [cmd/csi-provisioner:
// WaitForCacheSync]
func TestNoClaimIsWorkedOnBeforeGrantsAreDefined(t *testing.T) {
	w := newWorld(t, kernel.Options{}, mock.Options{}, provisioner.Options{CrossNamespaceVolumeDataSource: true})
	w.class("stub")
	w.claim("data", "stub")
	w.Run(time.Minute)
	assert.Empty(t, w.callTimes(createCall))
	assert.Equal(t, corev1.ClaimPending, w.phase("data"))
}
