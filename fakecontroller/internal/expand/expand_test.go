package expand

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/csisim/csisim/drivers/mock"
	tc "github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/trace"
)

func newCluster(t *testing.T) *tc.Cluster {
	c := tc.New(t, kernel.Calm{}, mock.Options{})
	tc.Create(c, &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "grows"}, Provisioner: tc.Driver, AllowVolumeExpansion: ptr.To(true)})
	c.Bound("v", "grows")
	Start(c.World)
	c.Run(time.Second)
	return c
}

func grow(c *tc.Cluster) {
	tc.Change(c, tc.Get[claim](c, "default", "v"), func(pvc claim) {
		pvc.Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse("2Gi")
	})
	c.Run(time.Second)
}

// C-EXP-2, C-EXP-4
func TestTheEventOfACSIVolumeNamesAnExternalExpander(t *testing.T) {
	c := newCluster(t)
	assert.Empty(t, c.Events(0, trace.KubeEvent), "there is nothing to expand yet")
	grow(c)
	assert.Equal(t, []string{"ExternalExpanding waiting for an external controller to expand this PVC"}, c.Events(0, trace.KubeEvent))
	assert.Empty(t, tc.Get[claim](c, "default", "v").Annotations)
}

// C-EXP-3
func TestTheEventOfAMigratedVolumeNamesTheDriver(t *testing.T) {
	c := tc.New(t, kernel.Calm{}, mock.Options{})
	tc.Create(c, &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "grows"}, Provisioner: "kubernetes.io/cinder", AllowVolumeExpansion: ptr.To(true)})
	pvc, pv := c.Bound("v", "grows")
	tc.Delete(c, pv)
	tc.Change(c, pv, func(pv *corev1.PersistentVolume) { pv.Finalizers = nil })
	in := pv.DeepCopy()
	in.ObjectMeta = metav1.ObjectMeta{Name: "v"}
	in.Spec.PersistentVolumeSource = corev1.PersistentVolumeSource{Cinder: &corev1.CinderPersistentVolumeSource{VolumeID: "h"}}
	in.Spec.ClaimRef.UID = pvc.UID
	tc.Create(c, in)
	Start(c.World)
	c.Run(time.Second)
	grow(c)
	assert.Equal(t, []string{"ExternalExpanding CSI migration enabled for kubernetes.io/cinder; waiting for external resizer to expand the pvc"}, c.Events(0, trace.KubeEvent))
	assert.Equal(t, "cinder.csi.openstack.org", tc.Get[claim](c, "default", "v").Annotations["volume.kubernetes.io/storage-resizer"])
}

// C-EXP-1: a claim is processed when it is created, when its requested size grows or when its
// capacity grows, and only while it is bound.
func TestAClaimIsProcessedWhenItGrows(t *testing.T) {
	lose := func(c *tc.Cluster) {
		tc.ChangeStatus(c, tc.Get[claim](c, "default", "v"), func(pvc claim) { pvc.Status.Phase = corev1.ClaimLost })
	}
	for says, c := range map[string]struct {
		before, change func(*tc.Cluster)
		got            bool
	}{
		"a larger size is requested": {change: grow, got: true},
		"more is there, but not enough": {before: grow, change: func(c *tc.Cluster) {
			tc.ChangeStatus(c, tc.Get[claim](c, "default", "v"), func(pvc claim) { pvc.Status.Capacity[corev1.ResourceStorage] = resource.MustParse("1500Mi") })
		}, got: true},
		"a label is added": {before: grow, change: func(c *tc.Cluster) {
			tc.Change(c, tc.Get[claim](c, "default", "v"), func(pvc claim) { pvc.Labels = map[string]string{"a": "b"} })
		}},
		"a smaller size is requested": {before: grow, change: func(c *tc.Cluster) {
			tc.Change(c, tc.Get[claim](c, "default", "v"), func(pvc claim) { pvc.Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse("1500Mi") })
		}},
		"a claim that is lost gets more": {before: func(c *tc.Cluster) {
			grow(c)
			lose(c)
			c.Run(time.Second)
		}, change: func(c *tc.Cluster) {
			tc.ChangeStatus(c, tc.Get[claim](c, "default", "v"), func(pvc claim) { pvc.Status.Capacity[corev1.ResourceStorage] = resource.MustParse("1500Mi") })
		}},
	} {
		t.Run(says, func(t *testing.T) {
			cluster := newCluster(t)
			if c.before != nil {
				c.before(cluster)
			}
			start := cluster.Trace.Last()
			c.change(cluster)
			cluster.Run(time.Second)
			var sources []string
			for _, e := range cluster.Trace.Events() {
				if e.Seq > start && e.Kind == trace.KubeEvent {
					sources = append(sources, e.Actor)
				}
			}
			if c.got {
				assert.Equal(t, []string{"volume_expand"}, sources)
			} else {
				assert.Empty(t, sources)
			}
		})
	}
}
