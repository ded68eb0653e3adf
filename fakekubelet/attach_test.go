package fakekubelet_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/volume"
)

var attaching = setting{csiDriver: attachRequired}

func (n *node) detached() {
	n.t.Helper()
	_, err := store.ModifyStatus(n.Store, store.Key{Name: nodeName}, func(node *corev1.Node) { node.Status.VolumesAttached = nil })
	require.NoError(n.t, err)
	_, err = store.Delete[*storagev1.VolumeAttachment](n.Store, store.Key{Name: volume.AttachmentName("h-data", driverName, nodeName)})
	require.NoError(n.t, err)
}

// K-ATT-1, K-ATT-2, K-ATT-3, fact 2: the rounds of the node's status delay both the mount and the
// detach.
//
// conformance: vm-mount-order, vm-volumes-in-use-filesystem
func TestAnAttachableVolumeWaitsUntilItIsReportedInUse(t *testing.T) {
	n := start(t, attaching)
	n.volume("data")
	n.attached("data")
	n.pod("web", using("data"))
	n.until(func() bool { return len(n.inUse()) > 0 })
	assert.Equal(t, firstStatus, n.Kernel.Elapsed()%(10*time.Second), "volumesInUse is written on a round")
	assert.Empty(t, n.calls())
	n.forget()
	n.settle()
	assert.LessOrEqual(t, n.times("NodeStageVolume")[0], 400*time.Millisecond)

	n.deletePod("web")
	n.until(func() bool { return len(n.inUse()) == 0 })
	assert.Equal(t, firstStatus, n.Kernel.Elapsed()%(10*time.Second), "K-ATT-9")
	assert.Equal(t, "NodeUnstageVolume OK", n.calls()[len(n.calls())-1])
}

// conformance: unit-kubelet-wait-for-attach-false
func TestWithoutAttachingThereIsNothingInUse(t *testing.T) { // K-ATT-6
	n := mounted(t, setting{})
	n.pass(30 * time.Second)
	assert.Empty(t, n.inUse())
}

// K-DSW-12, fact 74
//
// conformance: unit-kubelet-wait-for-attach-no-csidriver, unit-kubelet-wait-for-attach-unset
func TestVolumesAreAttachableUnlessTheCSIDriverDeniesIt(t *testing.T) {
	for name, csiDriver := range map[string]*storagev1.CSIDriver{
		"no CSIDriver":          nil,
		"nothing said about it": {ObjectMeta: metav1.ObjectMeta{Name: driverName}},
	} {
		t.Run(name, func(t *testing.T) {
			n := start(t, setting{})
			_, err := store.Delete[*storagev1.CSIDriver](n.Store, store.Key{Name: driverName})
			require.NoError(t, err)
			if csiDriver != nil {
				_, err := store.Create(n.Store, csiDriver)
				require.NoError(t, err)
			}
			n.volume("data")
			n.pod("web", using("data"))
			n.pass(15 * time.Second)
			assert.Equal(t, []corev1.UniqueVolumeName{unique("data")}, n.inUse())
			assert.Empty(t, n.calls())
			n.attached("data")
			n.settle()
			assert.Equal(t, corev1.PodRunning, n.phase("web"))
		})
	}
}

// Fact 30, 38, K-ATT-4: while nothing is attached the kubelet emits no event. After the attachment
// no backoff delays the mount.
func TestTheKubeletIsSilentWhileAVolumeIsNotAttached(t *testing.T) {
	n := start(t, attaching)
	n.volume("data")
	n.pod("web", using("data"))
	n.pass(5 * time.Minute)
	assert.Empty(t, n.events())
	assert.Empty(t, n.calls())
	n.forget()
	n.attached("data")
	n.pass(time.Second)
	assert.LessOrEqual(t, n.times("NodeStageVolume")[0], 300*time.Millisecond)
}

