package fakekubelet_test

import (
	"fmt"
	"testing"
	"time"

	csispec "github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/testing/protocmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/fakekubelet/internal/csi"
	"github.com/csisim/csisim/internal/world/store"
)

var expands = mock.Options{NodeExpand: true}

const (
	pending    = corev1.PersistentVolumeClaimNodeResizePending
	inProgress = corev1.PersistentVolumeClaimNodeResizeInProgress
	infeasible = corev1.PersistentVolumeClaimNodeResizeInfeasible
)

// resized creates the state in which csi-resizer hands over to the node: a larger volume, and a
// claim with the progress of the expansion in its status. allocated may be empty.
func (n *node) resized(name, size, allocated string, status corev1.ClaimResourceStatus) {
	n.t.Helper()
	_, err := store.Modify(n.Store, store.Key{Name: "pv-" + name}, func(pv *corev1.PersistentVolume) {
		pv.Spec.Capacity = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}
	})
	require.NoError(n.t, err)
	n.request(name, size)
	n.changeClaim(name, allocated, status)
}

// request sets the requested size of the claim.
func (n *node) request(name, size string) {
	n.t.Helper()
	_, err := store.Modify(n.Store, podKey(name), func(c *corev1.PersistentVolumeClaim) {
		c.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}
	})
	require.NoError(n.t, err)
}

func (n *node) changeClaim(name, allocated string, status corev1.ClaimResourceStatus, conditions ...corev1.PersistentVolumeClaimConditionType) {
	n.t.Helper()
	_, err := store.ModifyStatus(n.Store, podKey(name), func(c *corev1.PersistentVolumeClaim) {
		c.Status.AllocatedResources, c.Status.AllocatedResourceStatuses = nil, nil
		if allocated != "" {
			c.Status.AllocatedResources = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(allocated)}
		}
		if status != "" {
			c.Status.AllocatedResourceStatuses = map[corev1.ResourceName]corev1.ClaimResourceStatus{corev1.ResourceStorage: status}
		}
		for _, t := range conditions {
			c.Status.Conditions = append(c.Status.Conditions, corev1.PersistentVolumeClaimCondition{Type: t, Status: corev1.ConditionTrue})
		}
	})
	require.NoError(n.t, err)
}

func (n *node) claim(name string) *corev1.PersistentVolumeClaim {
	n.t.Helper()
	claim, ok := store.Get[*corev1.PersistentVolumeClaim](n.Store, podKey(name))
	require.True(n.t, ok)
	return claim
}

// claimText returns the size in the claim's status: capacity, status, conditions.
func (n *node) claimText(name string) string {
	n.t.Helper()
	s := n.claim(name).Status
	capacity := s.Capacity[corev1.ResourceStorage]
	text := capacity.String() + " " + string(s.AllocatedResourceStatuses[corev1.ResourceStorage])
	for _, c := range s.Conditions {
		text += fmt.Sprintf(" %s: %s", c.Type, c.Message)
	}
	return text
}

const expandedEvent = `Normal FileSystemResizeSuccessful: MountVolume.NodeExpandVolume succeeded for volume "pv-data" node-a (1)`

