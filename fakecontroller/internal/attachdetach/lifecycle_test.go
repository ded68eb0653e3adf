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

// C-ADC-60, C-ADC-61, K-ATT-10, golden b1: when attaching, first the attachment changes, half a
// second later the event is emitted, then the node changes. When detaching, the node changes before
// the attachment. conformance: adc-one-attach, adc-attach-detach-after-unmount, unit-va-attach-ok,
// unit-ad-attach-required-true
func TestVolumeIsAttachedAndDetachedInOrder(t *testing.T) {
	c := newCluster(t)
	c.node("node-a")
	c.volume("v")
	c.attacher()
	Start(c.World, Options{})
	c.At(1030 * time.Millisecond)
	c.pod("p", "node-a", "v")
	c.At(5 * time.Second)
	c.uses("node-a", "v")
	c.At(10 * time.Second)
	c.deletePod("p")
	c.At(15030 * time.Millisecond)
	require.NotNil(t, c.attachment("v", "node-a"), "the node still uses the volume") // C-ADC-25
	c.uses("node-a")
	c.At(20 * time.Second)

	assert.Equal(t, []string{
		"1.1s attachment ADDED",
		`1.6s Pod/p SuccessfulAttachVolume AttachVolume.Attach succeeded for volume "v" `,
		"1.6s node-a has 1 attached",
		"15.1s node-a has 0 attached",
		"15.1s attachment DELETED",
	}, c.story())
}

// conformance: adc-idle
func TestIdleControllerIsQuiet(t *testing.T) {
	c := newCluster(t)
	c.node("node-a")
	c.volume("v")
	c.attacher()
	Start(c.World, Options{})
	c.pod("p", "node-a", "v")
	assert.Equal(t, kernel.Quiet, c.Kernel.Run(kernel.Until{StopWhenQuiet: true}))
	assert.Equal(t, []string{unique("v")}, c.volumesAttached("node-a"))
	assert.Less(t, c.Kernel.Elapsed(), 2*time.Second)
	assert.Equal(t, kernel.Stuck, c.Kernel.Run(kernel.Until{}), "no timer is left, not even of housekeeping")
}

// C-GEN-11: there is no attachment if and only if the driver needs none. conformance:
// unit-ad-attach-required-false, unit-ad-attach-required-unset, unit-can-attach-pv
func TestVolumeOfDriverWithoutAttachIsLeftAlone(t *testing.T) {
	for name, required := range map[string]*bool{"false": new(false), "true": new(true), "unset": nil} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			testcluster.Create(c, &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: driver}, Spec: storagev1.CSIDriverSpec{AttachRequired: required}})
			c.node("node-a")
			c.volume("v")
			Start(c.World, Options{})
			c.pod("p", "node-a", "v")
			c.At(10 * time.Second)
			assert.Equal(t, name != "false", c.attachment("v", "node-a") != nil)
		})
	}
}

// C-GEN-11: an inline volume is never attached, and does not prevent the verification of other
// volumes. conformance: unit-va-attach-inline-refused, unit-va-verify-with-inline
func TestInlineVolumeIsLeftAlone(t *testing.T) {
	c := newCluster(t)
	c.node("node-a")
	c.volume("v")
	c.attacher()
	Start(c.World, Options{})
	c.podWith("p", "node-a", corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{Driver: driver}})
	c.pod("q", "node-a", "v")
	c.At(3 * time.Minute)
	for va := range store.List[*storagev1.VolumeAttachment](c.Store, "") {
		assert.Equal(t, "v", *va.Spec.Source.PersistentVolumeName)
	}
	assert.Equal(t, []string{unique("v")}, c.volumesAttached("node-a"))
}

// C-CSIP-7: a missing attachment need not be deleted. conformance: unit-va-detach-already-gone
func TestDetachOfAMissingAttachmentSucceeds(t *testing.T) {
	c := newCluster(t)
	c.node("node-a")
	c.volume("v")
	c.attacher()
	ctl := Start(c.World, Options{})
	c.pod("p", "node-a", "v")
	c.At(2 * time.Second)
	c.uses("node-a", "v")
	c.deletePod("p")
	c.attachmentVanishes("v", "node-a")
	c.At(10 * time.Second)
	require.NotNil(t, ctl.actual.get(pair{unique("v"), "node-a"}))
	c.uses("node-a")
	c.At(11 * time.Second)
	assert.Nil(t, ctl.actual.get(pair{unique("v"), "node-a"}))
	assert.Empty(t, c.volumesAttached("node-a"))
	assert.Empty(t, c.warnings())
}

// C-ADC-9: the controller attaches only for nodes that request it. conformance:
// adc-pod-on-unknown-node-refused
func TestPodOnUnmanagedNodeIsIgnored(t *testing.T) {
	c := newCluster(t)
	c.node("node-a")
	c.changeNode("node-a", func(n *corev1.Node) { n.Annotations = nil })
	c.volume("v")
	Start(c.World, Options{})
	c.pod("p", "node-a", "v")
	c.At(10 * time.Second)
	assert.Nil(t, c.attachment("v", "node-a"))
}

