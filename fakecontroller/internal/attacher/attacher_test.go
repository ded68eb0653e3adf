package attacher

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
)

// fact 1, C-ATT-12, C-ATT-20, C-ATT-30, golden b4
func TestAttachAndDetachInOrder(t *testing.T) {
	c := newSite(t, nil, mock.Options{})
	before := len(c.story())
	c.start()
	c.At(time.Second)
	c.attach()
	c.At(2 * time.Second)
	va := c.attachment()
	assert.True(t, va.Status.Attached)
	assert.Equal(t, []string{finalizer}, va.Finalizers)
	assert.Equal(t, "node-a", va.Annotations[volume.NodeIDAnnotation])
	assert.Contains(t, c.volume().Finalizers, finalizer)
	c.detach()
	c.At(3 * time.Second)
	assert.Nil(t, c.attachment())
	assert.Contains(t, c.volume().Finalizers, finalizer, "the volume is released when it is deleted")
	_, err := store.Delete[*corev1.PersistentVolume](c.Store, store.Key{Name: "v"})
	require.NoError(t, err)
	c.At(4 * time.Second)
	assert.NotContains(t, c.volume().Finalizers, finalizer)
	assert.Equal(t, []string{
		"Identity/Probe ", "Identity/GetPluginInfo ", "Identity/GetPluginCapabilities ", "Controller/ControllerGetCapabilities ",
		"volumeattachments ADDED",
		"persistentvolumes MODIFIED",
		"volumeattachments MODIFIED",
		"Controller/ControllerPublishVolume ",
		"volumeattachments MODIFIED",
		"volumeattachments MODIFIED",
		"Controller/ControllerUnpublishVolume ",
		"volumeattachments DELETED",
		"persistentvolumes MODIFIED", "persistentvolumes MODIFIED",
	}, c.story()[before:])
	assert.Empty(t, c.wire.Violations())
}

// C-ATT-2, C-ATT-6
func TestDriverThatCannotAttachIsServedTrivially(t *testing.T) {
	no := false
	c := newSite(t, nil, mock.Options{Attach: &no})
	c.start()
	c.attach()
	c.At(time.Second)
	assert.True(t, c.attachment().Status.Attached)
	assert.Empty(t, c.attachment().Finalizers)
	assert.Empty(t, c.calls("ControllerPublishVolume"))
	assert.NotContains(t, c.volume().Finalizers, finalizer)
	c.detach()
	assert.Nil(t, c.attachment())
}

// C-LIB-2: the sidecar waits for the driver without writing anything.
func TestADriverInstalledLater(t *testing.T) {
	c := newSite(t, nil, mock.Options{})
	require.NoError(t, c.server.Close())
	c.start()
	c.attach()
	c.At(3500 * time.Millisecond)
	assert.NotContains(t, c.story(), "Identity/GetPluginInfo Unavailable")
	c.serve()
	c.At(5 * time.Second)
	assert.Equal(t, []time.Duration{4 * time.Second}, c.calls("ControllerPublishVolume"))
}

func seconds(at ...float64) []time.Duration {
	var all []time.Duration
	for _, s := range at {
		all = append(all, time.Duration(s*float64(time.Second)))
	}
	return all
}

// C-ATT-10, C-ATT-16, C-ATT-21, C-ATT-42, fact 23: after any error the call is repeated and nothing
// is undone. The error is in the attachment's status, without an event. The sidecar's own patch
// queues the attachment again, which uses up one step of the backoff. A detach makes no such patch.
// Golden l17, l13.
func TestBackoff(t *testing.T) {
	t.Run("attach", func(t *testing.T) {
		c := newSite(t, nil, mock.Options{})
		c.wire.Faults.Inject(&fault.Fault{Call: "ControllerPublishVolume", Code: codes.Internal, Message: "no", Effect: fault.Answer})
		c.start()
		c.attach()
		c.At(130 * time.Second)
		assert.Equal(t, seconds(0, 0, 1, 5, 13, 29, 61, 125), c.calls("ControllerPublishVolume"))
		attachError := c.attachment().Status.AttachError
		assert.Equal(t, "rpc error: code = Internal desc = no", attachError.Message)
		assert.Equal(t, int32(codes.Internal), *attachError.ErrorCode, "fact 25")
		assert.NotZero(t, attachError.Time)
		assert.Empty(t, c.calls("ControllerUnpublishVolume"))
		assert.Contains(t, c.attachment().Finalizers, finalizer, "C-ATT-17")
		assert.Empty(t, slices.Collect(store.List[*corev1.Event](c.Store, "")))
		// C-ATT-17: the failed attach is undone.
		c.detach()
		c.At(131 * time.Second)
		assert.Len(t, c.calls("ControllerUnpublishVolume"), 1)
		assert.Nil(t, c.attachment())
	})
	t.Run("detach", func(t *testing.T) {
		c := newSite(t, nil, mock.Options{})
		c.start()
		c.attach()
		c.At(time.Second)
		c.wire.Faults.Inject(&fault.Fault{Call: "ControllerUnpublishVolume", Code: codes.Internal, Message: "no", Effect: fault.Answer, Times: 3})
		c.detach()
		c.At(7 * time.Second)
		detachError := c.attachment().Status.DetachError
		require.NotNil(t, detachError)
		assert.Equal(t, "rpc error: code = Internal desc = no", detachError.Message)
		assert.Nil(t, detachError.ErrorCode)
		assert.True(t, c.attachment().Status.Attached, "as long as it is not detached")
		c.At(30 * time.Second)
		assert.Empty(t, slices.Collect(store.List[*corev1.Event](c.Store, "")))
		assert.Equal(t, seconds(1, 2, 4, 8), c.calls("ControllerUnpublishVolume"))
		assert.Nil(t, c.attachment())
	})
}