// K-EXP-2, K-EXP-8, K-EXP-9, K-EXP-17, K-TRACE-13, fact 40
//
// conformance: csimock-expand-online-no-attach, unit-node-expand-staged, unit-node-expand-secret,
// unit-node-expander-pending, unit-node-expand-op-pending, vm-resize-marked-fs, suite-expand-online
// (the node's part of each)
func TestAVolumeInUseIsExpandedAtThePodsNextSync(t *testing.T) {
	n := start(t, setting{driver: expands})
	create(n, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "expand", Namespace: "kube-system"}, Data: map[string][]byte{"key": []byte("k")}})
	n.volume("data", func(pv *corev1.PersistentVolume) {
		pv.Spec.MountOptions, pv.Spec.CSI.FSType = []string{"noatime"}, "xfs"
		pv.Spec.CSI.NodeExpandSecretRef = &corev1.SecretReference{Namespace: "kube-system", Name: "expand"}
	})
	uid := n.pod("web", using("data"))
	n.run("web")
	n.pass(time.Second)
	n.resized("data", "2Gi", "2Gi", pending)
	n.changeClaim("data", "2Gi", pending, corev1.PersistentVolumeClaimFileSystemResizePending, corev1.PersistentVolumeClaimResizing)
	n.settle()

	assert.Equal(t, []string{"cap", "cap", "NodeExpandVolume OK"}, n.probes())
	assert.InDelta(t, 59, n.times("NodeExpandVolume")[0].Seconds(), 2)
	want := &csispec.NodeExpandVolumeRequest{
		VolumeId: "h-data", VolumePath: csi.DefaultDir.TargetPath(uid, "pv-data"), StagingTargetPath: csi.DefaultDir.StagingPath(driverName, "h-data"),
		CapacityRange: &csispec.CapacityRange{RequiredBytes: 2 << 30},
		VolumeCapability: &csispec.VolumeCapability{
			AccessMode: &csispec.VolumeCapability_AccessMode{Mode: csispec.VolumeCapability_AccessMode_SINGLE_NODE_MULTI_WRITER},
			AccessType: &csispec.VolumeCapability_Mount{Mount: &csispec.VolumeCapability_MountVolume{FsType: "xfs", MountFlags: []string{"noatime"}}},
		},
		Secrets: map[string]string{"key": "k"},
	}
	assert.Empty(t, cmp.Diff(want, request[*csispec.NodeExpandVolumeRequest](n), protocmp.Transform()))
	assert.Equal(t, "2Gi ", n.claimText("data"), "conditions and status are gone")
	assert.Equal(t, []string{expandedEvent, expandedEvent}, n.events(), "one for the pod, one for the claim")
	assert.Equal(t, corev1.PodRunning, n.phase("web"))

	n.forget()
	n.pass(5 * time.Minute)
	assert.Empty(t, n.calls(), "nothing is left to do")
}

// K-EXP-1, K-EXP-3: published first, then expanded, then marked as mounted.
//
// conformance: csimock-expand-no-attach, unit-expand-during-mount, unit-node-expand-published,
// unit-node-expand-no-stage, suite-expand-offline, vm-resize-marked-not-mounted (the node's part of
// each)
func TestAVolumeIsExpandedWhenItIsMounted(t *testing.T) {
	for name, driver := range map[string]mock.Options{
		"staged": expands, "not staged": {NodeExpand: true, Stage: new(false)},
	} {
		t.Run(name, func(t *testing.T) {
			n := start(t, setting{driver: driver})
			n.volume("data")
			n.resized("data", "2Gi", "2Gi", pending)
			n.pod("web", using("data"))
			n.settle()
			calls := n.calls()
			assert.Equal(t, []string{"NodePublishVolume OK", "NodeExpandVolume OK"}, calls[len(calls)-2:])
			assert.Equal(t, csi.DefaultDir.StagingPath(driverName, "h-data"), request[*csispec.NodeExpandVolumeRequest](n).StagingTargetPath,
				"K-EXP-8: even if the driver does not stage")
			assert.Equal(t, "2Gi ", n.claimText("data"))
			assert.Equal(t, corev1.PodRunning, n.phase("web"))
		})
	}
}

