package fakekubelet_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/fakekubelet/internal/csi"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/store"
)

// squashed lists the calls of some methods; equal successive calls count once.
func (n *node) squashed(methods ...string) []string {
	var lines []string
	for _, line := range n.calls() {
		method, _, _ := strings.Cut(line, " ")
		if slices.Contains(methods, method) {
			lines = append(lines, line)
		}
	}
	return slices.Compact(lines)
}

// K-STAGE-7, K-OP-3
//
// conformance: csimock-node-stage-ok, csimock-node-stage-final-error-retried,
// csimock-node-stage-ephemeral-error-retried, csimock-node-unstage-ok
func TestAPodThatFinallyRuns(t *testing.T) {
	for _, c := range []struct {
		name string
		code codes.Code
		pods []string
		want []string
	}{
		{"at once", codes.OK, []string{"web"}, []string{"NodeStageVolume OK", "NodeUnstageVolume OK"}},
		{"after final errors", codes.InvalidArgument, []string{"web"},
			[]string{"NodeStageVolume InvalidArgument", "NodeStageVolume OK", "NodeUnstageVolume OK"}},
		{"after errors that leave it open", codes.DeadlineExceeded, []string{"web"},
			[]string{"NodeStageVolume DeadlineExceeded", "NodeStageVolume OK", "NodeUnstageVolume OK"}},
		{"one pod after the other", codes.OK, []string{"web", "log"},
			[]string{"NodeStageVolume OK", "NodeUnstageVolume OK", "NodeStageVolume OK", "NodeUnstageVolume OK"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := start(t, setting{})
			n.volume("data")
			if c.code != codes.OK {
				n.fail("NodeStageVolume", c.code, 3)
			}
			for _, pod := range c.pods {
				n.pod(pod, using("data"))
				n.waitRunning(pod)
				n.deletePod(pod)
				n.settle()
			}
			assert.Equal(t, c.want, n.squashed("NodeStageVolume", "NodeUnstageVolume"))
		})
	}
}

// K-PUB-16, K-ERR-2
//
// conformance: uncertain-republish-fails
func TestAVolumeWithAFailedRepublishIsCleanedUp(t *testing.T) {
	for _, c := range []struct {
		name string
		pv   []func(*corev1.PersistentVolume)
		pod  func(*corev1.PodSpec)
	}{
		{"filesystem", nil, using("data")},
		{"block", []func(*corev1.PersistentVolume){block}, usingDevice("data")},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := start(t, setting{csiDriver: republish})
			n.volume("data", c.pv...)
			n.pod("web", c.pod)
			n.run("web")
			n.pass(10 * time.Second)
			n.fail("NodePublishVolume", codes.Internal, 0)
			n.pass(2 * time.Minute)
			calls := n.squashed("NodePublishVolume")
			assert.Equal(t, "NodePublishVolume Internal", calls[len(calls)-1])
			assert.Equal(t, corev1.PodRunning, n.phase("web"))

			n.forget()
			n.deletePod("web")
			n.settle()
			assert.Equal(t, []string{"NodeUnpublishVolume OK", "NodeUnstageVolume OK"}, n.squashed("NodeUnpublishVolume", "NodeUnstageVolume"))
		})
	}
}