// C-ATT-1: the resync after ten minutes comes before the end of the backoff.
func TestResyncRetriesAtOnce(t *testing.T) {
	c := newSite(t, nil, mock.Options{})
	c.wire.Faults.Inject(&fault.Fault{Call: "ControllerPublishVolume", Code: codes.Internal, Message: "no", Effect: fault.Answer})
	c.start()
	c.attach()
	c.At(11 * time.Minute)
	assert.Equal(t, seconds(253, 509, 600), c.calls("ControllerPublishVolume")[8:])
}

// fact 46, golden aa6: after a deadline the next call follows immediately, and so does the one
// after it.
func TestRetryOverlapsACallThatTimedOut(t *testing.T) {
	c := newSite(t, nil, mock.Options{})
	c.wire.Faults.Inject(&fault.Fault{Call: "ControllerPublishVolume", Effect: fault.HoldRequest, Delay: 45 * time.Second, Times: 2})
	c.start()
	c.attach()
	c.At(31 * time.Second)
	assert.Equal(t, seconds(0, 15, 30), c.calls("ControllerPublishVolume"))
	assert.True(t, c.attachment().Status.Attached)
	assert.Nil(t, c.attachment().Status.AttachError)
}

// fact 38, C-ATT-25, golden q1: only the PV's finalizer is written before the error, and the usual
// backoff follows.
func TestNodeWithoutTheDriver(t *testing.T) {
	c := newSite(t, nil, mock.Options{})
	_, err := store.Modify(c.Store, store.Key{Name: "node-a"}, func(n *storagev1.CSINode) { n.Spec.Drivers = nil })
	require.NoError(t, err)
	c.start()
	c.attach()
	c.At(500 * time.Millisecond)
	attachError := c.attachment().Status.AttachError
	require.NotNil(t, attachError)
	assert.Equal(t, "CSINode node-a does not contain driver disk.csi.example.com", attachError.Message)
	assert.Nil(t, attachError.ErrorCode)
	assert.Empty(t, c.attachment().Finalizers)
	_, err = store.Modify(c.Store, store.Key{Name: "node-a"}, func(n *storagev1.CSINode) {
		n.Spec.Drivers = []storagev1.CSINodeDriver{{Name: driverName, NodeID: "node-a"}}
	})
	require.NoError(t, err)
	c.At(10 * time.Second)
	assert.Equal(t, seconds(1), c.calls("ControllerPublishVolume"))
}

// C-ATT-15, fact 53, golden dd1: the answer was lost with the sidecar.
func TestRestartCallsAgain(t *testing.T) {
	c := newSite(t, nil, mock.Options{})
	c.wire.Faults.Inject(&fault.Fault{Call: "ControllerPublishVolume", Effect: fault.HoldAnswer, Delay: 10 * time.Second, Times: 1})
	a := c.start()
	c.attach()
	c.At(time.Second)
	a.Crash()
	c.At(3 * time.Second)
	c.start()
	c.At(4 * time.Second)
	assert.Equal(t, seconds(0, 3), c.calls("ControllerPublishVolume"))
	assert.True(t, c.attachment().Status.Attached)
}

// fact 52, C-LIB-1, golden cc3
func TestLosingTheDriver(t *testing.T) {
	lost := func() *fault.Fault {
		return &fault.Fault{Call: "ControllerPublishVolume", Code: codes.Unavailable, Message: "error reading from server: EOF", Effect: fault.Answer, Times: 1}
	}
	t.Run("ends the sidecar", func(t *testing.T) {
		c := newSite(t, nil, mock.Options{})
		c.wire.Faults.Inject(lost())
		o := c.options()
		o.Restart = sidecar.RestartNever
		a := Start(c.World, c.wire, o)
		c.attach()
		c.At(time.Minute)
		assert.False(t, a.Running())
		assert.Len(t, c.calls("ControllerPublishVolume"), 1, "none more before it ends")
		assert.Equal(t, "rpc error: code = Unavailable desc = error reading from server: EOF", c.attachment().Status.AttachError.Message)
	})
	t.Run("restarts it", func(t *testing.T) {
		c := newSite(t, nil, mock.Options{})
		c.wire.Faults.Inject(lost())
		a := c.start()
		c.attach()
		c.At(time.Second)
		assert.True(t, a.Running())
		assert.True(t, c.attachment().Status.Attached)
		assert.Nil(t, c.attachment().Status.AttachError)
	})
	t.Run("an answer Unavailable is no loss", func(t *testing.T) {
		assert.False(t, sidecar.IsConnectionLoss(status.Error(codes.Unavailable, "try again")))
	})
}