// K-EXP-6, K-EXP-7, K-EXP-15, K-EXP-16: the expansion of a claim in each state.
//
// conformance: unit-node-expander-infeasible-state, unit-node-expander-rwo-already-updated,
// unit-node-expander-rwx-unsupported, unit-node-expand-op-infeasible-state,
// unit-node-expand-op-nothing-to-do, unit-node-expand-op-infeasible-node-behind,
// unit-recovery-path-gate-on-both, unit-node-expand-capability-missing,
// csimock-expand-controller-only
func TestTheClaimsStateDecidesTheExpansion(t *testing.T) {
	for _, c := range []struct {
		name      string
		driver    mock.Options
		mode      corev1.PersistentVolumeAccessMode
		allocated string
		status    corev1.ClaimResourceStatus
		updated   bool // the claim has the new size already
		notNeeded bool // csi-resizer has recorded this
		calls     []string
		after     string
	}{
		{name: "pending", driver: expands, mode: rwo, allocated: "2Gi", status: pending, calls: []string{"NodeExpandVolume OK"}, after: "2Gi "},
		{name: "in progress", driver: expands, mode: rwo, allocated: "2Gi", status: inProgress, calls: []string{"NodeExpandVolume OK"}, after: "2Gi "},
		{name: "infeasible", driver: expands, mode: rwo, status: infeasible, calls: []string{}, after: "1Gi NodeResizeInfeasible"},
		{name: "the controller is at it", driver: expands, mode: rwo, allocated: "2Gi", status: corev1.PersistentVolumeClaimControllerResizeInProgress, calls: []string{}, after: "1Gi ControllerResizeInProgress"},
		{name: "has the size", driver: expands, mode: rwo, allocated: "2Gi", updated: true, calls: []string{}, after: "2Gi "},
		{name: "has the size, infeasible", driver: expands, mode: rwo, allocated: "2Gi", status: infeasible, updated: true, calls: []string{}, after: "2Gi NodeResizeInfeasible"},
		{name: "many nodes, has the size", driver: expands, mode: rwx, allocated: "2Gi", updated: true, calls: []string{"NodeExpandVolume OK"}, after: "2Gi "},
		{name: "many nodes, has the size, not needed", driver: expands, mode: rwx, allocated: "2Gi", updated: true, notNeeded: true, calls: []string{}, after: "2Gi "},
		{name: "many nodes, has the size, not supported", mode: rwx, allocated: "2Gi", updated: true, calls: []string{}, after: "2Gi "},
		{name: "an old resizer", driver: expands, mode: rwo, calls: []string{"NodeExpandVolume OK"}, after: "2Gi "},
		{name: "an old resizer, not supported", mode: rwo, calls: []string{}, after: "1Gi "},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := start(t, setting{driver: c.driver})
			n.volume("data", accessMode(c.mode))
			n.pod("web", using("data"))
			n.run("web")
			n.resized("data", "2Gi", c.allocated, c.status)
			if c.updated {
				n.setCapacity("data", "2Gi")
			}
			if c.notNeeded {
				_, err := store.Modify(n.Store, podKey("data"), func(claim *corev1.PersistentVolumeClaim) {
					metav1.SetMetaDataAnnotation(&claim.ObjectMeta, "volume.kubernetes.io/node-expansion-not-required", "true")
				})
				require.NoError(t, err)
			}
			n.settle()
			assert.Equal(t, c.calls, n.calls())
			assert.Equal(t, c.after, n.claimText("data"))
		})
	}
}

func (n *node) setCapacity(name, size string) {
	n.t.Helper()
	_, err := store.ModifyStatus(n.Store, podKey(name), func(c *corev1.PersistentVolumeClaim) {
		c.Status.Capacity = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse(size)}
	})
	require.NoError(n.t, err)
}

// K-EXP-7: an expansion that is not permitted yet is retried as soon as the claim changes.
func TestAnExpansionThatIsAllowedLater(t *testing.T) {
	n := start(t, setting{driver: expands})
	n.volume("data")
	n.pod("web", using("data"))
	n.run("web")
	n.resized("data", "2Gi", "2Gi", corev1.PersistentVolumeClaimControllerResizeInProgress)
	n.settle()
	n.forget()
	n.changeClaim("data", "2Gi", pending)
	n.settle()
	assert.Equal(t, []string{"NodeExpandVolume OK"}, n.calls())
	assert.LessOrEqual(t, n.times("NodeExpandVolume")[0], 200*time.Millisecond)
}

