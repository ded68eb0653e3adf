package attachdetach

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// C-CSIP-2, C-CSIP-10, C-OP-3, C-ADC-4, C-MIG-4: the driver gets only the data that it needs. The
// node need not have a CSINode, and its status gets no path.
func TestTheWritesOfAnAttach(t *testing.T) {
	c := newCluster(t)
	c.node("node-a")
	c.volume("v")
	c.podWith("inline", "node-a", corev1.VolumeSource{Cinder: &corev1.CinderVolumeSource{VolumeID: "disk-1"}})
	Start(c.World, Options{})
	c.pod("p", "node-a", "v")
	c.until("attachments", func() bool { return c.attachment("v", "node-a") != nil && c.migrated() })

	va := c.attachment("v", "node-a")
	name := "v"
	assert.Equal(t, storagev1.VolumeAttachmentSpec{
		Attacher: driver, NodeName: "node-a", Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &name},
	}, va.Spec)
	assert.Empty(t, va.Finalizers)
	assert.Empty(t, va.Labels)
	assert.Empty(t, va.Annotations)
	assert.Empty(t, va.OwnerReferences)

	inline, _ := store.Get[*storagev1.VolumeAttachment](c.Store, store.Key{Name: objectName(pair{"kubernetes.io/csi/" + cinderDriver + "^disk-1", "node-a"})})
	require.NotNil(t, inline)
	assert.Nil(t, inline.Spec.Source.PersistentVolumeName)
	assert.Equal(t, "disk-1", inline.Spec.Source.InlineVolumeSpec.CSI.VolumeHandle)

	c.setAttachment("v", "node-a", func(s *storagev1.VolumeAttachmentStatus) {
		*s = storagev1.VolumeAttachmentStatus{Attached: true, AttachmentMetadata: map[string]string{"devicePath": "/dev/sdb"}}
	})
	c.At(2 * time.Second)
	node, _ := store.Get[*corev1.Node](c.Store, store.Key{Name: "node-a"})
	assert.Equal(t, []corev1.AttachedVolume{{Name: corev1.UniqueVolumeName(unique("v"))}}, node.Status.VolumesAttached)
	var got []*corev1.Event
	for e := range store.List[*corev1.Event](c.Store, "") {
		got = append(got, e)
	}
	require.Len(t, got, 1)
	assert.Equal(t, corev1.EventTypeNormal, got[0].Type)
	assert.Equal(t, "SuccessfulAttachVolume", got[0].Reason)
	assert.Equal(t, `AttachVolume.Attach succeeded for volume "v" `, got[0].Message)
	assert.Equal(t, "p", got[0].InvolvedObject.Name)
	assert.Equal(t, "attachdetach-controller", got[0].Source.Component)
}

// C-OP-3: every waiting pod of the node gets an event.
func TestAllWaitingPodsAreReported(t *testing.T) {
	c := newCluster(t)
	c.node("node-a")
	c.volume("v")
	c.pod("p", "node-a", "v")
	c.pod("q", "node-a", "v")
	c.attacher()
	Start(c.World, Options{})
	c.At(2 * time.Second)
	assert.Equal(t, []string{
		`500ms Pod/p SuccessfulAttachVolume AttachVolume.Attach succeeded for volume "v" `,
		`500ms Pod/q SuccessfulAttachVolume AttachVolume.Attach succeeded for volume "v" `,
	}, c.story()[1:3])
}

// C-CSIP-3: an existing object with the right name is used with any content, even if the controller
// has not observed it.
func TestAnExistingObjectIsUsed(t *testing.T) {
	for name, unseen := range map[string]bool{"seen": false, "not seen": true} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.node("node-a")
			c.volume("v")
			other := "other"
			at := pair{unique("v"), "node-a"}
			ctl := Start(c.World, Options{DisableReconcileSync: true})
			c.At(time.Second)
			if unseen {
				ctl.Cache.SetLag(func() {})
			}
			testcluster.Create(c, &storagev1.VolumeAttachment{
				ObjectMeta: metav1.ObjectMeta{Name: objectName(at)},
				Spec:       storagev1.VolumeAttachmentSpec{Attacher: "other.example.com", NodeName: "node-b", Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &other}},
			})
			c.setAttachment("v", "node-a", func(s *storagev1.VolumeAttachmentStatus) { s.Attached = true })
			pv, _ := store.Get[*corev1.PersistentVolume](c.Store, store.Key{Name: "v"})
			s, _ := ctl.specOf(pv)
			var failure error
			ctl.Go("attach", func(p *kernel.Process) { failure = ctl.attach(p, at, s, nil) })
			c.At(c.Kernel.Elapsed() + 100*time.Millisecond)
			ctl.Cache.SetLag(nil)
			c.At(c.Kernel.Elapsed() + time.Second)
			require.NoError(t, failure)
			assert.True(t, ctl.actual.confirmed(at))
			assert.Equal(t, "other.example.com", c.attachment("v", "node-a").Spec.Attacher)
		})
	}
}

// C-CSIP-3: any other error of the API server fails the attach.
func TestAnAttachmentThatIsRefusedFailsTheAttach(t *testing.T) {
	c := newCluster(t)
	c.node("node-a")
	c.volume("v")
	ctl := Start(c.World, Options{})
	pv, _ := store.Get[*corev1.PersistentVolume](c.Store, store.Key{Name: "v"})
	s, _ := ctl.specOf(pv)
	s.driver = "not a driver's name"
	var failure error
	ctl.Go("attach", func(p *kernel.Process) { failure = ctl.attach(p, pair{unique("v"), "node-a"}, s, nil) })
	c.At(time.Second)
	require.ErrorContains(t, failure, "spec.attacher")
	assert.False(t, ctl.actual.confirmed(pair{unique("v"), "node-a"}))
	assert.NotNil(t, ctl.actual.get(pair{unique("v"), "node-a"}), "C-OP-2: after any error it is uncertain")
}

// C-CSIP-7: the name of a volume has one separator. If a volume's handle also contains the
// separator, the volume can be attached, but never detached.
func TestAVolumeWithTheSeparatorInItsHandleStaysAttached(t *testing.T) {
	c := newCluster(t)
	c.node("node-a")
	c.volumeOf("v", corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: "pool^v"}})
	c.attacher()
	ctl := Start(c.World, Options{})
	c.pod("p", "node-a", "v")
	name := "kubernetes.io/csi/" + driver + "^pool^v"
	at := pair{name, "node-a"}
	c.At(2 * time.Second)
	require.True(t, ctl.actual.confirmed(at))
	c.uses("node-a")
	c.deletePod("p")
	c.At(10 * time.Minute)
	assert.NotNil(t, ctl.actual.get(at))
	assert.Empty(t, c.volumesAttached("node-a"))
	attachments := 0
	for va := range store.List[*storagev1.VolumeAttachment](c.Store, "") {
		attachments++
		assert.Nil(t, va.DeletionTimestamp)
	}
	assert.Equal(t, 1, attachments)
}