// K-RPC-10: an unregistered driver is a transient error in each step. The messages differ, and
// there is no call.
//
// conformance: unit-publish-driver-not-registered, unit-block-stage-driver-not-registered,
// unit-block-publish-driver-not-registered
func TestADriverThatIsNotRegistered(t *testing.T) {
	const unknown = "driver name disk.csi.example.com not found in the list of registered CSI drivers (1)"
	for _, c := range []struct {
		name, event string
		pv          []func(*corev1.PersistentVolume)
		pod         func(*corev1.PodSpec)
		staged      bool // another pod has staged the volume
	}{
		{"publish", `FailedMount: MountVolume.SetUp failed for volume "pv-data" : kubernetes.io/csi: mounter.SetUpAt failed to get CSI client: `, nil, using("data"), true},
		{"stage a block volume", `FailedMapVolume: MapVolume.SetUpDevice failed for volume "pv-data" : kubernetes.io/csi: blockMapper.SetUpDevice failed to get CSI client: `,
			[]func(*corev1.PersistentVolume){block}, usingDevice("data"), false},
		{"publish a block volume", `FailedMapVolume: MapVolume.MapPodDevice failed for volume "pv-data" : kubernetes.io/csi: blockMapper.MapPodDevice failed to get CSI client: `,
			[]func(*corev1.PersistentVolume){block}, usingDevice("data"), true},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := start(t, setting{})
			n.volume("data", c.pv...)
			if c.staged {
				n.pod("web", c.pod)
				n.run("web")
			}
			n.unregister()
			n.forget()
			n.pod("log", c.pod)
			n.pass(500 * time.Millisecond)
			assert.Empty(t, n.probes())
			assert.Equal(t, []string{"Warning " + c.event + unknown}, n.events())

			n.deletePod("log")
			n.pass(5 * time.Second)
			assert.Equal(t, corev1.PodPhase("gone"), n.phase("log"), "there is nothing to undo")
		})
	}
}

// K-UNPUB-3, K-UNSTAGE-3, K-BLK-9
//
// conformance: unit-unstage-driver-not-registered, unit-block-unmap-driver-not-registered,
// vm-plugin-gone
func TestADriverThatIsNotRegisteredWhenVolumesAreUndone(t *testing.T) {
	for _, c := range []struct {
		name, first string
		pv          []func(*corev1.PersistentVolume)
		pod         func(*corev1.PodSpec)
	}{
		{"unstage", "NodeUnstageVolume", nil, using("data")},
		{"unpublish a block volume", "NodeUnpublishVolume", []func(*corev1.PersistentVolume){block}, usingDevice("data")},
		{"unstage a block volume", "NodeUnstageVolume", []func(*corev1.PersistentVolume){block}, usingDevice("data")},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := start(t, setting{})
			n.volume("data", c.pv...)
			n.pod("web", c.pod)
			n.run("web")
			n.fail(c.first, codes.Internal, 1)
			// The retry follows the second in which the driver disappears.
			n.pass(1400 * time.Millisecond)
			n.deletePod("web")
			n.until(func() bool { return len(n.times(c.first)) == 1 })
			require.NoError(t, n.registrar.Stop())
			n.pass(5 * time.Second)
			assert.Len(t, n.times(c.first), 1, "no further call")
			assert.NotEmpty(t, n.files(), "nothing is taken for undone")
		})
	}
}

// conformance: unit-unstage-broken-metadata
func TestAStagingDataFileThatCannotBeRead(t *testing.T) { // K-UNSTAGE-3
	n := start(t, setting{})
	n.volume("data")
	n.pod("web", using("data"))
	n.run("web")
	staging := csi.DefaultDir.StagingPath(driverName, "h-data")
	require.NoError(t, n.machine.WriteFile(strings.TrimSuffix(staging, "globalmount")+"vol_data.json", []byte("no JSON"), 0o644))
	n.deletePod("web")
	n.pass(10 * time.Second)
	assert.Equal(t, []string{"NodeUnpublishVolume OK"}, n.calls())
	assert.Contains(t, n.mounts(), staging)
}

// K-DSW-6
//
// conformance: vm-pvc-bound-late
func TestAClaimThatIsBoundLate(t *testing.T) {
	n := start(t, setting{})
	n.volume("data")
	setPhase := func(phase corev1.PersistentVolumeClaimPhase) {
		_, err := store.ModifyStatus(n.Store, podKey("data"), func(c *corev1.PersistentVolumeClaim) { c.Status.Phase = phase })
		require.NoError(t, err)
	}
	setPhase(corev1.ClaimPending)
	n.pod("web", using("data"))
	n.pass(time.Second)
	assert.Contains(t, n.events()[0], "error processing PVC default/data: PVC is not bound")
	setPhase(corev1.ClaimBound)
	n.waitRunning("web")
}

