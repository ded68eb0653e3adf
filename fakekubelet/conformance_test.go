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

	"github.com/csisim/csisim/fakekubelet/csi"
	"github.com/csisim/csisim/sim/store"
)

// squashed are the calls of some methods, equal neighbours counted once.
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
func TestAPodThatComesToRunInTheEnd(t *testing.T) {
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
func TestAVolumeWhoseRepublishFailsIsCleanedUpAsAnyOther(t *testing.T) {
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

// K-RPC-10: a driver that is not registered is a transient error of each step; its
// words differ, and nothing is called.
//
// conformance: unit-publish-driver-not-registered, unit-block-stage-driver-not-registered,
// unit-block-publish-driver-not-registered
func TestADriverThatIsNotRegistered(t *testing.T) {
	const unknown = "driver name disk.csi.example.com not found in the list of registered CSI drivers (1)"
	for _, c := range []struct {
		name, event string
		pv          []func(*corev1.PersistentVolume)
		pod         func(*corev1.PodSpec)
		staged      bool // by another pod
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
// conformance: unit-unstage-driver-not-registered, unit-block-unmap-driver-not-registered
func TestADriverThatIsNotRegisteredWhenVolumesAreUndone(t *testing.T) {
	for _, c := range []struct {
		name, first string
		pv          []func(*corev1.PersistentVolume)
		pod         func(*corev1.PodSpec)
	}{
		{"unstage", "NodeUnstageVolume", nil, using("data")},
		{"unpublish a block volume", "NodeUnpublishVolume", []func(*corev1.PersistentVolume){block}, usingDevice("data")},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := start(t, setting{})
			n.volume("data", c.pv...)
			n.pod("web", c.pod)
			n.run("web")
			n.fail(c.first, codes.Internal, 1)
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
	staging := csi.StagingPath(driverName, "h-data")
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

// K-REC-9: one volume is not attached, one cannot be looked up, one cannot be staged.
//
// conformance: vm-wait-error-lists, unit-volume-manager-limit-error
func TestWhatAPodIsToldOfTheVolumesItWaitsFor(t *testing.T) {
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
	assert.False(t, n.exists(csi.PodDevicePath(uid, "pv-data")))
	assert.False(t, n.exists(csi.BlockMapDir("pv-data")))
	assert.Empty(t, n.mounts())
}