// K-EXP-10 to K-EXP-15
//
// conformance: unit-node-expander-infeasible
func TestAnExpansionInUseThatFails(t *testing.T) {
	const rpc = "failed to expand pvc with Expander.NodeExpand failed to expand the volume "
	event := func(rest string) string {
		return `Warning VolumeResizeFailed: NodeExpandVolume.NodeExpandVolume failed for volume "pv-data" : ` + rest + " (1)"
	}
	for code, c := range map[codes.Code]struct {
		claim   string
		event   string
		retried bool
	}{
		codes.Internal: {"1Gi NodeResizeInProgress NodeResizeError: " + rpc + ": rpc error: code = Internal desc = injected",
			event("Expander.NodeExpand failed to expand the volume : rpc error: code = Internal desc = injected"), true},
		codes.DeadlineExceeded: {"1Gi NodeResizeInProgress NodeResizeError: " + rpc + ": rpc error: code = DeadlineExceeded desc = injected",
			event("Expander.NodeExpand failed to expand the volume : rpc error: code = DeadlineExceeded desc = injected"), true},
		codes.OutOfRange: {"1Gi NodeResizeInfeasible NodeResizeError: " + rpc + "rpc error: code = OutOfRange desc = injected",
			event("Expander.NodeExpand failed to expand the volume rpc error: code = OutOfRange desc = injected"), false},
		codes.FailedPrecondition: {"1Gi NodeResizeInProgress NodeResizeError: " + rpc + ": rpc error: code = FailedPrecondition desc = injected",
			"", false},
	} {
		t.Run(code.String(), func(t *testing.T) {
			n := start(t, setting{driver: expands})
			n.volume("data")
			n.pod("web", using("data"))
			n.run("web")
			n.fail("NodeExpandVolume", code, 0)
			n.resized("data", "2Gi", "2Gi", pending)
			n.pass(62 * time.Second)
			assert.Equal(t, c.claim, n.claimText("data"))
			if c.event == "" {
				assert.Empty(t, n.events())
			} else {
				assert.Equal(t, c.event, n.events()[0])
			}
			n.pass(20 * time.Second)
			if c.retried {
				assert.InDeltaSlice(t, []float64{0.5, 1, 2, 4, 8}, n.gaps("NodeExpandVolume"), 0.15)
			} else {
				assert.Len(t, n.calls(), 1)
			}
			assert.Equal(t, corev1.PodRunning, n.phase("web"))
		})
	}
}

func TestADriverThatIsNotRegisteredLeavesTheClaimAlone(t *testing.T) { // K-EXP-11
	n := start(t, setting{driver: expands})
	n.volume("data")
	n.pod("web", using("data"))
	n.run("web")
	n.unregister()
	n.forget()
	n.resized("data", "2Gi", "2Gi", pending)
	n.pass(63 * time.Second)
	assert.Equal(t, "1Gi NodeResizeInProgress", n.claimText("data"))
	assert.Contains(t, n.events()[0], `VolumeResizeFailed: NodeExpandVolume.NodeExpandVolume failed for volume "pv-data" : driver name disk.csi.example.com not found in the list of registered CSI drivers`)
}

// K-EXP-12: the user has changed the claim's size after a failure, so the claim returns to
// csi-resizer after any error code.
func TestAnotherSizeAfterAFailureIsInfeasible(t *testing.T) {
	n := start(t, setting{driver: expands})
	n.volume("data")
	n.pod("web", using("data"))
	n.run("web")
	n.fail("NodeExpandVolume", codes.Internal, 0)
	n.resized("data", "2Gi", "2Gi", pending)
	n.pass(62 * time.Second)
	assert.Contains(t, n.claimText("data"), "1Gi NodeResizeInProgress")
	n.request("data", "3Gi")
	n.pass(10 * time.Second)
	assert.Contains(t, n.claimText("data"), "1Gi NodeResizeInfeasible NodeResizeError: failed to expand pvc with Expander.NodeExpand failed to expand the volume : rpc error",
		"the old condition stays, with its message")
}

// K-EXP-13: a driver that cannot expand volumes in use receives no further call until the volume is
// mounted again.
func TestADriverThatExpandsOffline(t *testing.T) {
	n := start(t, setting{driver: expands})
	n.volume("data")
	n.pod("web", using("data"))
	n.run("web")
	n.fail("NodeExpandVolume", codes.FailedPrecondition, 1)
	n.resized("data", "2Gi", "2Gi", pending)
	n.pass(5 * time.Minute)
	assert.Equal(t, []string{"NodeExpandVolume FailedPrecondition"}, n.calls())

	n.deletePod("web")
	n.settle()
	n.forget()
	n.pod("log", using("data"))
	n.run("log")
	n.settle()
	assert.Equal(t, "2Gi ", n.claimText("data"))
}

