package kind_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/api/kind/kindtest"
	"github.com/csisim/csisim/internal/world/store"
)

func TestUpdateOfAnOldVersionConflicts(t *testing.T) {
	s := kind.NewStore(store.Options{})
	old := kindtest.Create(t, s, kindtest.Volume("x"))
	kindtest.Modify(t, s, kindtest.OfCluster("x"), func(pv *corev1.PersistentVolume) { kindtest.Label(pv) })

	_, err := store.Update(s, old)

	require.True(t, apierrors.IsConflict(err))
	assert.EqualError(t, err, `Operation cannot be fulfilled on persistentvolumes "x": the object has been modified; please apply your changes to the latest version and try again`)
}

func TestUpdateOfAnotherUIDConflicts(t *testing.T) {
	s := kind.NewStore(store.Options{})
	other := kindtest.Create(t, s, kindtest.Secret("x")).DeepCopy()
	other.UID = "other"
	_, err := store.Update(s, other)
	require.True(t, apierrors.IsConflict(err))

	_, err = store.Modify(s, kindtest.InDefault("x"), func(o *corev1.Secret) { o.UID = "other" })
	assert.True(t, apierrors.IsInvalid(err), "a patch of the uid is no precondition")
}

func TestUpdateWithoutVersionIsForSomeKindsOnly(t *testing.T) {
	s := kind.NewStore(store.Options{})
	kindtest.Create(t, s, kindtest.Secret("x"))
	kindtest.Create(t, s, kindtest.Attachment("x", "node-a", "pv"))
	plain := kindtest.Secret("x")
	kindtest.Label(plain)
	_, err := store.Update(s, plain)
	require.NoError(t, err)

	_, err = store.Update(s, kindtest.Attachment("x", "node-a", "pv"))
	require.True(t, apierrors.IsInvalid(err))
	assert.ErrorContains(t, err, "metadata.resourceVersion: Invalid value: 0: must be specified for an update")
}

func TestWritesWithoutChangesKeepTheRevision(t *testing.T) {
	s := kind.NewStore(store.Options{})
	stored := kindtest.Create(t, s, kindtest.Pod("a"))
	kindtest.Create(t, s, kindtest.Class("std"))
	kindtest.Create(t, s, &storagev1.CSIDriver{ObjectMeta: kindtest.Named("d")})
	before := s.Revision()
	for name, write := range map[string]func() error{
		"an update": func() error { _, err := store.Update(s, stored); return err },
		"a patch":   func() error { _, err := store.Modify(s, kindtest.InDefault("a"), func(*corev1.Pod) {}); return err },
		"a patch of the status": func() error {
			_, err := store.ModifyStatus(s, kindtest.InDefault("a"), func(*corev1.Pod) {})
			return err
		},
		"empty instead of absent": func() error {
			_, err := store.Modify(s, kindtest.InDefault("a"), func(p *corev1.Pod) { p.Labels = map[string]string{} })
			return err
		},
		"a kind without spec": func() error { _, err := store.Update(s, kindtest.Class("std")); return err },
		"a kind without status": func() error {
			_, err := store.Modify(s, kindtest.OfCluster("d"), func(*storagev1.CSIDriver) {})
			return err
		},
	} {
		require.NoError(t, write(), name)
		assert.Equal(t, before, s.Revision(), name)
	}
}

func TestSpecAndStatusWritesKeepTheOtherPart(t *testing.T) {
	s := kind.NewStore(store.Options{})
	kindtest.Create(t, s, kindtest.Volume("x"))
	kindtest.Modify(t, s, kindtest.OfCluster("x"), func(pv *corev1.PersistentVolume) {
		pv.Status.Phase = corev1.VolumeBound
		pv.Spec.StorageClassName = "main"
	})
	got := kindtest.ModifyStatus(t, s, kindtest.OfCluster("x"), func(pv *corev1.PersistentVolume) {
		pv.Status.Message = "status"
		pv.Spec.StorageClassName = "status"
		kindtest.Label(pv)
	})
	assert.Equal(t, corev1.VolumePending, got.Status.Phase)
	assert.Equal(t, "main", got.Spec.StorageClassName)
	assert.Equal(t, "status", got.Status.Message)
	assert.Equal(t, "b", got.Labels["a"])
}

// K-API-1
func TestStatusPatchOfANodeChangesItsAnnotations(t *testing.T) {
	s := kind.NewStore(store.Options{})
	kindtest.Create(t, s, &corev1.Node{ObjectMeta: kindtest.Named("n")})
	got := kindtest.ModifyStatus(t, s, kindtest.OfCluster("n"), func(n *corev1.Node) {
		n.Annotations = map[string]string{"csi.volume.kubernetes.io/nodeid": "{}"}
	})
	assert.Equal(t, "{}", got.Annotations["csi.volume.kubernetes.io/nodeid"])
}

func TestStatusOfAnAttachmentLeavesItsMetadata(t *testing.T) {
	s := kind.NewStore(store.Options{})
	kindtest.Create(t, s, kindtest.Attachment("x", "node-a", "pv"))
	got := kindtest.ModifyStatus(t, s, kindtest.OfCluster("x"), func(va *storagev1.VolumeAttachment) {
		va.Status.Attached = true
		va.Finalizers = []string{"external-attacher/d"}
		kindtest.Label(va)
	})
	assert.True(t, got.Status.Attached)
	assert.Empty(t, got.Finalizers)
	assert.Empty(t, got.Labels)
}

func TestGenerationCountsChangesOfTheSpec(t *testing.T) {
	s := kind.NewStore(store.Options{})
	key := kindtest.InDefault("a")
	kindtest.Create(t, s, kindtest.Pod("a"))
	got := kindtest.Modify(t, s, key, func(p *corev1.Pod) { kindtest.Label(p) })
	assert.Equal(t, int64(1), got.Generation)
	got = kindtest.Modify(t, s, key, func(p *corev1.Pod) { p.Spec.Containers[0].Image = "sleep:2" })
	assert.Equal(t, int64(2), got.Generation)

	kindtest.Create(t, s, &storagev1.CSIDriver{ObjectMeta: kindtest.Named("d")})
	driver := kindtest.Modify(t, s, kindtest.OfCluster("d"), func(d *storagev1.CSIDriver) { *d.Spec.PodInfoOnMount = true })
	assert.Equal(t, int64(1), driver.Generation, "a CSIDriver counts from none")
}

func TestUpdateOfAMissingObject(t *testing.T) {
	s := kind.NewStore(store.Options{})
	_, err := store.Update(s, kindtest.Secret("x"))
	assert.EqualError(t, err, `secrets "x" not found`)

	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: "x", Namespace: "default"}}
	_, err = store.Update(s, lease)
	assert.NoError(t, err, "leases are created by an update")
}
