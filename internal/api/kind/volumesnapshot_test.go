package kind_test

import (
	"testing"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/api/kind/kindtest"
	"github.com/csisim/csisim/internal/world/store"
)

func volumeSnapshot(name, claim string) *snapshotv1.VolumeSnapshot {
	return &snapshotv1.VolumeSnapshot{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"},
		Spec:       snapshotv1.VolumeSnapshotSpec{Source: snapshotv1.VolumeSnapshotSource{PersistentVolumeClaimName: &claim}},
	}
}

func snapshotContent(name string) *snapshotv1.VolumeSnapshotContent {
	return &snapshotv1.VolumeSnapshotContent{
		ObjectMeta: kindtest.Named(name),
		Spec: snapshotv1.VolumeSnapshotContentSpec{
			Driver: "d", DeletionPolicy: snapshotv1.VolumeSnapshotContentDelete,
			VolumeSnapshotRef: corev1.ObjectReference{Namespace: "default", Name: "s"},
			Source:            snapshotv1.VolumeSnapshotContentSource{VolumeHandle: ptr.To("h")},
		},
	}
}

// C-SNAP-1
func TestSnapshotsKeepTheirSource(t *testing.T) {
	s := kind.NewStore(store.Options{})
	both := volumeSnapshot("s", "c")
	both.Spec.Source.VolumeSnapshotContentName = ptr.To("content")
	_, err := store.Create(s, both)
	assert.ErrorContains(t, err, "exactly one of volumeSnapshotContentName and persistentVolumeClaimName must be set")
	kindtest.Create(t, s, volumeSnapshot("s", "c"))
	_, err = store.Modify(s, kindtest.InDefault("s"), func(v *snapshotv1.VolumeSnapshot) { v.Spec.Source.PersistentVolumeClaimName = ptr.To("other") })
	assert.ErrorContains(t, err, "persistentVolumeClaimName is immutable")
	changed := kindtest.Modify(t, s, kindtest.InDefault("s"), func(v *snapshotv1.VolumeSnapshot) { v.Spec.VolumeSnapshotClassName = ptr.To("class") })
	assert.Equal(t, int64(2), changed.Generation)
	var found []string
	for v := range store.Indexed[*snapshotv1.VolumeSnapshot](s, kind.SnapshotsByClaim, "default/c") {
		found = append(found, v.Name)
	}
	assert.Equal(t, []string{"s"}, found)
}

// C-SNAP-1
func TestSnapshotContentsKeepTheirSource(t *testing.T) {
	s := kind.NewStore(store.Options{})
	nameless := snapshotContent("x")
	nameless.Spec.VolumeSnapshotRef.Namespace = ""
	_, err := store.Create(s, nameless)
	assert.ErrorContains(t, err, "both spec.volumeSnapshotRef.name and spec.volumeSnapshotRef.namespace must be set")
	kindtest.Create(t, s, snapshotContent("x"))
	_, err = store.Modify(s, kindtest.OfCluster("x"), func(c *snapshotv1.VolumeSnapshotContent) { c.Spec.Source.VolumeHandle = nil })
	assert.ErrorContains(t, err, "volumeHandle is required once set")
	mode := corev1.PersistentVolumeBlock
	kindtest.Modify(t, s, kindtest.OfCluster("x"), func(c *snapshotv1.VolumeSnapshotContent) { c.Spec.SourceVolumeMode = &mode })
	_, err = store.Modify(s, kindtest.OfCluster("x"), func(c *snapshotv1.VolumeSnapshotContent) { c.Spec.SourceVolumeMode = nil })
	assert.ErrorContains(t, err, "sourceVolumeMode is required once set")

	_, err = store.Create(s, &snapshotv1.VolumeSnapshotClass{ObjectMeta: kindtest.Named("c"), Driver: "d", DeletionPolicy: "Keep"})
	assert.ErrorContains(t, err, `deletionPolicy: Unsupported value: "Keep": supported values: "Delete", "Retain"`)
}

func TestTheStatusOfASnapshotIsWrittenAlone(t *testing.T) {
	s := kind.NewStore(store.Options{})
	kindtest.Create(t, s, volumeSnapshot("s", "c"))
	written := kindtest.ModifyStatus(t, s, kindtest.InDefault("s"), func(v *snapshotv1.VolumeSnapshot) {
		v.Labels = map[string]string{"a": "b"}
		v.Status = &snapshotv1.VolumeSnapshotStatus{ReadyToUse: ptr.To(true)}
	})
	require.NotNil(t, written.Status)
	assert.Empty(t, written.Labels, "of a custom resource the status subresource takes nothing but the status")
	written = kindtest.Modify(t, s, kindtest.InDefault("s"), func(v *snapshotv1.VolumeSnapshot) { v.Status = nil })
	assert.True(t, *written.Status.ReadyToUse)
}
