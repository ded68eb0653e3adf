package resizer

import (
	"fmt"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/fakecontroller/internal/expand"
	tc "github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

const expandVolume = "Controller/ControllerExpandVolume"

// world is a test's cluster with claim and volume v of 1Gi, which may grow.
type world struct {
	*tc.Cluster
	sidecar *sidecar.Program
}

func newWorld(t *testing.T, o mock.Options) *world { return newWorldUnder(t, kernel.Calm{}, o) }

func newWorldUnder(t *testing.T, strategy kernel.Strategy, o mock.Options) *world {
	o.Existing = append(o.Existing, mock.ExistingVolume{ID: "h-v", CapacityBytes: 1 << 30})
	w := &world{Cluster: tc.New(t, strategy, o)}
	tc.Create(w.Cluster, &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "grows"}, Provisioner: tc.Driver, AllowVolumeExpansion: ptr.To(true)})
	w.Bound("v", "grows")
	expand.Start(w.World)
	w.start(Options{})
	w.Run(time.Second)
	return w
}

func (w *world) start(o Options) {
	o.Driver, o.Machine, o.Socket = tc.Driver, w.Machine, tc.Socket
	w.sidecar = Start(w.World, w.Wire, o)
}

func (w *world) claim() claim { return tc.Get[claim](w.Cluster, "default", "v") }

// ask changes the request in the claim.
func (w *world) ask(size string) {
	w.T.Helper()
	tc.Change(w.Cluster, w.claim(), func(pvc claim) {
		pvc.Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse(size)
	})
}

// state holds the sizes in the claim and its volume.
type state struct {
	Capacity, Allocated, Volume string
	Status                      corev1.ClaimResourceStatus
	Conditions                  []string
}

func (w *world) state() state {
	pvc, pv := w.claim(), tc.Get[persistentVolume](w.Cluster, "", "v")
	s := state{Capacity: pvc.Status.Capacity.Storage().String(), Volume: pv.Spec.Capacity.Storage().String(), Status: resizeStatus(pvc)}
	if size, ok := pvc.Status.AllocatedResources[corev1.ResourceStorage]; ok {
		s.Allocated = size.String()
	}
	for _, c := range pvc.Status.Conditions {
		s.Conditions = append(s.Conditions, string(c.Type))
	}
	return s
}

func (w *world) expect(want state) {
	w.T.Helper()
	assert.Empty(w.T, cmp.Diff(want, w.state()))
}

// Trace i1 until the kubelet continues: C-RES-14, C-RES-17, C-RES-18, C-RES-22, C-EXP-4
// conformance: unit-controller-expand-grow
func TestAVolumeIsExpandedAndLeftToTheNode(t *testing.T) {
	w := newWorld(t, mock.Options{ControllerExpand: true, NodeExpand: true})
	start := w.Trace.Last()
	w.ask("2Gi")
	w.Run(time.Second)
	assert.Equal(t, []string{
		"MODIFIED persistentvolumeclaims", // asked for
		"ExternalExpanding waiting for an external controller to expand this PVC",
		"MODIFIED persistentvolumeclaims", // ControllerResizeInProgress
		"Resizing External resizer is resizing volume v",
		"ControllerExpandVolume",
		"MODIFIED persistentvolumes",
		"MODIFIED persistentvolumeclaims", // NodeResizePending
		"FileSystemResizeRequired Require file system resize of volume on node",
	}, w.Events(start, trace.API, trace.Call, trace.KubeEvent))
	w.expect(state{Capacity: "1Gi", Allocated: "2Gi", Volume: "2Gi", Status: nodePending, Conditions: []string{"Resizing", "FileSystemResizePending"}})

	request := w.Calls(expandVolume)[0].Request.(*csi.ControllerExpandVolumeRequest)
	assert.Equal(t, int64(2<<30), request.GetCapacityRange().GetRequiredBytes())
	assert.Zero(t, request.GetCapacityRange().GetLimitBytes())
	assert.Equal(t, "h-v", request.GetVolumeId())
	assert.Equal(t, csi.VolumeCapability_AccessMode_SINGLE_NODE_MULTI_WRITER, request.GetVolumeCapability().GetAccessMode().GetMode())
	assert.Empty(t, request.GetVolumeCapability().GetMount().GetFsType())
	assert.Empty(t, tc.Get[persistentVolume](w.Cluster, "", "v").Annotations, "as recorded of csi-resizer 2.2")
	for _, e := range w.Trace.Events() {
		if e.Kind == trace.KubeEvent && e.Method == "Resizing" {
			assert.Equal(t, "external-resizer "+tc.Driver, e.Actor)
		}
	}
}

