package attachdetach

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/store"
)

func TestAttachmentIsRead(t *testing.T) {
	deleted := metav1.Now()
	failed := &storagev1.VolumeError{Message: "no"}
	va := func(s storagev1.VolumeAttachmentStatus) *storagev1.VolumeAttachment {
		return &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: "va"}, Status: s}
	}
	leaving := va(storagev1.VolumeAttachmentStatus{Attached: true})
	leaving.DeletionTimestamp = &deleted
	cases := []struct {
		rule string
		look func(*storagev1.VolumeAttachment) (bool, error)
		va   *storagev1.VolumeAttachment
		done bool
		err  string
	}{
		{"C-CSIP-5: not in the cache yet", attached, nil, false, ""},
		{"C-CSIP-5: being deleted", attached, leaving, false, "VolumeAttachment va is being deleted"},
		{"C-CSIP-5: attached, in spite of an old error", attached, va(storagev1.VolumeAttachmentStatus{Attached: true, AttachError: failed}), true, ""},
		{"C-CSIP-6: error, be it an old one", attached, va(storagev1.VolumeAttachmentStatus{AttachError: failed}), false, "no"},
		{"C-CSIP-5: nothing yet", attached, va(storagev1.VolumeAttachmentStatus{}), false, ""},
		{"C-CSIP-7: gone", detached, nil, true, ""},
		{"C-CSIP-8: error", detached, va(storagev1.VolumeAttachmentStatus{DetachError: failed}), false, "no"},
		{"C-CSIP-7: still there", detached, leaving, false, ""},
	}
	for _, tc := range cases {
		t.Run(tc.rule, func(t *testing.T) {
			done, err := tc.look(tc.va)
			assert.Equal(t, tc.done, done)
			if tc.err == "" {
				assert.NoError(t, err)
			} else {
				assert.EqualError(t, err, tc.err)
			}
		})
	}
}

// C-CSIP-4
func TestPollsGrowApartUpToSevenSeconds(t *testing.T) {
	s := newPolls(0, func() int { return 0 })
	var at []time.Duration
	for range 4 {
		at = append(at, s.notBefore(s.at).Round(time.Millisecond))
		s.step()
	}
	assert.Equal(t, []time.Duration{500 * time.Millisecond, 1025 * time.Millisecond, 1576 * time.Millisecond, 2155 * time.Millisecond}, at)
	for range 100 {
		s.step()
	}
	before := s.at
	s.step()
	assert.Equal(t, maxPoll, s.at-before)

	late := newPolls(0, func() int { return maxJitter })
	assert.Equal(t, 550*time.Millisecond, late.at)
}

// C-GEN-9, C-ADC-33, fact 24, golden l17: the controller retries at its own intervals, independent
// of the attacher. An uncertain attachment is attached again, and each failure is an event and a
// step of the backoff. conformance: unit-va-attach-driver-error
func TestFailedAttachIsReportedAtTheControllersOwnPace(t *testing.T) {
	c := newCluster(t)
	c.node("node-a")
	c.volume("v")
	Start(c.World, Options{})
	c.pod("p", "node-a", "v")
	c.until("attachment", func() bool { return c.attachment("v", "node-a") != nil })
	c.setAttachment("v", "node-a", func(s *storagev1.VolumeAttachmentStatus) {
		s.AttachError = &storagev1.VolumeError{Message: "rpc error: code = Internal desc = no"}
	})
	c.At(140 * time.Second)
	// The times are counted from the creation of the attachment.
	golden := []float64{0.53, 1.63, 3.21, 5.85, 10.45, 18.97, 35.57, 68.17, 132.76}
	at := c.warnings()
	require.Len(t, at, len(golden))
	for i, want := range golden {
		assert.InDelta(t, want, at[i].Seconds(), max(0.15, want*0.02))
	}
	assert.Contains(t, c.story()[1], `Pod/p FailedAttachVolume AttachVolume.Attach failed for volume "v" : rpc error: code = Internal desc = no`)

	// C-CSIP-5: the attacher succeeds, which the controller notices at the next attempt.
	c.setAttachment("v", "node-a", func(s *storagev1.VolumeAttachmentStatus) {
		*s = storagev1.VolumeAttachmentStatus{Attached: true}
	})
	noticed := c.until("volumesAttached", func() bool { return len(c.volumesAttached("node-a")) == 1 })
	assert.InDelta(t, 132.76+122.6, noticed.Seconds(), 3)
}

