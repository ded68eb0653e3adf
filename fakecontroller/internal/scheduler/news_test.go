package scheduler

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/csisim/csisim/internal/world/store"
)

// C-SCHED-10, C-SCHED-27: the events that make the scheduler retry an unschedulable pod.
func TestEventsThatReturnAPodToTheQueue(t *testing.T) {
	hosts := &metav1.LabelSelector{MatchLabels: map[string]string{corev1.LabelHostname: "n"}}
	capacity := func(size string) *storagev1.CSIStorageCapacity {
		return &storagev1.CSIStorageCapacity{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "cap"},
			StorageClassName: "later", NodeTopology: hosts, Capacity: ptr.To(resource.MustParse(size))}
	}
	csiDriver := &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: driver}, Spec: storagev1.CSIDriverSpec{StorageCapacity: ptr.To(true)}}
	inline := func(p *corev1.Pod) {
		p.Spec.Volumes = append(p.Spec.Volumes, corev1.Volume{Name: "own", VolumeSource: corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{Driver: driver}}})
	}
	noSpace := []store.Object{csiDriver, laterClass(driver), aClaim("c", "later"), capacity("1Mi")}
	full := []store.Object{csiNode("n", 1), aClaim("c1", "later", boundTo("v1")), aVolume("v1"), aClaim("c", "later", boundTo("v")), aVolume("v"),
		aPod("first", using("c1")), aPod("without")}
	nowhere := []store.Object{laterClass(driver, "m"), aClaim("c", "later")}
	for _, c := range []struct {
		says  string
		given []store.Object
		pod   *corev1.Pod
		event func(w *world)
		again bool
	}{
		{"a capacity grows", noSpace, aPod("p", using("c")), func(w *world) {
			modify(w, "default", "cap", func(c *storagev1.CSIStorageCapacity) { c.Capacity = ptr.To(resource.MustParse("2Mi")) })
		}, true},
		{"a capacity shrinks", noSpace, aPod("p", using("c")), func(w *world) {
			modify(w, "default", "cap", func(c *storagev1.CSIStorageCapacity) { c.Capacity = ptr.To(resource.MustParse("1Ki")) })
		}, false},
		{"a capacity comes", noSpace, aPod("p", using("c")), func(w *world) {
			more := capacity("1Mi")
			more.Name = "more"
			w.add(more)
		}, true},
		{"a driver publishes no capacity any more", noSpace, aPod("p", using("c")), func(w *world) {
			modify(w, "", driver, func(d *storagev1.CSIDriver) { d.Spec.StorageCapacity = ptr.To(false) })
		}, false},
		{"the same, for a pod that describes a volume of the driver itself, too", noSpace, aPod("p", using("c"), inline), func(w *world) {
			modify(w, "", driver, func(d *storagev1.CSIDriver) { d.Spec.StorageCapacity = ptr.To(false) })
		}, true},
		{"the class allows more nodes", nowhere, aPod("p", using("c")), func(w *world) {
			modify(w, "", "later", func(c *storagev1.StorageClass) { c.AllowedTopologies = nil })
		}, true},
		{"the class may grow", nowhere, aPod("p", using("c")), func(w *world) {
			modify(w, "", "later", func(c *storagev1.StorageClass) { c.AllowVolumeExpansion = ptr.To(true) })
		}, false},
		{"a limit grows", full, aPod("p", using("c")), func(w *world) { setLimit(w, 2) }, true},
		{"a limit shrinks", full, aPod("p", using("c")), func(w *world) { setLimit(w, 0) }, false},
		{"a pod with volumes goes", full, aPod("p", using("c")), func(w *world) { remove[*corev1.Pod](w, "default", "first") }, true},
		{"a pod without volumes goes", full, aPod("p", using("c")), func(w *world) { remove[*corev1.Pod](w, "default", "without") }, false},
		{"an attachment goes", full, aPod("p", using("c")), func(w *world) { remove[*storagev1.VolumeAttachment](w, "", "va") }, true},
		{"an attachment comes", full, aPod("p", using("c")), func(w *world) { w.add(attachment("vb", "v1", "n")) }, false},
		{"another claim comes", full, aPod("p", using("c")), func(w *world) { w.add(aClaim("x", "later")) }, false},
		{"another node comes", full, aPod("p", using("c"), on("n")), func(w *world) { w.add(aNode("m")) }, true},
		{"the claim comes", nil, aPod("p", using("c")), func(w *world) { w.add(aClaim("c", "x")) }, true},
	} {
		t.Run(c.says, func(t *testing.T) {
			w := guarded(t)
			w.add(aNode("n"))
			for _, obj := range c.given {
				w.add(obj.DeepCopyObject().(store.Object))
			}
			w.Run(time.Second)
			w.add(attachment("va", "v1", "n"), c.pod)
			w.Run(time.Second)
			tried := w.scheduler.queue.attempts[pod("p")]
			assert.NotEmpty(t, w.why("p"))
			c.event(w)
			w.Run(time.Second)
			placed, _ := store.Get[*corev1.Pod](w.Store, pod("p"))
			again := w.scheduler.queue.attempts[pod("p")] > tried || w.scheduler.cluster.isPlaced(placed)
			assert.Equal(t, c.again, again)
		})
	}
}

func setLimit(w *world, limit int32) {
	modify(w, "", "n", func(n *storagev1.CSINode) { n.Spec.Drivers[0].Allocatable.Count = &limit })
}