// The claim's new status queues it again. The sidecar writes the volume's new capacity into its
// informer's store (patchPersistentVolume). So it does not call the driver twice while its cache is
// late. C-RES-13, C-RES-22
func TestALateCacheCausesNoSecondCall(t *testing.T) {
	for seed := range uint64(40) {
		w := newWorldUnder(t, kernel.NewRandom(seed), mock.Options{
			ControllerExpand: true, NodeExpand: true, Existing: []mock.ExistingVolume{{ID: "h-other", CapacityBytes: 1 << 30}},
		})
		other, _ := w.Bound("other", "grows")
		tc.Change(w.Cluster, other, func(pvc claim) {
			pvc.Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse("2Gi")
		})
		w.ask("2Gi")
		w.Run(time.Minute)
		w.expect(state{Capacity: "1Gi", Allocated: "2Gi", Volume: "2Gi", Status: nodePending, Conditions: []string{"Resizing", "FileSystemResizePending"}})
		assert.Len(t, w.Calls(expandVolume), 2, "seed %d", seed)
	}
}

// C-RES-22
// conformance: unit-controller-expand-no-node-expansion, csimock-expand-controller-only
func TestAVolumeThatNeedsNoNodeIsFinishedAtOnce(t *testing.T) {
	w := newWorld(t, mock.Options{ControllerExpand: true})
	w.ask("6Gi")
	w.Run(time.Second)
	w.expect(state{Capacity: "6Gi", Allocated: "6Gi", Volume: "6Gi"})
	assert.Equal(t, "true", w.claim().Annotations[annNodeExpansionNotRequired])
	assert.Contains(t, w.Events(0, trace.KubeEvent), "VolumeResizeSuccessful Resize volume succeeded")

	w.ask("7Gi")
	w.Run(time.Second)
	w.expect(state{Capacity: "7Gi", Allocated: "7Gi", Volume: "7Gi"})
}

// C-RES-2: the controller plugin gets no calls for expansions on the nodes.
func TestADriverThatExpandsOnlyOnNodesIsNotCalled(t *testing.T) {
	w := newWorld(t, mock.Options{NodeExpand: true})
	w.ask("2Gi")
	w.Run(time.Second)
	w.expect(state{Capacity: "1Gi", Allocated: "2Gi", Volume: "2Gi", Status: nodePending, Conditions: []string{"Resizing", "FileSystemResizePending"}})
	assert.Empty(t, w.Calls(expandVolume))
}

// C-RES-2
func TestTheSidecarOfADriverThatCannotExpandEnds(t *testing.T) {
	w := newWorld(t, mock.Options{})
	w.ask("2Gi")
	w.Run(time.Minute)
	assert.False(t, w.sidecar.Running())
	w.expect(state{Capacity: "1Gi", Volume: "1Gi"})
}