// C-CSIP-9
// conformance: unit-va-attach-mismatched-volume, unit-va-attach-mismatched-driver
func TestAttachTimesOutAfterTwoMinutes(t *testing.T) {
	c := newCluster(t)
	c.node("node-a")
	c.volume("v")
	Start(c.World, Options{})
	c.pod("p", "node-a", "v")
	c.At(121 * time.Second)
	assert.Equal(t, []time.Duration{attachmentWait}, c.warnings())
	assert.Contains(t, c.story()[1], "timed out waiting for external-attacher of disk.csi.example.com CSI driver to attach volume h-v")
}

// C-OP-2, C-ADC-21, C-ADC-40, fact 29: a volume that failed to attach is detached, but only after
// the node has reported. conformance: adc-new-attachment-assumed-mounted,
// adc-volumes-in-use-clears-mounted
func TestUncertainAttachIsDetachedAfterTheNodeReports(t *testing.T) {
	c := newCluster(t)
	c.node("node-a")
	c.volume("v")
	a := Start(c.World, Options{})
	c.pod("p", "node-a", "v")
	c.until("attachment", func() bool { return c.attachment("v", "node-a") != nil })
	c.setAttachment("v", "node-a", func(s *storagev1.VolumeAttachmentStatus) {
		s.AttachError = &storagev1.VolumeError{Message: "no"}
	})
	c.At(time.Second)
	at := pair{unique("v"), "node-a"}
	require.NotNil(t, a.actual.get(at))
	require.False(t, a.actual.confirmed(at))
	c.deletePod("p")
	c.At(5 * time.Minute)
	assert.NotNil(t, c.attachment("v", "node-a"), "mounted until told otherwise")
	c.uses("node-a")
	c.changeNodeStatus("node-a", func(s *corev1.NodeStatus) { s.Conditions[0].Message = "any change will do" })
	assert.Equal(t, 5*time.Minute, c.until("detach", c.gone("v", "node-a")))
	assert.Empty(t, c.volumesAttached("node-a"))
}

// C-ADC-34: an uncertain attachment on one node does not prevent an attachment to another.
// conformance: adc-uncertain-on-one-node-attached-on-other
func TestUncertainAttachDoesNotExclude(t *testing.T) {
	c := newCluster(t)
	c.node("node-a")
	c.node("node-b")
	c.volume("v")
	Start(c.World, Options{})
	c.pod("p", "node-a", "v")
	c.until("attachment", func() bool { return c.attachment("v", "node-a") != nil })
	c.setAttachment("v", "node-a", func(s *storagev1.VolumeAttachmentStatus) {
		s.AttachError = &storagev1.VolumeError{Message: "no"}
	})
	c.At(time.Second)
	c.deletePod("p")
	c.pod("q", "node-b", "v")
	c.At(10 * time.Second)
	assert.NotNil(t, c.attachment("v", "node-b"))
}

// C-OP-4, fact 28: there is no event, the node's status does not change again, and the retry
// follows the backoff.
func TestFailedDetachStaysUnreportedAndIsRetried(t *testing.T) {
	c := newCluster(t)
	c.node("node-a")
	c.volume("v")
	Start(c.World, Options{})
	c.pod("p", "node-a", "v")
	c.until("attachment", func() bool { return c.attachment("v", "node-a") != nil })
	c.setAttachment("v", "node-a", func(s *storagev1.VolumeAttachmentStatus) { s.Attached = true })
	key := store.KeyOf(c.attachment("v", "node-a"))
	_, err := store.Modify(c.Store, key, func(va *storagev1.VolumeAttachment) { va.Finalizers = []string{"external-attacher/disk"} })
	require.NoError(t, err)
	c.At(time.Second)
	c.deletePod("p")
	c.uses("node-a")
	c.At(1200 * time.Millisecond)
	c.setAttachment("v", "node-a", func(s *storagev1.VolumeAttachmentStatus) {
		s.DetachError = &storagev1.VolumeError{Message: "no"}
	})
	c.At(2 * time.Minute)
	assert.Empty(t, c.volumesAttached("node-a"))
	assert.Empty(t, c.warnings())
	_, err = store.Modify(c.Store, key, func(va *storagev1.VolumeAttachment) { va.Finalizers = nil })
	require.NoError(t, err)
	c.At(10 * time.Minute)
	assert.Equal(t, []string{"2m0s attachment DELETED"}, c.story()[4:], "it ends without a word")
}
