package provisioner_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/fakecontroller/internal/provisioner"
	"github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// newCapacityWorld creates two nodes with a driver that has a pool of 64Mi on each node.
func newCapacityWorld(t *testing.T, o mock.Options, publishes bool) *world {
	o.GetCapacity, o.CapacityBytes = true, 64<<20
	w := newWorld(t, kernel.Options{}, o, provisioner.Options{})
	testcluster.Create(w, &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: driverName}, Spec: storagev1.CSIDriverSpec{StorageCapacity: &publishes}})
	w.node("node-a")
	w.node("node-b")
	w.Run(time.Second)
	return w
}

// capacities returns the published objects as "class zone capacity".
func (w *world) capacities() []string {
	var lines []string
	for c := range store.List[*storagev1.CSIStorageCapacity](w.Store, "") {
		lines = append(lines, strings.Join([]string{c.StorageClassName, c.NodeTopology.MatchLabels[zoneKey], c.Capacity.String()}, " "))
	}
	slices.Sort(lines)
	return lines
}

// C-PROV-90, C-PROV-92
// conformance: suite-capacity-objects
func TestCapacityIsPublishedForEachSegmentAndClass(t *testing.T) {
	w := newCapacityWorld(t, mock.Options{Topology: true}, true)
	w.class("now")
	w.class("later", waitForFirstConsumer)
	w.Run(time.Second)
	assert.Equal(t, []string{"later node-a 64Mi", "later node-b 64Mi"}, w.capacities())
	for c := range store.List[*storagev1.CSIStorageCapacity](w.Store, "") {
		assert.True(t, strings.HasPrefix(c.Name, "csisc-"))
		assert.Equal(t, map[string]string{
			"csi.storage.k8s.io/drivername": driverName, "csi.storage.k8s.io/managed-by": "external-provisioner",
		}, c.Labels)
	}
	assert.Len(t, w.callTimes("Controller/GetCapacity"), 2)

	_, err := store.Delete[*storagev1.StorageClass](w.Store, store.Key{Name: "later"})
	require.NoError(t, err)
	w.Run(time.Second)
	assert.Empty(t, w.capacities())
}

// C-PROV-91
func TestCapacityIsPolledWhenAVolumeIsCreatedOrDeleted(t *testing.T) {
	w := newCapacityWorld(t, mock.Options{Topology: true}, true)
	w.class("later", waitForFirstConsumer, func(c *storagev1.StorageClass) { c.Parameters = map[string]string{"tier": "fast"} })
	w.Run(time.Second)
	w.claim("c", "later")
	w.pod("p", "c", "node-b")
	w.Run(5 * time.Second)
	assert.Equal(t, []string{"later node-a 64Mi", "later node-b 48Mi"}, w.capacities(), "only where the volume is")
	w.Run(time.Minute)
	assert.Equal(t, []string{"later node-a 48Mi", "later node-b 48Mi"}, w.capacities(), "the pool is one: the poll finds out")
	for _, e := range w.Trace.Events() {
		if request, ok := e.Request.(*csi.GetCapacityRequest); ok {
			assert.Equal(t, map[string]string{"tier": "fast"}, request.GetParameters())
			assert.Empty(t, request.GetVolumeCapabilities())
		}
	}
}

// C-PROV-92, C-PROV-93: missing objects are created, and superfluous ones deleted.
func TestObjectsOfCapacityAreRestored(t *testing.T) {
	w := newCapacityWorld(t, mock.Options{}, true)
	w.class("later", waitForFirstConsumer)
	w.Run(time.Second)
	require.Equal(t, []string{"later  64Mi"}, w.capacities(), "a driver without topology has one segment, everywhere")
	first := slices.Collect(store.List[*storagev1.CSIStorageCapacity](w.Store, ""))[0]
	twin := first.DeepCopy()
	twin.ObjectMeta = metav1.ObjectMeta{Namespace: first.Namespace, Name: "twin", Labels: first.Labels}
	testcluster.Create(w, twin)
	w.Run(time.Second)
	assert.Len(t, w.capacities(), 1)
	for c := range store.List[*storagev1.CSIStorageCapacity](w.Store, "") {
		_, err := store.Delete[*storagev1.CSIStorageCapacity](w.Store, store.KeyOf(c))
		require.NoError(t, err)
	}
	w.Run(time.Second)
	assert.Len(t, w.capacities(), 1)
}

func TestCapacityIsPublishedOnlyOnRequestOfTheDriver(t *testing.T) {
	w := newCapacityWorld(t, mock.Options{}, false)
	w.class("later", waitForFirstConsumer)
	w.Run(5 * time.Minute)
	assert.Empty(t, w.capacities())
	assert.Empty(t, w.callTimes("Controller/GetCapacity"))
}

// C-SCHED-6, C-SCHED-10: a pod waits until a node has capacity, and is scheduled there.
// conformance: csimock-capacity-check-too-small, csimock-capacity-check-enough
func TestAPodWaitsUntilThereIsRoom(t *testing.T) {
	w := newCapacityWorld(t, mock.Options{}, true)
	w.class("later", waitForFirstConsumer)
	w.claim("big", "later")
	w.Run(time.Second)
	big := testcluster.Create(w, &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "bigger"},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: ptr.To("later"),
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("64Mi")}},
		},
	})
	w.pod("p", "big", "")
	w.Run(5 * time.Second)
	w.pod("q", big.Name, "")
	w.Run(5 * time.Second)
	pod, _ := get[*corev1.Pod](w, "default", "q")
	assert.Empty(t, pod.Spec.NodeName)
	assert.Contains(t, pod.Status.Conditions[0].Message, "node(s) did not have enough free storage")
	assert.Len(t, w.callTimes("Controller/CreateVolume"), 1)
	_, err := store.Delete[*corev1.Pod](w.Store, store.Key{Namespace: "default", Name: "p"}, store.GracePeriod(0))
	require.NoError(t, err)
	w.deleteClaim("big")
	w.Run(5 * time.Second)
	pod, _ = get[*corev1.Pod](w, "default", "q")
	assert.NotEmpty(t, pod.Spec.NodeName)
}