// fact 67, C-ATT-40, C-ATT-41, golden hh1
func TestVolumeDetachedBehindTheSidecarIsPublishedAgain(t *testing.T) {
	c := newSite(t, nil, mock.Options{ListVolumes: true, ListVolumesPublishedNodes: true})
	o := c.options()
	o.ReconcileSync = 15 * time.Second
	Start(c.World, c.wire, o)
	c.attach()
	c.At(20 * time.Second)
	require.Len(t, c.calls("ControllerPublishVolume"), 1)
	c.driver.Detach("h-v", "node-a")
	c.At(50 * time.Second)
	assert.Equal(t, seconds(0, 15, 30, 45), c.calls("ListVolumes"))
	assert.Equal(t, seconds(0, 30), c.calls("ControllerPublishVolume"))
}

// C-ATT-40: one timeout of 15 s bounds the requests for all pages. A list without a last page uses
// it up. Only then are attachments compared to the pages.
func TestAListWithoutALastPageTakesTheWholeTimeout(t *testing.T) {
	c := newSite(t, nil, mock.Options{ListVolumes: true, ListVolumesPublishedNodes: true, Faulty: []string{"list-never-ends"}})
	o := c.options()
	o.ReconcileSync = 15 * time.Second
	Start(c.World, c.wire, o)
	c.attach()
	c.At(20 * time.Second)
	c.driver.Detach("h-v", "node-a")
	c.At(50 * time.Second)
	assert.Equal(t, seconds(0, 0, 30, 30), c.calls("ListVolumes"))
	assert.Len(t, c.calls("ControllerPublishVolume"), 1)
	require.Len(t, c.wire.Violations(), 1)
	assert.Contains(t, c.wire.Violations()[0].String(), "so the list never ends")
}

// fact 6: with an old cache, ControllerPublishVolume is called twice in some runs and once in
// others.
func TestCacheLagCanDoubleTheCall(t *testing.T) {
	seen := map[int]bool{}
	for seed := range uint64(40) {
		c := newSite(t, kernel.NewRandom(seed), mock.Options{})
		c.start()
		c.attach()
		c.At(time.Second)
		require.True(t, c.attachment().Status.Attached)
		seen[len(c.calls("ControllerPublishVolume"))] = true
	}
	assert.True(t, seen[1], "once")
	assert.True(t, seen[2], "twice")
}

func TestEqualSeedsGiveEqualRuns(t *testing.T) {
	run := func(seed uint64) (uint64, []string) {
		c := newSite(t, kernel.NewRandom(seed), mock.Options{})
		c.start()
		c.attach()
		c.At(time.Second)
		c.detach()
		c.At(time.Minute)
		require.Nil(t, c.attachment())
		return c.Kernel.Hash(), c.story()
	}
	for seed := range uint64(10) {
		firstHash, first := run(seed)
		secondHash, second := run(seed)
		assert.Equal(t, first, second)
		assert.Equal(t, firstHash, secondHash)
	}
}

// C-ATT-4
func TestOwnErrorReportsDoNotQueue(t *testing.T) {
	va := func(change func(*storagev1.VolumeAttachment)) *storagev1.VolumeAttachment {
		va := &storagev1.VolumeAttachment{}
		change(va)
		return va
	}
	old := va(func(*storagev1.VolumeAttachment) {})
	cases := map[string]struct {
		now  *storagev1.VolumeAttachment
		want bool
	}{
		"attach error": {va(func(va *storagev1.VolumeAttachment) {
			va.ResourceVersion = "2"
			va.Status.AttachError = &storagev1.VolumeError{Message: "no"}
		}), false},
		"detach error": {va(func(va *storagev1.VolumeAttachment) {
			va.Status.DetachError = &storagev1.VolumeError{Message: "no"}
		}), false},
		"finalizer": {va(func(va *storagev1.VolumeAttachment) { va.Finalizers = []string{"f"} }), true},
		"attached":  {va(func(va *storagev1.VolumeAttachment) { va.Status.Attached = true }), true},
		"error and more": {va(func(va *storagev1.VolumeAttachment) {
			va.Status.AttachError = &storagev1.VolumeError{Message: "no"}
			va.Annotations = map[string]string{"a": "b"}
		}), true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tc.want, matters(old, tc.now)) })
	}
}

// C-ATT-13, C-LIB-4
func TestFinalizerNames(t *testing.T) {
	for driver, want := range map[string]string{"ebs.csi.aws.com": "ebs-csi-aws-com", "a_b.": "a-b-X"} {
		assert.Equal(t, want, sanitized(driver))
	}
}