// K-ATT-7
//
// conformance: unit-kubelet-wait-for-attach-true, unit-va-wait-ok, unit-va-wait-missing
func TestTheStatusOfTheVolumeAttachment(t *testing.T) {
	id := volume.AttachmentName("h-data", driverName, nodeName)
	deleting := func(n *node) {
		_, err := store.Modify(n.Store, store.Key{Name: id}, func(va *storagev1.VolumeAttachment) { va.Finalizers = []string{"external-attacher/disk"} })
		require.NoError(n.t, err)
		_, err = store.Delete[*storagev1.VolumeAttachment](n.Store, store.Key{Name: id})
		require.NoError(n.t, err)
	}
	cases := []struct {
		name   string
		status *storagev1.VolumeAttachmentStatus
		then   func(*node)
		text   string
	}{
		{"missing", nil, nil, "volume h-data has GET error for volume attachment " + id + ": volumeattachments.storage.k8s.io \"" + id + "\" not found"},
		{"on its way out", &storagev1.VolumeAttachmentStatus{Attached: true}, deleting, "volume attachment is being deleted"},
		{"failed", &storagev1.VolumeAttachmentStatus{AttachError: &storagev1.VolumeError{Message: "no such disk"}}, nil, "no such disk"},
		{"not yet", &storagev1.VolumeAttachmentStatus{}, nil, "volume h-data is not attached for volume attachment " + id},
		{"attached wins over an error", &storagev1.VolumeAttachmentStatus{Attached: true, AttachError: &storagev1.VolumeError{Message: "old"}}, nil, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			n := start(t, attaching)
			n.volume("data")
			if c.status != nil {
				n.attachment("data", *c.status)
			}
			if c.then != nil {
				c.then(n)
			}
			_, err := store.ModifyStatus(n.Store, store.Key{Name: nodeName}, func(node *corev1.Node) {
				node.Status.VolumesAttached = []corev1.AttachedVolume{{Name: unique("data")}}
			})
			require.NoError(t, err)
			n.pod("web", using("data"))
			n.pass(12 * time.Second)
			if c.text == "" {
				assert.Equal(t, corev1.PodRunning, n.phase("web"))
				return
			}
			assert.Contains(t, n.events(), "Warning FailedMount: MountVolume.WaitForAttach failed for volume \"pv-data\" : "+c.text+" (1)")
			assert.Empty(t, n.calls())
		})
	}
}

func TestADriverThatTurnsOutToNeedNoAttachingFreesWaitingPods(t *testing.T) { // K-DSW-12, K-RACE-37
	n := start(t, attaching)
	n.volume("data")
	n.pod("web", using("data"))
	n.pass(15 * time.Second)
	d, err := store.Delete[*storagev1.CSIDriver](n.Store, store.Key{Name: driverName})
	require.NoError(t, err)
	d = &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: driverName}, Spec: *d.Spec.DeepCopy()}
	d.Spec.AttachRequired = new(false)
	create(n, d)
	n.pass(time.Second)
	assert.Equal(t, corev1.PodRunning, n.phase("web"))
}

// Fact 72: the pod arrives only after the unstage, so the volume has to be reported in use again.
func TestAPodThatReturnsAfterTheUnstageWaitsForTheInUseReport(t *testing.T) { // K-RACE-15, K-DSW-14
	n := start(t, attaching)
	n.volume("data")
	n.attached("data")
	n.pod("web", using("data"))
	n.run("web")
	n.deletePod("web")
	n.until(func() bool { return n.phase("web") == "gone" })
	n.forget()
	n.pod("web", using("data"))
	n.settle()
	assert.Greater(t, n.times("NodeStageVolume")[0], 8*time.Second)
}

func TestADetachedVolumeIsStagedOnlyOnceItIsAttachedAgain(t *testing.T) { // K-RACE-15
	n := start(t, attaching)
	n.volume("data")
	n.attached("data")
	n.pod("web", using("data"))
	n.run("web")
	n.deletePod("web")
	n.until(func() bool { return len(n.inUse()) == 0 })
	n.detached()
	n.forget()
	n.pod("log", using("data"))
	n.pass(time.Minute)
	assert.Empty(t, n.calls())
	n.attached("data")
	n.pass(time.Second)
	assert.Equal(t, []string{"NodeStageVolume OK", "NodePublishVolume OK"}, n.calls())
}

