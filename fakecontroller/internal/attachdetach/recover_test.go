package attachdetach

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// restartable returns a cluster with its controller, in which pod p on node-a uses v.
func restartable(t *testing.T) (*cluster, *Controller) {
	c := newCluster(t)
	c.node("node-a")
	c.volume("v")
	c.attacher()
	a := Start(c.World, Options{})
	c.pod("p", "node-a", "v")
	return c, a
}

// fact 36, golden m3: a volume that became superfluous meanwhile is detached at once.
// conformance: adc-restart-no-new-pods
func TestRestartDetachesVolumesReleasedMeanwhile(t *testing.T) {
	c, a := restartable(t)
	c.At(5 * time.Second)
	c.uses("node-a", "v")
	a.Crash()
	c.deletePod("p")
	c.uses("node-a")
	c.At(20 * time.Second)
	require.NotNil(t, c.attachment("v", "node-a"))
	Start(c.World, Options{})
	assert.Equal(t, 20*time.Second, c.until("detach", c.gone("v", "node-a")))
	assert.Empty(t, c.volumesAttached("node-a"))
}

// C-OP-6: if only the name of a volume is known, the controller does not check whether its driver
// needs attaching.
func TestRestartDetachesVolumesThatNeedNoAttaching(t *testing.T) {
	c, a := restartable(t)
	c.At(5 * time.Second)
	a.Crash()
	c.deletePod("p")
	c.uses("node-a")
	testcluster.Create(c, &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: driver}, Spec: storagev1.CSIDriverSpec{AttachRequired: new(false)}})
	c.At(20 * time.Second)
	require.NotNil(t, c.attachment("v", "node-a"))
	Start(c.World, Options{})
	c.At(21 * time.Second)
	assert.Nil(t, c.attachment("v", "node-a"))
	assert.Empty(t, c.volumesAttached("node-a"))
}

// fact 54, golden dd4: the attachment succeeded meanwhile.
func TestRestartFinishesAnAttach(t *testing.T) {
	c, a := restartable(t)
	c.until("attachment", func() bool { return c.attachment("v", "node-a") != nil })
	a.Crash()
	c.At(5 * time.Second)
	Start(c.World, Options{})
	at := c.until("volumesAttached", func() bool { return len(c.volumesAttached("node-a")) == 1 })
	assert.Equal(t, 5500*time.Millisecond, at)
	assert.Contains(t, c.story(), `5.5s Pod/p SuccessfulAttachVolume AttachVolume.Attach succeeded for volume "v" `)
}

// fact 54 (dd5), C-ADC-6, C-ADC-40: without the pod, the attachment stays until the node's status
// is written for any reason.
func TestRestartLeavesAnUncertainAttachmentUntilTheNodeReports(t *testing.T) {
	c, a := restartable(t)
	c.until("attachment", func() bool { return c.attachment("v", "node-a") != nil })
	a.Crash()
	c.deletePod("p")
	c.At(5 * time.Second)
	Start(c.World, Options{})
	c.At(4 * time.Minute)
	require.NotNil(t, c.attachment("v", "node-a"))
	c.changeNodeStatus("node-a", func(s *corev1.NodeStatus) { s.Conditions[0].Message = "five-minute report" })
	assert.Equal(t, 4*time.Minute, c.until("detach", c.gone("v", "node-a")))
}

// C-ADC-3, C-ADC-7: the controller reads the attached volumes before the desired ones, and both
// before its first pass: a running pod is not affected. conformance: adc-restart-populates-state
func TestRestartKeepsVolumesInUse(t *testing.T) {
	c, a := restartable(t)
	c.At(5 * time.Second)
	c.uses("node-a", "v")
	a.Crash()
	before := len(c.story())
	a = Start(c.World, Options{})
	c.At(5 * time.Minute)
	assert.Len(t, c.story(), before)
	assert.NotNil(t, a.actual.volumes[unique("v")].spec, "it has the spec of its pod's volume")
}