// Trace gg1, fact 65: C-RES-20, C-RES-21
// conformance: csimock-recovery-controller-infeasible
func TestAnInfeasibleSizeRestsUntilAnotherIsRequested(t *testing.T) {
	for _, code := range []codes.Code{codes.OutOfRange, codes.InvalidArgument, codes.NotFound} {
		t.Run(code.String(), func(t *testing.T) {
			w := newWorld(t, mock.Options{ControllerExpand: true, NodeExpand: true})
			w.Fail("ControllerExpandVolume", code, 0)
			start := w.Trace.Last()
			w.ask("11Gi")
			w.Run(15 * time.Second)
			message := `resize volume "v" by resizer "` + tc.Driver + `" failed: rpc error: code = ` + code.String() + ` desc = refused`
			assert.Equal(t, []string{
				"ExternalExpanding waiting for an external controller to expand this PVC",
				"Resizing External resizer is resizing volume v", "VolumeResizeFailed " + message,
				"Resizing External resizer is resizing volume v", "VolumeResizeFailed " + message,
			}, w.Events(start, trace.KubeEvent))
			w.expect(state{Capacity: "1Gi", Allocated: "11Gi", Volume: "1Gi", Status: controllerInfeasible, Conditions: []string{"Resizing", "ControllerResizeError"}})
			assert.Equal(t, "failed to expand pvc with rpc error: code = "+code.String()+" desc = refused", w.claim().Status.Conditions[1].Message)
			assert.Len(t, w.Events(start, trace.API), 3, "the second try changes nothing in the claim")

			w.Run(10 * time.Minute)
			assert.Equal(t, []time.Duration{0, 0, 5 * time.Minute, 10 * time.Minute}, w.Times(expandVolume))

			w.Mend("ControllerExpandVolume")
			before := len(w.Calls(expandVolume))
			w.ask("4Gi")
			w.Run(time.Second)
			w.expect(state{Capacity: "1Gi", Allocated: "4Gi", Volume: "4Gi", Status: nodePending, Conditions: []string{"Resizing", "FileSystemResizePending"}})
			assert.Len(t, w.Calls(expandVolume), before+1)
		})
	}
}

// C-RES-20: after an error that ends the driver's work, a new size is accepted.
func TestAfterAFinalErrorTheNewSizeIsTaken(t *testing.T) {
	w := newWorld(t, mock.Options{ControllerExpand: true})
	w.Fail("ControllerExpandVolume", codes.Internal, 0)
	w.ask("8Gi")
	w.Run(8 * time.Second)
	w.expect(state{Capacity: "1Gi", Allocated: "8Gi", Volume: "1Gi", Status: controllerInProgress, Conditions: []string{"Resizing", "ControllerResizeError"}})
	assert.Equal(t, []time.Duration{0, 0, time.Second, 5 * time.Second}, w.Times(expandVolume), "fact 23")
	w.Mend("ControllerExpandVolume")
	w.ask("4Gi")
	w.Run(time.Second)
	w.expect(state{Capacity: "4Gi", Allocated: "4Gi", Volume: "4Gi"})
}

// C-RES-12, C-RES-20: after a timeout the driver may still be expanding.
func TestAfterATimeoutTheSizeStaysUntilTheDriverHasAnswered(t *testing.T) {
	for _, code := range []codes.Code{codes.DeadlineExceeded, codes.Unavailable, codes.Canceled, codes.Aborted, codes.ResourceExhausted} {
		w := newWorld(t, mock.Options{ControllerExpand: true})
		w.Fail("ControllerExpandVolume", code, 2)
		w.ask("8Gi")
		w.Run(100 * time.Millisecond)
		w.expect(state{Capacity: "1Gi", Allocated: "8Gi", Volume: "1Gi", Status: controllerInProgress, Conditions: []string{"Resizing"}})
		w.ask("4Gi")
		w.Run(20 * time.Second)
		for _, call := range w.Calls(expandVolume) {
			assert.Equal(t, int64(8<<30), call.Request.(*csi.ControllerExpandVolumeRequest).GetCapacityRange().GetRequiredBytes(), code)
		}
		w.expect(state{Capacity: "8Gi", Allocated: "8Gi", Volume: "8Gi"})
	}
}

// Fact 65, C-RES-12, C-RES-13
// conformance: unit-controller-expand-same-size-pending
func TestABiggerSizeWaitsForTheNode(t *testing.T) {
	w := newWorld(t, mock.Options{ControllerExpand: true, NodeExpand: true})
	w.ask("2Gi")
	w.Run(time.Second)
	w.ask("3Gi")
	w.Run(time.Minute)
	assert.Len(t, w.Calls(expandVolume), 1)

	// The write of a kubelet: C-EXP-7.
	tc.ChangeStatus(w.Cluster, w.claim(), func(pvc claim) {
		pvc.Status.Capacity[corev1.ResourceStorage] = resource.MustParse("2Gi")
		pvc.Status.AllocatedResourceStatuses, pvc.Status.Conditions = nil, nil
	})
	w.Run(time.Second)
	assert.Len(t, w.Calls(expandVolume), 2)
	w.expect(state{Capacity: "2Gi", Allocated: "3Gi", Volume: "3Gi", Status: nodePending, Conditions: []string{"Resizing", "FileSystemResizePending"}})
}

