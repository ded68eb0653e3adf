package realcluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/real/deploy"
)

func volumeOf(driver, name, claim string) corev1.PersistentVolume {
	pv := corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{"pv.kubernetes.io/provisioned-by": driver}}}
	pv.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
	pv.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: driver}
	pv.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "default", Name: claim}
	return pv
}

// A retained volume is deleted before its driver, because nothing could delete it later.
func TestARetainedVolumeIsDeleted(t *testing.T) {
	kept := volumeOf("disk", "pvc-1", "data")
	c, _ := withPods(t, &kept)
	require.NoError(t, c.letGo(t.Context(), kept))
	now, err := c.clients.CoreV1().PersistentVolumes().Get(t.Context(), "pvc-1", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, corev1.PersistentVolumeReclaimDelete, now.Spec.PersistentVolumeReclaimPolicy)
	require.NoError(t, c.letGo(t.Context(), volumeOf("disk", "pvc-gone", "data")), "it was deleted meanwhile")
}

// The volumes of a claim are the volumes that were bound to it, even if they are bound to another
// claim now.
func TestTheVolumesOfClaims(t *testing.T) {
	ours := []made{{resource: corev1.SchemeGroupVersion.WithResource("persistentvolumeclaims"), namespace: "default", name: "data"}}
	assert.True(t, isOfClaim(volumeOf("disk", "pvc-1", "data"), ours))
	assert.False(t, isOfClaim(volumeOf("disk", "pvc-2", "other"), ours))
	assert.False(t, isOfClaim(corev1.PersistentVolume{}, ours))
}

// Claims that a stateful set makes have csisim's label.
func TestClaimsOfAStatefulSetBearTheLabel(t *testing.T) {
	fields := map[string]any{"spec": map[string]any{"volumeClaimTemplates": []any{
		map[string]any{"metadata": map[string]any{"name": "data", "labels": map[string]any{"app": "db"}}}, map[string]any{},
	}}}
	labelClaims(fields)
	assert.Equal(t, map[string]any{"spec": map[string]any{"volumeClaimTemplates": []any{
		map[string]any{"metadata": map[string]any{"name": "data", "labels": map[string]any{"app": "db", deploy.ManagedBy: deploy.By}}},
		map[string]any{"metadata": map[string]any{"labels": map[string]any{deploy.ManagedBy: deploy.By}}},
	}}}, fields)
	labelClaims(map[string]any{}) // of another kind
}

// Namespaces that are being deleted do not block a run.
func TestNamespacesBeingDeletedDoNotBlock(t *testing.T) {
	now := metav1.NewTime(time.Now())
	c, _ := withPods(t,
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "old", DeletionTimestamp: &now, Finalizers: []string{"kubernetes"}}, Status: corev1.NamespaceStatus{Phase: corev1.NamespaceTerminating}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "new"}, Status: corev1.NamespaceStatus{Phase: corev1.NamespaceActive}})
	ending, err := c.ending()
	require.NoError(t, err)
	assert.Equal(t, map[string]bool{"old": true, "new": false}, ending)
}
