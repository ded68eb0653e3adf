package attachdetach

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/operation"
	"github.com/csisim/csisim/internal/world/store"
)

// C-ADC-1, C-ADC-20: a pass runs every 100 ms if something has changed. In a pass, the node's
// status first loses the volumes to detach. Then operations start, and run at the same time.
func TestAPassUpdatesTheNodeStatusBeforeDetaching(t *testing.T) {
	c := newCluster(t)
	c.node("node-a")
	c.volume("v")
	c.volume("w")
	c.attacher()
	Start(c.World, Options{})
	c.pod("p", "node-a", "v")
	c.At(2*time.Second + 10*time.Millisecond)
	c.uses("node-a")
	before := len(c.story())
	c.pod("q", "node-a", "w")
	c.deletePod("p")
	c.At(5 * time.Second)
	assert.Equal(t, []string{
		"2.1s node-a has 0 attached",
		"2.1s attachment ADDED",
		"2.1s attachment DELETED",
		`2.6s Pod/q SuccessfulAttachVolume AttachVolume.Attach succeeded for volume "w" `,
		"2.6s node-a has 1 attached",
	}, c.story()[before:])
}

// C-ADC-22: while an operation runs, the detach is not even requested. The six minutes begin when
// the attach has ended.
func TestTheTimeOfADetachBeginsWhenTheAttachHasEnded(t *testing.T) {
	c := newCluster(t)
	c.node("node-a")
	c.volume("v")
	Start(c.World, Options{}) // no attacher runs: the attach takes two minutes
	c.pod("p", "node-a", "v")
	c.At(10 * time.Second)
	c.deletePod("p")
	c.silent("node-a")
	c.uses("node-a", "v")
	at := c.until("forced detach", c.gone("v", "node-a"))
	assert.InDelta(t, (attachmentWait + 6*time.Minute).Seconds(), at.Seconds(), 0.2)
}

// C-ADC-28: if a detach cannot be started, the node's status lists the volume again.
func TestADetachThatCannotStartIsUndone(t *testing.T) {
	c := newCluster(t)
	c.node("node-a")
	c.volume("v")
	c.attacher()
	ctl := Start(c.World, Options{})
	c.pod("p", "node-a", "v")
	c.At(2 * time.Second)
	c.uses("node-a")
	rival := false
	nodes := store.Watch[*corev1.Node](ctl.Cache)
	// While the status is written, another operation begins on the volume.
	nodes.OnEvent(func() {
		if len(c.volumesAttached("node-a")) == 0 && !rival {
			rival = true
			require.NoError(t, ctl.ops.Run(operation.Key{Volume: unique("v")}, "another", func(p *kernel.Process) error { p.Sleep(3 * time.Second); return nil }))
		}
	})
	before := len(c.story())
	c.deletePod("p")
	c.At(10 * time.Second)
	require.True(t, rival)
	assert.Equal(t, []string{
		"2s node-a has 0 attached",
		"2s node-a has 1 attached",
		"5s node-a has 0 attached",
		"5s attachment DELETED",
	}, c.story()[before:])
}

// C-ADC-32, C-GEN-7, C-CSIP-5: a volume is not attached while another operation on it runs. After a
// failed detach an attach begins at once, despite the backoff of the detach.
func TestAPodThatReturnsWaitsForTheEndOfTheDetach(t *testing.T) {
	c := newCluster(t)
	c.node("node-a")
	c.volume("v")
	ctl := Start(c.World, Options{})
	c.pod("p", "node-a", "v")
	c.until("attachment", func() bool { return c.attachment("v", "node-a") != nil })
	c.setAttachment("v", "node-a", func(s *storagev1.VolumeAttachmentStatus) { s.Attached = true })
	_, err := store.Modify(c.Store, store.KeyOf(c.attachment("v", "node-a")), func(va *storagev1.VolumeAttachment) { va.Finalizers = []string{"external-attacher/disk"} })
	require.NoError(t, err)
	c.At(2 * time.Second)
	c.deletePod("p")
	c.uses("node-a")
	c.At(10 * time.Second)
	c.pod("q", "node-a", "v")
	c.At(2 * time.Minute)
	require.True(t, ctl.ops.IsPending(operation.Key{Volume: unique("v")}))
	require.Empty(t, c.warnings())
	c.At(2*time.Minute + 4*time.Second)
	assert.Contains(t, c.story()[len(c.story())-1], "Pod/q FailedAttachVolume AttachVolume.Attach failed for volume \"v\" : VolumeAttachment ")
	assert.InDelta(t, 122.5, c.warnings()[0].Seconds(), 0.1, "the first look is half a second after the detach ended")
}