// C-RES-16
func TestAnOfflineExpanderIsNotCalledAgainWhileAPodUsesTheClaim(t *testing.T) {
	w := newWorld(t, mock.Options{ControllerExpand: true})
	pod := tc.Create(w.Cluster, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{Name: "c", Image: "sleep"}},
			Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
				PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "v"}}}},
		},
	})
	w.Fail("ControllerExpandVolume", codes.FailedPrecondition, 1)
	w.ask("2Gi")
	w.Run(10 * time.Second)
	assert.Len(t, w.Calls(expandVolume), 1)
	assert.Contains(t, w.Events(0, trace.KubeEvent),
		"VolumeResizeFailed Unable to expand default/v because CSI driver "+tc.Driver+" only supports offline expansion and volume is currently in-use")
	_, err := store.Delete[*corev1.Pod](w.Store, store.KeyOf(pod), store.GracePeriod(0))
	assert.NoError(t, err)
	w.Run(time.Minute)
	w.expect(state{Capacity: "2Gi", Allocated: "2Gi", Volume: "2Gi"})
}

// C-RES-23
func TestARestartedSidecarContinuesExpansions(t *testing.T) {
	w := newWorld(t, mock.Options{ControllerExpand: true})
	w.Fail("ControllerExpandVolume", codes.Internal, 2)
	w.ask("8Gi")
	w.Run(100 * time.Millisecond)
	w.sidecar.Crash()
	w.ask("4Gi")
	w.start(Options{})
	w.Run(time.Second)
	w.expect(state{Capacity: "8Gi", Allocated: "8Gi", Volume: "8Gi"})
}

// C-RES-3, C-RES-10
func TestTheFormerSizeIsKeptUntilTheFileSystemHasGrown(t *testing.T) {
	w := newWorld(t, mock.Options{ControllerExpand: true, NodeExpand: true})
	w.sidecar.Crash()
	w.start(Options{AnnotateFsResize: true})
	w.ask("2Gi")
	w.Run(time.Second)
	former := func() string { return tc.Get[persistentVolume](w.Cluster, "", "v").Annotations[annPreResizeCapacity] }
	assert.Equal(t, "1Gi", former())
	tc.ChangeStatus(w.Cluster, w.claim(), func(pvc claim) {
		pvc.Status.Capacity[corev1.ResourceStorage] = resource.MustParse("2Gi")
		pvc.Status.AllocatedResourceStatuses, pvc.Status.Conditions = nil, nil
	})
	w.Run(time.Second)
	assert.Empty(t, former())
}

// C-RES-11
func TestVolumesOfOthersAreLeftAlone(t *testing.T) {
	w := newWorld(t, mock.Options{ControllerExpand: true})
	tc.Change(w.Cluster, tc.Get[persistentVolume](w.Cluster, "", "v"), func(pv persistentVolume) { pv.Spec.ClaimRef.UID = "another" })
	w.ask("2Gi")
	w.Run(time.Minute)
	assert.Empty(t, w.Calls(expandVolume))
}