// K-EXP-14, K-MNT-6, K-ERR-4
func TestAnExpansionWhileMountingThatFails(t *testing.T) {
	for _, c := range []struct {
		name, event string
		pv          []func(*corev1.PersistentVolume)
		pod         func(*corev1.PodSpec)
	}{
		{"filesystem", "FailedMount: MountVolume.Setup failed while expanding volume", nil, using("data")},
		{"block", "FailedMapVolume: MapVolume.MarkVolumeAsMounted failed while expanding volume", []func(*corev1.PersistentVolume){block}, usingDevice("data")},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := start(t, setting{driver: expands})
			n.volume("data", c.pv...)
			n.resized("data", "2Gi", "2Gi", pending)
			n.fail("NodeExpandVolume", codes.Internal, 2)
			n.pod("web", c.pod)
			n.pass(400 * time.Millisecond)
			events := n.events()
			assert.Equal(t, "Warning "+c.event+` for volume "pv-data" : Expander.NodeExpand failed to expand the volume : rpc error: code = Internal desc = injected (1)`, events[len(events)-1])
			assert.Equal(t, corev1.PodPending, n.phase("web"))
			n.settle()
			assert.Equal(t, []string{
				"NodeStageVolume OK", "NodePublishVolume OK", "NodeExpandVolume Internal",
				"NodePublishVolume OK", "NodeExpandVolume Internal", "NodePublishVolume OK", "NodeExpandVolume OK",
			}, n.calls(), "each retry publishes first")
			assert.Equal(t, "2Gi ", n.claimText("data"))

			n.forget()
			n.deletePod("web")
			n.settle()
			assert.Equal(t, []string{"NodeUnpublishVolume OK", "NodeUnstageVolume OK"}, n.calls())
		})
	}
}

// K-EXP-8, K-BLK-7
//
// conformance: unit-node-expand-block, vm-resize-block, vm-resize-marked-block
func TestARawBlockVolumeIsExpandedByItsDevice(t *testing.T) {
	n := start(t, setting{driver: expands})
	n.volume("data", block)
	uid := n.pod("web", usingDevice("data"))
	n.run("web")
	n.resized("data", "2Gi", "2Gi", pending)
	n.settle()
	assert.Equal(t, []string{"NodeExpandVolume OK"}, n.calls())
	got := request[*csispec.NodeExpandVolumeRequest](n)
	assert.Equal(t, csi.DefaultDir.BlockPublishPath(uid, "pv-data"), got.VolumePath)
	assert.Equal(t, csi.DefaultDir.BlockStagingPath("pv-data"), got.StagingTargetPath)
	assert.NotNil(t, got.VolumeCapability.GetBlock())
	assert.Equal(t, "2Gi ", n.claimText("data"))
}

func TestAReadOnlyVolumeIsNotExpanded(t *testing.T) { // K-EXP-4
	n := start(t, setting{driver: expands})
	n.volume("data")
	n.resized("data", "2Gi", "2Gi", pending)
	n.pod("web", mounting("data", corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data", ReadOnly: true},
	}))
	n.waitRunning("web")
	assert.NotContains(t, n.calls(), "NodeExpandVolume OK")
	const event = `Warning FileSystemResizeFailed: MountVolume.NodeExpandVolume failed for volume "pv-data" requested read-only file system (1)`
	assert.Contains(t, n.events(), event)
}