// C-ADC-16: the pod listing finds a pod that was created before its node.
func TestPodBeforeItsNodeWaitsForTheListing(t *testing.T) {
	c := newCluster(t)
	c.volume("v")
	c.attacher()
	Start(c.World, Options{})
	c.pod("p", "node-a", "v")
	c.At(time.Second)
	c.node("node-a")
	at := c.until("attachment", func() bool { return c.attachment("v", "node-a") != nil })
	assert.Equal(t, podListPeriod, at)
}

// C-ADC-12: the claim's binding makes the volume known.
func TestClaimBoundAfterThePodIsAttached(t *testing.T) {
	c := newCluster(t)
	c.node("node-a")
	c.attacher()
	Start(c.World, Options{})
	c.pod("p", "node-a", "v")
	c.At(time.Second)
	c.volume("v")
	c.At(2 * time.Second)
	assert.NotNil(t, c.attachment("v", "node-a"))
}

// C-ADC-34, golden d2: the conflict is reported once, and the volume is attached after the other
// node has released it.
func TestMultiAttachIsReportedOnceAndResolved(t *testing.T) {
	c := newCluster(t)
	c.node("node-a")
	c.node("node-b")
	c.volume("v")
	c.attacher()
	Start(c.World, Options{})
	c.pod("d2", "node-a", "v")
	c.At(2 * time.Second)
	c.uses("node-a", "v")
	c.pod("d2b", "node-b", "v")
	c.At(20 * time.Second)
	c.deletePod("d2")
	c.uses("node-a")
	c.At(30 * time.Second)

	assert.Equal(t, []string{
		"0s attachment ADDED",
		`500ms Pod/d2 SuccessfulAttachVolume AttachVolume.Attach succeeded for volume "v" `,
		"500ms node-a has 1 attached",
		`2s Pod/d2b FailedAttachVolume Multi-Attach error for volume "v" Volume is already used by pod(s) d2`,
		"20s node-a has 0 attached",
		"20s attachment DELETED",
		"20.5s attachment ADDED", // fact 32: about 0.5 s after the deletion of the old one
		`21s Pod/d2b SuccessfulAttachVolume AttachVolume.Attach succeeded for volume "v" `,
		"21s node-b has 1 attached",
	}, c.story())
}

// C-ADC-31: two nodes at once.
// conformance: adc-rwx-two-nodes
func TestManyNodesAttachASharedVolume(t *testing.T) {
	c := newCluster(t)
	c.node("node-a")
	c.node("node-b")
	c.volume("v", corev1.ReadWriteMany)
	c.attacher()
	Start(c.World, Options{})
	c.pod("p", "node-a", "v")
	c.pod("q", "node-b", "v")
	c.At(2 * time.Second)
	assert.Equal(t, []string{unique("v")}, c.volumesAttached("node-a"))
	assert.Equal(t, []string{unique("v")}, c.volumesAttached("node-b"))
	assert.Empty(t, c.warnings())
}

// Two pods of one node need one attachment, until the last is deleted.
// conformance: adc-volume-wanted-until-last-pod, adc-shared-volume-one-attach-per-node
func TestLastPodOfANodeDetaches(t *testing.T) {
	c := newCluster(t)
	c.node("node-a")
	c.volume("v")
	c.attacher()
	Start(c.World, Options{})
	c.pod("p", "node-a", "v")
	c.pod("q", "node-a", "v")
	c.At(2 * time.Second)
	c.deletePod("p")
	c.uses("node-a")
	c.At(4 * time.Second)
	require.NotNil(t, c.attachment("v", "node-a"))
	c.deletePod("q")
	c.At(6 * time.Second)
	assert.Nil(t, c.attachment("v", "node-a"))
}

// fact 57, golden ee3: the periodic check finds the missing attachment. conformance:
// unit-va-verify-all
func TestAttachmentDeletedByHandIsMadeAgain(t *testing.T) {
	c := newCluster(t)
	c.node("node-a")
	c.volume("v")
	c.attacher()
	Start(c.World, Options{})
	c.pod("p", "node-a", "v")
	c.At(10 * time.Second)
	_, err := store.Delete[*storagev1.VolumeAttachment](c.Store, store.KeyOf(c.attachment("v", "node-a")))
	require.NoError(t, err)
	c.At(59 * time.Second)
	require.Nil(t, c.attachment("v", "node-a"))
	c.At(70 * time.Second)

	assert.Equal(t, []string{
		"0s attachment ADDED",
		`500ms Pod/p SuccessfulAttachVolume AttachVolume.Attach succeeded for volume "v" `,
		"500ms node-a has 1 attached",
		"10s attachment DELETED",
		"1m0s node-a has 0 attached",
		"1m0s attachment ADDED",
		`1m0.5s Pod/p SuccessfulAttachVolume AttachVolume.Attach succeeded for volume "v" `,
		"1m0.5s node-a has 1 attached",
	}, c.story()[:8])
}