// conformance: vm-detach-ignored-while-mounted
func TestAMountedVolumeIsNotDisturbedByItsAttachment(t *testing.T) { // fact 57
	n := start(t, attaching)
	n.volume("data")
	n.attached("data")
	n.pod("web", using("data"))
	n.run("web")
	n.detached()
	n.pass(time.Minute)
	n.attached("data")
	n.pass(time.Minute)
	assert.Empty(t, n.calls())
	assert.Empty(t, n.events())
}

func TestTheNodesStatus(t *testing.T) {
	t.Run("K-CFG-4, K-NODE-1: a new node", func(t *testing.T) {
		n := start(t, setting{})
		assert.Equal(t, "true", n.node().Annotations["volumes.kubernetes.io/controller-managed-attach-detach"])
		assert.Equal(t, corev1.ConditionTrue, ready(n.node()).Status)
	})
	t.Run("K-CFG-4: a node that is there already", func(t *testing.T) {
		n := start(t, setting{})
		n.killKubelet()
		_, err := store.Modify(n.Store, store.Key{Name: nodeName}, func(node *corev1.Node) { node.Annotations = nil })
		require.NoError(t, err)
		n.startKubelet()
		n.pass(firstStatus)
		assert.Equal(t, "true", n.node().Annotations["volumes.kubernetes.io/controller-managed-attach-detach"])
	})
	t.Run("K-ATT-2: an idle kubelet reports every five minutes", func(t *testing.T) {
		n := start(t, setting{})
		n.settle()
		n.forget()
		n.pass(11 * time.Minute)
		reports := 0
		for _, e := range n.news() {
			if e.Resource == "nodes" {
				reports++
			}
		}
		assert.Equal(t, 2, reports)
	})
	t.Run("the kubelet corrects the node controller's status of a dead kubelet", func(t *testing.T) {
		n := start(t, setting{})
		_, err := store.ModifyStatus(n.Store, store.Key{Name: nodeName}, func(node *corev1.Node) { ready(node).Status = corev1.ConditionUnknown })
		require.NoError(t, err)
		n.pass(11 * time.Second)
		assert.Equal(t, corev1.ConditionTrue, ready(n.node()).Status)
	})
	t.Run("fact 59: a deleted node is not made again, and its pods live on", func(t *testing.T) {
		n := mounted(t, setting{})
		_, err := store.Delete[*corev1.Node](n.Store, store.Key{Name: nodeName})
		require.NoError(t, err)
		n.pass(20 * time.Minute)
		_, exists := store.Get[*corev1.Node](n.Store, store.Key{Name: nodeName})
		assert.False(t, exists)
		assert.Empty(t, n.calls())
		n.deletePod("web")
		n.settle()
		assert.Equal(t, []string{"NodeUnpublishVolume OK", "NodeUnstageVolume OK"}, n.calls())
		assert.Equal(t, corev1.PodPhase("gone"), n.phase("web"))
	})
}

func ready(node *corev1.Node) *corev1.NodeCondition {
	for i := range node.Status.Conditions {
		if c := &node.Status.Conditions[i]; c.Type == corev1.NodeReady {
			return c
		}
	}
	return &corev1.NodeCondition{}
}