// C-ADC-44: if the controller's cache still has a deleted node, the write fails, and is repeated.
func TestTheStatusOfADeletedNodeCannotBeWritten(t *testing.T) {
	c := newCluster(t)
	c.node("n")
	ctl := &Controller{Component: c.World.Start("attachdetach-controller", ""), actual: newActualState()}
	store.Watch[*corev1.Node](ctl.Cache)
	ctl.Cache.SetLag(func() {})
	_, err := store.Delete[*corev1.Node](c.Store, store.Key{Name: "n"})
	require.NoError(t, err)
	ctl.actual.markAttached(pair{unique("v"), "n"}, nil)
	write := func() (err error) {
		ctl.Go("test", func(p *kernel.Process) { err = ctl.patchNode(p, "n") })
		c.At(c.Kernel.Elapsed() + time.Second)
		return err
	}
	require.ErrorContains(t, write(), "write volumesAttached of node n")
	assert.True(t, ctl.actual.flagged["n"])
	ctl.Cache.SetLag(nil)
	require.NoError(t, write(), "C-ADC-27: a node that is not in the cache needs no report")
	assert.False(t, ctl.actual.flagged["n"])
}

// C-ADC-45: a node that is created again shows its attached volumes.
func TestARecreatedNodeGetsItsAttachedVolumes(t *testing.T) {
	c := attachedPod(t, Options{})
	_, err := store.Delete[*corev1.Node](c.Store, store.Key{Name: "node-a"})
	require.NoError(t, err)
	c.At(20 * time.Second)
	c.node("node-a")
	c.At(20*time.Second + pollPeriod)
	assert.Equal(t, []string{unique("v")}, c.volumesAttached("node-a"))
}

// C-ADC-2, C-ADC-50, C-ADC-52: given a volume that counts as attached but is not, then the next
// check finds it, if checks are enabled. The node's status shows the result, and the volume is
// attached again with its existing VolumeAttachment.
func TestAttachmentsAreChecked(t *testing.T) {
	never := time.Duration(0)
	for name, tt := range map[string]struct {
		opts  Options
		found time.Duration
	}{
		"every minute":           {Options{}, time.Minute},
		"every 20 s":             {Options{ReconcileSyncPeriod: 20 * time.Second}, 20 * time.Second},
		"never":                  {Options{DisableReconcileSync: true}, never},
		"too often to be a time": {Options{ReconcileSyncPeriod: 999 * time.Millisecond}, never},
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			c.node("node-a")
			c.volume("v")
			Start(c.World, tt.opts)
			c.pod("p", "node-a", "v")
			attached := func(is bool) {
				c.setAttachment("v", "node-a", func(s *storagev1.VolumeAttachmentStatus) { s.Attached = is })
			}
			c.until("attachment", func() bool { return c.attachment("v", "node-a") != nil })
			attached(true)
			c.At(10 * time.Second)
			attached(false)
			if tt.found == never {
				c.At(10 * time.Minute)
				assert.Equal(t, []string{unique("v")}, c.volumesAttached("node-a"))
				return
			}
			before := len(c.story())
			assert.Equal(t, tt.found, c.until("the check", func() bool { return len(c.volumesAttached("node-a")) == 0 }))
			attached(true)
			c.At(tt.found + 2*time.Second)
			assert.Equal(t, []string{
				tt.found.String() + " node-a has 0 attached",
				(tt.found + firstPoll).String() + ` Pod/p SuccessfulAttachVolume AttachVolume.Attach succeeded for volume "v" `,
				(tt.found + firstPoll).String() + " node-a has 1 attached",
			}, c.story()[before:], "no object is made")
		})
	}
}

// C-ADC-50: uncertain attachments are not checked.
func TestUncertainAttachmentsAreNotVerified(t *testing.T) {
	c := newCluster(t)
	c.node("node-a")
	c.volume("v")
	ctl := Start(c.World, Options{})
	c.pod("p", "node-a", "v")
	c.until("attachment", func() bool { return c.attachment("v", "node-a") != nil })
	c.setAttachment("v", "node-a", func(s *storagev1.VolumeAttachmentStatus) { s.AttachError = &storagev1.VolumeError{Message: "no"} })
	c.At(2 * time.Second)
	c.deletePod("p")
	c.At(5 * time.Minute)
	at := pair{unique("v"), "node-a"}
	require.NotNil(t, ctl.actual.get(at), "the node has not reported: it stays")
	assert.False(t, ctl.actual.confirmed(at))
}