// C-ADC-5, C-ADC-7: a volume that no pod uses any more is detached. The volume of a pod that is
// created while the controller starts is attached, in any order of events.
// conformance: adc-restart-pod-between-state-loads, adc-restart-pod-after-state-load
func TestAPodCreatedWhileTheControllerStarts(t *testing.T) {
	for seed := range uint64(40) {
		c := newClusterUnder(t, kernel.NewRandom(seed))
		for _, node := range []string{"node-a", "node-b"} {
			c.node(node)
			c.changeNodeStatus(node, func(s *corev1.NodeStatus) {
				s.VolumesAttached = []corev1.AttachedVolume{{Name: corev1.UniqueVolumeName(unique("stale-" + node))}}
			})
		}
		c.volume("v", corev1.ReadWriteMany)
		c.pod("p", "node-a", "v")
		c.attacher()
		Start(c.World, Options{})
		c.World.Start("user", "").Go("", func(p *kernel.Process) {
			for range seed % 8 {
				p.Yield("a moment")
			}
			c.pod("q", "node-b", "v")
		})
		c.At(5 * time.Minute)
		for _, node := range []string{"node-a", "node-b"} {
			assert.Equal(t, []string{unique("v")}, c.volumesAttached(node), "seed %d", seed)
			assert.True(t, c.attachment("v", node).Status.Attached, "seed %d", seed)
		}
		assert.Empty(t, c.warnings())
	}
}

// C-ADC-5, C-ADC-51: the list in the node's status is verified.
func TestRestartMakesALostAttachmentAgain(t *testing.T) {
	c, a := restartable(t)
	c.At(5 * time.Second)
	c.uses("node-a", "v")
	a.Crash()
	c.attachmentVanishes("v", "node-a")
	Start(c.World, Options{})
	at := c.until("attachment", func() bool { return c.attachment("v", "node-a") != nil })
	assert.Equal(t, 65*time.Second, at)
}

func (c *cluster) attachmentVanishes(volume, node string) {
	c.T.Helper()
	_, err := store.Delete[*storagev1.VolumeAttachment](c.Store, store.KeyOf(c.attachment(volume, node)))
	require.NoError(c.T, err)
	c.until("end of the attachment", c.gone(volume, node))
}

// C-ADC-5, C-ADC-6: an attachment of a migrated volume belongs to the CSI volume, never to the
// in-tree one.
// conformance: adc-restart-va-of-migrated-pv-in-node-status, adc-restart-va-of-migrated-pv-pod-gone
func TestRestartKnowsAMigratedVolumeByItsCSIName(t *testing.T) {
	const csiName, inTreeName = "kubernetes.io/csi/ebs.csi.aws.com^vol-1", "kubernetes.io/aws-ebs/vol-1"
	for name, c := range map[string]struct {
		got       []corev1.AttachedVolume
		confirmed bool
	}{
		"the node tells of it":  {[]corev1.AttachedVolume{{Name: csiName}}, true},
		"only the object tells": {nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			cl := newCluster(t)
			cl.node("node-a")
			cl.changeNodeStatus("node-a", func(s *corev1.NodeStatus) { s.VolumesAttached = c.got })
			pv := testcluster.Create(cl, &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: "v"}, Spec: corev1.PersistentVolumeSpec{
				AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
				Capacity:    corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
				PersistentVolumeSource: corev1.PersistentVolumeSource{
					AWSElasticBlockStore: &corev1.AWSElasticBlockStoreVolumeSource{VolumeID: "vol-1"},
				},
			}})
			testcluster.Create(cl, &storagev1.VolumeAttachment{
				ObjectMeta: metav1.ObjectMeta{Name: objectName(pair{csiName, "node-a"})},
				Spec:       storagev1.VolumeAttachmentSpec{Attacher: "ebs.csi.aws.com", NodeName: "node-a", Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &pv.Name}},
			})
			ctl := Start(cl.World, Options{})
			cl.until("recovery", func() bool { return ctl.reconciler != nil })
			require.NotNil(t, ctl.actual.get(pair{csiName, "node-a"}))
			assert.Equal(t, c.confirmed, ctl.actual.confirmed(pair{csiName, "node-a"}))
			assert.Nil(t, ctl.actual.get(pair{inTreeName, "node-a"}))
		})
	}
}