func TestAClaimThatCannotBeUsed(t *testing.T) { // K-DSW-6, K-DSW-7, K-POD-2
	unbound := func(c *corev1.PersistentVolumeClaim) { c.Status.Phase = corev1.ClaimPending }
	cases := []struct {
		name  string
		given func(*node)
		pod   func(*corev1.PodSpec)
		text  string
	}{
		{"missing", func(*node) {}, using("data"),
			"error processing PVC default/data: failed to fetch PVC from API server: persistentvolumeclaims \"data\" not found"},
		{"not bound", func(n *node) {
			n.volume("data")
			_, err := store.ModifyStatus(n.Store, podKey("data"), unbound)
			require.NoError(n.t, err)
		}, using("data"), "error processing PVC default/data: PVC is not bound"},
		{"without its volume", func(n *node) {
			n.volume("data")
			_, err := store.Modify(n.Store, store.Key{Name: "pv-data"}, func(pv *corev1.PersistentVolume) { pv.Finalizers = nil })
			require.NoError(n.t, err)
			_, err = store.Delete[*corev1.PersistentVolume](n.Store, store.Key{Name: "pv-data"})
			require.NoError(n.t, err)
		}, using("data"), "error processing PVC default/data: failed to fetch PV pv-data from API server: persistentvolumes \"pv-data\" not found"},
		{"not made for this pod", func(n *node) { n.volume("web-data") },
			mounting("data", corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{
				Spec: corev1.PersistentVolumeClaimSpec{
					AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
					Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: oneGi}},
				}, ObjectMeta: metav1.ObjectMeta{},
			}}}),
			"PVC default/web-data was not created for pod default/web (pod is not owner)"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			n := start(t, setting{})
			c.given(n)
			n.pod("web", c.pod)
			n.pass(11 * time.Second)
			line := "Warning FailedMount: Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[data]: " + c.text
			assert.Equal(t, []string{line + " (1)", line + " (2)"}, n.events(), "at once, and after ten seconds")
			n.deletePod("web")
			n.settle()
			assert.Empty(t, n.calls())
		})
	}
}

// K-ALLOC-3, K-ALLOC-4, K-POD-2: a pod that waits for a full node until its deadline is rejected;
// other pods continue to wait (fact 39).
//
// conformance: unit-limit-exceeded-detection-resource-exhausted
func TestAPodWithoutRoomOnItsNode(t *testing.T) {
	exhausted := int32(codes.ResourceExhausted)
	for _, period := range []*int64{nil, new(int64(1000))} {
		n := start(t, setting{csiDriver: func(s *storagev1.CSIDriverSpec) {
			attachRequired(s)
			s.NodeAllocatableUpdatePeriodSeconds = period
		}})
		n.volume("data")
		n.attachment("data", storagev1.VolumeAttachmentStatus{AttachError: &storagev1.VolumeError{Message: "full", ErrorCode: &exhausted}})
		n.pod("web", using("data"))
		n.pass(3 * time.Minute)
		if period == nil {
			assert.Equal(t, corev1.PodPending, n.phase("web"))
			assert.Empty(t, n.times("NodeGetInfo"))
			continue
		}
		pod, _ := store.Get[*corev1.Pod](n.Store, podKey("web"))
		const message = "Node has reached its volume attachment limit, rejecting pod. " +
			"unmounted volumes=[data], unattached volumes=[data], failed to process volumes=[]: context deadline exceeded"
		assert.Equal(t, corev1.PodFailed, pod.Status.Phase)
		assert.Equal(t, "VolumeAttachmentLimitExceeded", pod.Status.Reason)
		assert.Equal(t, "Pod was rejected: "+message, pod.Status.Message)
		assert.Equal(t, []string{"Warning VolumeAttachmentLimitExceeded: " + message + " (1)"}, n.events())
		assert.Len(t, n.times("NodeGetInfo"), 1)
	}
}

// K-RACE-16: only the first read of the attachment checks its state.
//
// conformance: unit-publish-missing-attachment
func TestAnAttachmentThatVanishesDuringTheMount(t *testing.T) {
	n := start(t, attaching)
	n.volume("data")
	n.attached("data")
	n.hold("NodeStageVolume", time.Second)
	n.pod("web", using("data"))
	n.until(func() bool { return len(n.times("NodeStageVolume")) == 1 })
	n.detached()
	n.pass(2 * time.Second)
	assert.Equal(t, []string{"NodeStageVolume OK"}, n.calls())
	assert.Contains(t, n.events()[0], "MountVolume.SetUp failed for volume \"pv-data\" : kubernetes.io/csi: mounter.SetUpAt failed to fetch publishContext")
	n.deletePod("web")
	n.settle()
	assert.Equal(t, []string{"NodeStageVolume OK", "NodeUnstageVolume OK"}, n.calls(), "K-PUB-9: transient, nothing to unpublish")
}