// K-EXP-9, K-RACE-34: another client writes the claim in between.
func TestAClaimThatIsWrittenMeanwhile(t *testing.T) {
	n := start(t, setting{driver: expands})
	n.volume("data")
	n.pod("web", using("data"))
	n.run("web")
	n.hold("NodeExpandVolume", 5*time.Second)
	n.resized("data", "2Gi", "2Gi", pending)
	n.until(func() bool { return n.claimText("data") == "1Gi NodeResizeInProgress" })
	_, err := store.Modify(n.Store, podKey("data"), func(c *corev1.PersistentVolumeClaim) {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, "touched", "yes")
	})
	require.NoError(t, err)
	n.settle()
	assert.Equal(t, []string{"NodeExpandVolume OK", "NodeExpandVolume OK"}, n.calls(), "the first could not be written down")
	assert.Contains(t, n.kubeEvents("VolumeResizeFailed")[0].Message, "the object has been modified")
	assert.Equal(t, "2Gi ", n.claimText("data"))
}

// conformance: vm-resize-marked-no-request
func TestAVolumeThatHasNotGrownIsNotExpanded(t *testing.T) { // K-EXP-2
	n := start(t, setting{driver: expands})
	n.volume("data")
	n.pod("web", using("data"))
	n.run("web")
	n.pass(10 * time.Minute)
	assert.Empty(t, n.probes())
}

// K-DSW-11: after a restart the kubelet reads the size from the claim.
func TestAVolumeGrowsWhileTheKubeletIsDown(t *testing.T) {
	n := start(t, setting{driver: expands})
	n.volume("data")
	n.pod("web", using("data"))
	n.run("web")
	n.restart(func() { n.resized("data", "2Gi", "2Gi", pending) })
	n.settle()
	assert.Equal(t, []string{"NodeStageVolume OK", "NodePublishVolume OK", "NodeExpandVolume OK"}, n.calls())
	assert.Equal(t, "2Gi ", n.claimText("data"))
}

// Fact 49: the node can no longer read the claim of a deleted pod.
func TestAMountThatEndsAfterItsPodIsDeleted(t *testing.T) {
	n := start(t, setting{})
	n.volume("data")
	n.hold("NodeStageVolume", 15*time.Second)
	n.pod("web", using("data"))
	n.pass(time.Second)
	n.deletePod("web")
	n.settle()
	assert.Equal(t, []string{"NodeStageVolume OK", "NodePublishVolume OK", "NodeUnpublishVolume OK", "NodeUnstageVolume OK"}, n.calls())
	events := n.events()
	assert.Equal(t, `Warning FailedMount: MountVolume.Setup failed while expanding volume for volume "pv-data" : mountVolume.NodeExpandVolume get PVC failed : `+
		`persistentvolumeclaims "data" is forbidden: User "system:node:node-a" cannot get resource "persistentvolumeclaims" in API group "" in the namespace "default": `+
		`no relationship found between node 'node-a' and this object (1)`, events[len(events)-1])
}

// K-EXP-5: the target size of the expansion, and the events before it. If the claim's status has
// any state of an expansion, the csi-resizer can recover from failures. Then the claim's size
// counts, not the volume's.
func TestTheSizeOfAnExpansion(t *testing.T) {
	for _, c := range []struct {
		name, allocated string
		status          corev1.ClaimResourceStatus
		size            int64 // GiB in the call to the driver, 0 without a call
		announced       bool  // NodeResizeInProgress is written first
	}{
		{"nothing", "", "", 3, false},
		{"a size only", "2Gi", "", 0, false},
		{"a size, and that it is the node's turn", "2Gi", pending, 2, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := start(t, setting{driver: expands})
			n.volume("data")
			n.resized("data", "3Gi", c.allocated, c.status)
			n.pod("web", using("data"))
			n.waitRunning("web")
			var size int64
			for _, e := range n.news() {
				if r, ok := e.Request.(*csispec.NodeExpandVolumeRequest); ok && size == 0 {
					size = r.CapacityRange.RequiredBytes >> 30
				}
			}
			assert.Equal(t, c.size, size)
			announced := false
			for _, e := range n.news() {
				if claim, ok := e.New.(*corev1.PersistentVolumeClaim); ok {
					announced = announced || claim.Status.AllocatedResourceStatuses[corev1.ResourceStorage] == inProgress
				}
			}
			assert.Equal(t, c.announced, announced)
		})
	}
}