// K-REC-9: one volume is not attached, one cannot be looked up, and one cannot be staged.
//
// conformance: vm-wait-error-lists, unit-volume-manager-limit-error
func TestEventsAboutUnmountedVolumes(t *testing.T) {
	n := start(t, setting{csiDriver: attachRequired})
	n.volume("data")
	n.volume("more")
	n.attached("more")
	n.fail("NodeStageVolume", codes.Internal, 0)
	n.pod("web", using("data"), using("more"), using("nowhere"))
	n.pass(time.Second)
	assert.Contains(t, n.events(), "Warning FailedMount: Unable to attach or mount volumes: unmounted volumes=[data more nowhere], unattached volumes=[data more], "+
		"failed to process volumes=[nowhere]: error processing PVC default/nowhere: failed to fetch PVC from API server: persistentvolumeclaims \"nowhere\" not found (1)")
}

// K-RECON-8, K-BLK-9
//
// conformance: suite-restart-block-pod-deleted-while-down, unit-unmounter-from-metadata,
// unit-block-unmapper, unit-rebuild-block-spec
func TestAPodWithARawBlockVolumeIsDeletedWhileTheKubeletIsDown(t *testing.T) {
	n := start(t, setting{})
	n.volume("data", block)
	uid := n.pod("web", usingDevice("data"))
	n.run("web")
	n.restart(func() { n.deletePod("web") })
	n.settle()
	assert.Equal(t, corev1.PodPhase("gone"), n.phase("web"))
	assert.Equal(t, []string{"NodeUnpublishVolume OK", "NodeUnstageVolume OK"}, n.squashed("NodeUnpublishVolume", "NodeUnstageVolume"))
	assert.False(t, n.exists(csi.DefaultDir.PodDevicePath(uid, "pv-data")))
	assert.False(t, n.exists(csi.DefaultDir.BlockMapDir("pv-data")))
	assert.Empty(t, n.mounts())
}

// A driver written in Go may answer with any error. Without a code it is Unknown, a final error:
// the kubelet reports it and retries. K-ERR-2, K-OP-3
//
// conformance: unit-stage-request-error, unit-publish-request-error, unit-unpublish-request-error,
// unit-stage-request-bad-fs
func TestErrorsOfDriversAreReportedAndTheCallIsRetried(t *testing.T) {
	for _, c := range []struct {
		method, event string
		code          codes.Code
	}{
		{"NodeStageVolume", `FailedMount: MountVolume.MountDevice failed for volume "pv-data" : `, codes.Unknown},
		{"NodeStageVolume", `FailedMount: MountVolume.MountDevice failed for volume "pv-data" : `, codes.InvalidArgument},
		{"NodePublishVolume", `FailedMount: MountVolume.SetUp failed for volume "pv-data" : `, codes.Unknown},
		{"NodeUnpublishVolume", "", codes.Unknown},
	} {
		t.Run(c.method+" "+c.code.String(), func(t *testing.T) {
			n := start(t, setting{})
			n.volume("data", func(pv *corev1.PersistentVolume) { pv.Spec.CSI.FSType = "badfs" })
			n.fail(c.method, c.code, 1)
			n.pod("web", using("data"))
			n.waitRunning("web")
			n.deletePod("web")
			n.settle()
			var outcomes []string
			for _, line := range n.calls() {
				if strings.HasPrefix(line, c.method) {
					outcomes = append(outcomes, line)
				}
			}
			assert.Equal(t, []string{c.method + " " + c.code.String(), c.method + " OK"}, outcomes)
			if c.event != "" {
				assert.Contains(t, n.events()[0], c.event)
			}
		})
	}
}