// C-RES-1: ten claims at once, 10 s for a call, a backoff from 1 s to 5 min, a resync every 10 min.
func TestTheNumberAndRateOfExpansions(t *testing.T) {
	var existing []mock.ExistingVolume
	for i := range 12 {
		existing = append(existing, mock.ExistingVolume{ID: fmt.Sprint("h-v", i), CapacityBytes: 1 << 30})
	}
	w := &world{Cluster: tc.New(t, kernel.Calm{}, mock.Options{ControllerExpand: true, Existing: existing})}
	tc.Create(w.Cluster, &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: "grows"}, Provisioner: tc.Driver, AllowVolumeExpansion: ptr.To(true)})
	for i := range 12 {
		w.Bound(fmt.Sprint("v", i), "grows")
	}
	w.start(Options{Flags: sidecar.Flags{KubeAPIQPS: -1}})
	w.Run(time.Second)
	w.Wire.Faults.Inject(&fault.Fault{Call: "ControllerExpandVolume", Effect: fault.HoldRequest, Delay: time.Hour})
	for i := range 12 {
		tc.Change(w.Cluster, tc.Get[claim](w.Cluster, "default", fmt.Sprint("v", i)), func(pvc claim) {
			pvc.Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse("2Gi")
		})
	}
	w.Run(9 * time.Second)
	assert.Len(t, w.Calls(expandVolume), 10)
	w.Run(1500 * time.Millisecond)
	assert.Len(t, w.Calls(expandVolume), 20, "all calls of the first 10 s have timed out")

	w.Wire.Faults.Clear("ControllerExpandVolume")
	other := newWorld(t, mock.Options{ControllerExpand: true})
	other.Fail("ControllerExpandVolume", codes.Internal, 0)
	other.ask("2Gi")
	other.Run(15 * time.Minute)
	assert.Equal(t, []time.Duration{
		0, 0, // the sidecar's own change of the claim queues it again at once
		1, 5, 13, 29, 61, 125, 253, 509,
		599, // the resync, 10 min after the start
		809,
	}, inSeconds(other.Times(expandVolume)))
}

func inSeconds(times []time.Duration) []time.Duration {
	for i := range times {
		times[i] /= time.Second
	}
	return times
}

// C-RES-4
func TestWhichChangesOfAClaimMayConcernItsSize(t *testing.T) {
	for says, c := range map[string]struct {
		change  func(claim)
		matters bool
	}{
		"a larger size is requested":  {func(pvc claim) { pvc.Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse("3Gi") }, true},
		"a smaller size is requested": {func(pvc claim) { pvc.Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse("1500Mi") }, true},
		"another expands it":          {func(pvc claim) { pvc.Annotations = map[string]string{"volume.kubernetes.io/storage-resizer": "x"} }, true},
		"it has grown":                {func(pvc claim) { pvc.Status.Capacity[corev1.ResourceStorage] = resource.MustParse("2Gi") }, true},
		"it has shrunk":               {func(pvc claim) { pvc.Status.Capacity[corev1.ResourceStorage] = resource.MustParse("512Mi") }, false},
		"the node has begun":          {func(pvc claim) { setStatus(pvc, corev1.PersistentVolumeClaimNodeResizeInProgress) }, true},
		"a condition is added":        {func(pvc claim) { pvc.Status.Conditions = []corev1.PersistentVolumeClaimCondition{{Type: "Resizing"}} }, false},
		"a label is added":            {func(pvc claim) { pvc.Labels = map[string]string{"a": "b"} }, false},
		"other attributes":            {func(pvc claim) { pvc.Spec.VolumeAttributesClassName = ptr.To("gold") }, false},
		"it is about to be gone":      {func(pvc claim) { pvc.DeletionTimestamp = &metav1.Time{} }, false},
	} {
		t.Run(says, func(t *testing.T) {
			old := &corev1.PersistentVolumeClaim{
				Spec:   corev1.PersistentVolumeClaimSpec{Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("2Gi")}}},
				Status: corev1.PersistentVolumeClaimStatus{Capacity: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
			}
			now := old.DeepCopy()
			c.change(now)
			assert.Equal(t, c.matters, sizeMatters(old, now))
		})
	}
}

// C-RES-15: a new attempt and a success remove the conditions of resizing, and no others.
func TestWhichConditionsBelongToResizing(t *testing.T) {
	w := newWorld(t, mock.Options{ControllerExpand: true})
	tc.ChangeStatus(w.Cluster, w.claim(), func(pvc claim) {
		for _, kind := range []corev1.PersistentVolumeClaimConditionType{
			"Resizing", "FileSystemResizePending", "ControllerResizeError", "NodeResizeError", "ModifyingVolume", "ModifyVolumeError", "Mine",
		} {
			pvc.Status.Conditions = append(pvc.Status.Conditions, corev1.PersistentVolumeClaimCondition{Type: kind, Status: corev1.ConditionTrue})
		}
	})
	w.ask("2Gi")
	w.Run(time.Second)
	w.expect(state{Capacity: "2Gi", Allocated: "2Gi", Volume: "2Gi", Conditions: []string{"ModifyingVolume", "ModifyVolumeError", "Mine"}})
}
