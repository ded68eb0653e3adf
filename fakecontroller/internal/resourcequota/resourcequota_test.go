package resourcequota

import (
	"testing"
	"time"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/internal/world/store"
)

// world is a cluster with the controller.
type world struct{ *testcluster.API }

func newWorld(t *testing.T) *world {
	w := &world{testcluster.NewAPI(t, nil)}
	Start(w.World)
	return w
}

func (w *world) create(obj store.Object) {
	res, err := store.ResourceOf(obj)
	require.NoError(w.T, err)
	_, err = w.Store.CreateObject(res, obj)
	require.NoError(w.T, err)
}

func named(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "default", Name: name} }

func key(name string) store.Key { return store.Key{Namespace: "default", Name: name} }

// claim creates a claim of a class and a size.
func (w *world) claim(name, class, size string) {
	w.create(&corev1.PersistentVolumeClaim{ObjectMeta: named(name), Spec: corev1.PersistentVolumeClaimSpec{
		StorageClassName: &class, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}},
	}})
}

func (w *world) snapshot(name string) {
	from := "c"
	w.create(&snapshotv1.VolumeSnapshot{ObjectMeta: named(name), Spec: snapshotv1.VolumeSnapshotSpec{Source: snapshotv1.VolumeSnapshotSource{PersistentVolumeClaimName: &from}}})
}

func (w *world) quota(hard map[corev1.ResourceName]string) {
	q := &corev1.ResourceQuota{ObjectMeta: named("q"), Spec: corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{}}}
	for name, amount := range hard { // any order: they are independent
		q.Spec.Hard[name] = resource.MustParse(amount)
	}
	w.create(q)
}

// says returns used/hard for each limit in the quota's status.
func (w *world) says() map[corev1.ResourceName]string {
	q, ok := store.Get[*corev1.ResourceQuota](w.Store, key("q"))
	require.True(w.T, ok)
	texts := map[corev1.ResourceName]string{}
	for name, hard := range q.Status.Hard { // any order: they are independent
		texts[name] = "?/" + hard.String()
		if used, ok := q.Status.Used[name]; ok {
			texts[name] = used.String() + "/" + hard.String()
		}
	}
	return texts
}

const (
	claims    = corev1.ResourcePersistentVolumeClaims
	size      = corev1.ResourceRequestsStorage
	sizeOfStd = corev1.ResourceName("std.storageclass.storage.k8s.io/requests.storage")
	snapshots = corev1.ResourceName("count/volumesnapshots.snapshot.storage.k8s.io")
)

func TestTheStatusOfAQuotaHasItsUsage(t *testing.T) {
	w := newWorld(t)
	w.claim("there", "std", "1Gi")
	w.claim("other", "gold", "2Gi")
	w.snapshot("s")
	w.quota(map[corev1.ResourceName]string{claims: "3", size: "10Gi", sizeOfStd: "5Gi", snapshots: "1", corev1.ResourcePods: "4"})
	w.Run(time.Second)
	assert.Equal(t, map[corev1.ResourceName]string{claims: "2/3", size: "3Gi/10Gi", sizeOfStd: "1Gi/5Gi", snapshots: "1/1", corev1.ResourcePods: "0/4"}, w.says())

	w.claim("new", "std", "1Gi")
	assert.Equal(t, "3/3", w.says()[claims], "the API server counts admitted objects")

	_, err := store.Delete[*snapshotv1.VolumeSnapshot](w.Store, key("s"))
	require.NoError(t, err)
	_, err = store.Modify(w.Store, key("other"), func(c *corev1.PersistentVolumeClaim) { c.Finalizers = nil })
	require.NoError(t, err)
	_, err = store.Delete[*corev1.PersistentVolumeClaim](w.Store, key("other"))
	require.NoError(t, err)
	w.Run(time.Second)
	assert.Equal(t, map[corev1.ResourceName]string{claims: "2/3", size: "2Gi/10Gi", sizeOfStd: "2Gi/5Gi", snapshots: "0/1", corev1.ResourcePods: "0/4"}, w.says())
}

func TestLimitsThatChangeAreInForceWithTheStatus(t *testing.T) {
	w := newWorld(t)
	w.claim("there", "std", "1Gi")
	w.quota(map[corev1.ResourceName]string{claims: "1"})
	w.Run(time.Second)
	_, err := store.Modify(w.Store, key("q"), func(q *corev1.ResourceQuota) {
		q.Spec.Hard = corev1.ResourceList{size: resource.MustParse("1Gi")}
	})
	require.NoError(t, err)
	assert.Equal(t, map[corev1.ResourceName]string{claims: "1/1"}, w.says())
	w.Run(time.Second)
	assert.Equal(t, map[corev1.ResourceName]string{size: "1Gi/1Gi"}, w.says())
}

// Wrong counts are corrected at the next full recalculation.
func TestQuotasAreResynced(t *testing.T) {
	w := newWorld(t)
	w.quota(map[corev1.ResourceName]string{claims: "3"})
	w.Run(time.Second)
	_, err := store.ModifyStatus(w.Store, key("q"), func(q *corev1.ResourceQuota) { q.Status.Used[claims] = resource.MustParse("3") })
	require.NoError(t, err)
	w.Run(4 * time.Minute)
	assert.Equal(t, "3/3", w.says()[claims])
	w.Run(time.Minute)
	assert.Equal(t, "0/3", w.says()[claims])
}

// A pod that has ended still exists, but does not count.
func TestAnEndedPodNoLongerCounts(t *testing.T) {
	w := newWorld(t)
	w.quota(map[corev1.ResourceName]string{corev1.ResourcePods: "1", "count/pods": "5"})
	w.Run(time.Second)
	pod := func(name string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: named(name), Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
	}
	w.create(pod("first"))
	_, err := store.Create(w.Store, pod("second"))
	require.ErrorContains(t, err, `pods "second" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1`)

	_, err = store.ModifyStatus(w.Store, key("first"), func(p *corev1.Pod) { p.Status.Phase = corev1.PodSucceeded })
	require.NoError(t, err)
	w.Run(time.Second)
	assert.Equal(t, map[corev1.ResourceName]string{corev1.ResourcePods: "0/1", "count/pods": "1/5"}, w.says())
	w.create(pod("second"))
}