// K-DSW-3, K-POD-7: a pod without running containers needs no volumes, even if the kubelet has just
// started.
//
// conformance: unit-populate-after-start-first-pass-removed,
// unit-populate-after-start-later-removed
func TestAPodWithoutContainersNeedsNoVolumes(t *testing.T) {
	n := start(t, setting{})
	n.volume("data")
	n.pod("web", using("data"))
	n.run("web")
	n.setPhase("web", corev1.PodSucceeded)
	n.settle()
	assert.Equal(t, []string{"NodeUnpublishVolume OK", "NodeUnstageVolume OK"}, n.calls())
	n.restart(nothing)
	n.settle()
	assert.Empty(t, n.calls())
	assert.Equal(t, corev1.PodSucceeded, n.phase("web"))
}

// K-RECON-3
//
// conformance: unit-rebuild-ignores-lifecycle-modes
func TestInlineVolumesAreRebuiltForAnyCSIDriver(t *testing.T) {
	n := start(t, setting{driver: mock.Options{Ephemeral: true}, csiDriver: podInfo})
	n.pod("web", inline("scratch"))
	n.run("web")
	n.restart(func() {
		n.forceDelete("web")
		d, err := store.Delete[*storagev1.CSIDriver](n.Store, store.Key{Name: driverName})
		require.NoError(t, err)
		d = &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: driverName}, Spec: *d.Spec.DeepCopy()}
		d.Spec.VolumeLifecycleModes = nil
		create(n, d)
	})
	n.settle()
	assert.Equal(t, []string{"NodeUnpublishVolume OK"}, n.calls())
	assert.Empty(t, n.files())
}

// K-UNSTAGE-3: the kubelet does not call a driver that has lost the capability.
//
// conformance: unit-unstage-capability-missing
func TestADriverThatNoLongerStagesIsNotCalledToUnstage(t *testing.T) {
	n := mounted(t, setting{driver: mock.Options{StagingMounts: new(false)}})
	n.killDriver()
	n.driver = mock.New(mock.Options{Name: driverName, Stage: new(false), Existing: []mock.ExistingVolume{{ID: "h-data"}}})
	n.startDriver()
	n.deletePod("web")
	n.pass(30 * time.Second)
	assert.Empty(t, n.times("NodeUnstageVolume"))
	assert.NotContains(t, strings.Join(n.files(), " "), "vol_data.json")
}

// K-STAGE-6
//
// conformance: unit-stage-metadata-not-writable
func TestAVolumeIsNotStagedIfItsDataFileCannotBeWritten(t *testing.T) {
	n := start(t, setting{})
	n.volume("data")
	parent := strings.TrimSuffix(csi.DefaultDir.StagingPath(driverName, "h-data"), "/globalmount")
	require.NoError(t, n.machine.MkdirAll(parent+"/vol_data.json", 0o750), "a directory is in its place")
	require.NoError(t, n.machine.WriteFile(parent+"/vol_data.json/note", []byte("mine"), 0o644))
	n.pod("web", using("data"))
	n.pass(2 * time.Second)
	assert.Empty(t, n.calls())
	assert.Contains(t, n.events()[0], "MountVolume.MountDevice failed")
	assert.Equal(t, []string{parent + "/vol_data.json/note mine"}, n.files(machine.KubeletDir+"/plugins/kubernetes.io"))
}

// K-REC-6: a volume that is staged but could not be published is unstaged when its last pod ends.
//
// conformance: vm-staged-volume-state
func TestAVolumeStagedForNoPodIsUnstaged(t *testing.T) {
	n := start(t, setting{})
	n.volume("data")
	n.fail("NodePublishVolume", codes.InvalidArgument, 0)
	n.pod("web", using("data"))
	n.thirdRetry()
	assert.Contains(t, n.mounts(), csi.DefaultDir.StagingPath(driverName, "h-data"))
	n.forget()
	n.deletePod("web")
	n.settle()
	assert.Equal(t, []string{"NodeUnstageVolume OK"}, n.calls())
	assert.Empty(t, n.files())
}

// K-ATT-1
//
// conformance: vm-volumes-in-use-block
func TestARawBlockVolumeIsReportedInUse(t *testing.T) {
	n := start(t, attaching)
	n.volume("data", block)
	n.attached("data")
	n.pod("web", usingDevice("data"))
	n.waitRunning("web")
	assert.Equal(t, []corev1.UniqueVolumeName{unique("data")}, n.inUse())
}

// K-BLK-1
//
// conformance: suite-block-unsupported-static
func TestADriverThatCannotDoRawBlockVolumes(t *testing.T) {
	n := start(t, setting{})
	n.volume("data", block)
	n.fail("NodeStageVolume", codes.InvalidArgument, 0)
	n.pod("web", usingDevice("data"))
	n.pass(3 * time.Minute)
	assert.Equal(t, corev1.PodPending, n.phase("web"))
	assert.Contains(t, n.events()[0], `Warning FailedMapVolume: MapVolume.SetUpDevice failed for volume "pv-data" : `)
}

// K-DSW-5, K-PATH-7: the kubelet shows the driver only the CSI volumes of a pod.
//
// conformance: unit-plugin-accepts
func TestWhichVolumesAreCSIVolumes(t *testing.T) {
	n := start(t, setting{driver: mock.Options{Ephemeral: true}, csiDriver: podInfo})
	n.volume("data")
	n.pod("web", using("data"), inline("scratch"), mounting("empty", corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}))
	n.waitRunning("web")
	assert.Equal(t, []string{"NodePublishVolume OK", "NodePublishVolume OK"}, slices.DeleteFunc(n.calls(), func(line string) bool { return line == "NodeStageVolume OK" }))
}

// K-ALLOC-3, C-NIM-5: an attachment shows that the node is full only if the attachment failed
// because of the limit.
//
// conformance: unit-limit-exceeded-detection-no-attachment,
// unit-limit-exceeded-detection-no-attach-error, unit-limit-exceeded-detection-other-code
func TestAPodContinuesToWaitWhileItsNodeMayHaveRoom(t *testing.T) {
	notFound := int32(codes.NotFound)
	for name, status := range map[string]*storagev1.VolumeAttachmentStatus{
		"no attachment":   nil,
		"no attach error": {},
		"another code":    {AttachError: &storagev1.VolumeError{Message: "gone", ErrorCode: &notFound}},
		"no code":         {AttachError: &storagev1.VolumeError{Message: "gone"}},
	} {
		t.Run(name, func(t *testing.T) {
			n := start(t, setting{csiDriver: func(s *storagev1.CSIDriverSpec) {
				attachRequired(s)
				s.NodeAllocatableUpdatePeriodSeconds = new(int64(1000))
			}})
			n.volume("data")
			if status != nil {
				n.attachment("data", *status)
			}
			n.pod("web", using("data"))
			n.pass(3 * time.Minute)
			assert.Equal(t, corev1.PodPending, n.phase("web"))
			assert.Empty(t, n.times("NodeGetInfo"))
		})
	}
}

// K-EXP-2
//
// conformance: vm-resize-marked-ephemeral
func TestAVolumeMadeForAPodIsExpandedLikeAnyOther(t *testing.T) {
	n := start(t, setting{driver: expands})
	uid := n.pod("web", mounting("data", corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{
		VolumeClaimTemplate: &corev1.PersistentVolumeClaimTemplate{Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: oneGi}},
		}},
	}}))
	n.volume("web-data", func(pv *corev1.PersistentVolume) { pv.Spec.CSI.VolumeHandle = "h-data" })
	_, err := store.Modify(n.Store, podKey("web-data"), func(c *corev1.PersistentVolumeClaim) {
		c.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "web", UID: uid, Controller: new(true)}}
	})
	require.NoError(t, err)
	n.run("web")
	n.resized("web-data", "2Gi", "2Gi", pending)
	n.settle()
	assert.Equal(t, []string{"NodeExpandVolume OK"}, n.calls())
	assert.Equal(t, "2Gi ", n.claimText("web-data"))
}
