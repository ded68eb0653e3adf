package resizer

import (
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/csisim/csisim/drivers/mock"
	tc "github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/internal/world/trace"
)

const modifyVolume = "Controller/ControllerModifyVolume"

// newModifyWorld returns a world with the classes silver and gold; volume v has the class silver.
func newModifyWorld(t *testing.T) *world {
	w := newWorld(t, mock.Options{ModifyVolume: true})
	for name, iops := range map[string]string{"silver": "100", "gold": "900"} {
		tc.Create(w.Cluster, &storagev1.VolumeAttributesClass{
			ObjectMeta: metav1.ObjectMeta{Name: name}, DriverName: tc.Driver, Parameters: map[string]string{"iops": iops},
		})
	}
	tc.Change(w.Cluster, w.claim(), func(pvc claim) { pvc.Spec.VolumeAttributesClassName = ptr.To("silver") })
	tc.Change(w.Cluster, w.volume(), func(pv persistentVolume) { pv.Spec.VolumeAttributesClassName = ptr.To("silver") })
	w.Run(time.Second)
	return w
}

func (w *world) volume() persistentVolume { return tc.Get[persistentVolume](w.Cluster, "", "v") }

func (w *world) askFor(class string) {
	w.T.Helper()
	tc.Change(w.Cluster, w.claim(), func(pvc claim) { pvc.Spec.VolumeAttributesClassName = &class })
}

// attributes holds the state of the attributes in the claim and its volume.
type attributes struct {
	Current, Target, Volume string
	Status                  corev1.PersistentVolumeClaimModifyVolumeStatus
	Conditions              []string // type, reason and message
}

func (w *world) expectAttributes(want attributes) {
	w.T.Helper()
	pvc := w.claim()
	got := attributes{Current: current(pvc), Volume: deref(w.volume().Spec.VolumeAttributesClassName)}
	if s := pvc.Status.ModifyVolumeStatus; s != nil {
		got.Target, got.Status = s.TargetVolumeAttributesClassName, s.Status
	}
	for _, c := range pvc.Status.Conditions {
		got.Conditions = append(got.Conditions, string(c.Type)+" "+c.Reason+": "+c.Message)
	}
	assert.Empty(w.T, cmp.Diff(want, got))
}

// Trace y: C-RES-42, C-RES-44
// conformance: suite-vac-none-to-a, suite-vac-a-to-b
func TestAVolumeIsGivenOtherAttributes(t *testing.T) {
	w := newModifyWorld(t)
	w.expectAttributes(attributes{Current: "silver", Volume: "silver"})
	start := w.Trace.Last()
	w.askFor("gold")
	w.Run(time.Second)
	assert.Equal(t, []string{
		"MODIFIED persistentvolumeclaims", // asked for
		"MODIFIED persistentvolumeclaims", // InProgress
		"VolumeModify external resizer is modifying volume v with vac gold",
		"ControllerModifyVolume",
		"MODIFIED persistentvolumes",
		"MODIFIED persistentvolumeclaims",
		"VolumeModifySuccessful external resizer modified volume v with vac gold successfully",
	}, w.Events(start, trace.API, trace.Call, trace.KubeEvent))
	w.expectAttributes(attributes{Current: "gold", Volume: "gold"})
	calls := w.Calls(modifyVolume)
	request := calls[len(calls)-1].Request.(*csi.ControllerModifyVolumeRequest)
	assert.Equal(t, map[string]string{"iops": "900"}, request.GetMutableParameters())
	assert.Equal(t, "h-v", request.GetVolumeId())
}

// Trace y, fact 44: C-RES-45, C-RES-46
func TestInfeasibleAttributesRestUntilOthersAreRequested(t *testing.T) {
	w := newModifyWorld(t)
	before := len(w.Calls(modifyVolume))
	w.Fail("ControllerModifyVolume", codes.InvalidArgument, 0)
	w.askFor("gold")
	w.Run(time.Second)
	refused := attributes{Current: "silver", Volume: "silver", Target: "gold", Status: modifyInfeasible, Conditions: []string{
		`ModifyingVolume : Modifying volume to "gold" failed. Waiting for retry.`, "ModifyVolumeError InvalidArgument: refused",
	}}
	w.expectAttributes(refused)
	assert.Contains(t, w.Events(0, trace.KubeEvent), "VolumeModifyFailed rpc error: code = InvalidArgument desc = refused")
	w.Mend("ControllerModifyVolume")
	w.Run(4 * time.Minute)
	assert.Len(t, w.Calls(modifyVolume), before+1, "not even when the driver would accept it")
	w.expectAttributes(refused)
	w.Run(5 * time.Minute)
	assert.Len(t, w.Calls(modifyVolume), before+2)
	w.expectAttributes(attributes{Current: "gold", Volume: "gold"})
}

// C-RES-45: after other final errors the sidecar retries soon, and the target may change.
func TestAFinalErrorIsRetriedAndTheTargetMayChange(t *testing.T) {
	w := newModifyWorld(t)
	before := len(w.Calls(modifyVolume))
	w.Fail("ControllerModifyVolume", codes.Internal, 2)
	w.askFor("gold")
	w.Run(500 * time.Millisecond)
	w.expectAttributes(attributes{Current: "silver", Volume: "silver", Target: "gold", Status: modifyInProgress, Conditions: []string{
		`ModifyingVolume : Modifying volume to "gold" failed. Waiting for retry.`, "ModifyVolumeError Internal: refused",
	}})
	w.askFor("silver")
	w.Run(20 * time.Second)
	for _, call := range w.Calls(modifyVolume)[before+1:] {
		assert.Equal(t, "100", call.Request.(*csi.ControllerModifyVolumeRequest).GetMutableParameters()["iops"])
	}
	w.expectAttributes(attributes{Current: "silver", Volume: "silver"})
}

// C-RES-45: after a timeout the driver may still be working, so the target stays.
func TestAfterATimeoutTheTargetStaysUntilTheDriverHasAnswered(t *testing.T) {
	w := newModifyWorld(t)
	before := len(w.Calls(modifyVolume))
	w.Fail("ControllerModifyVolume", codes.DeadlineExceeded, 2)
	w.askFor("gold")
	w.Run(500 * time.Millisecond)
	w.expectAttributes(attributes{Current: "silver", Volume: "silver", Target: "gold", Status: modifyInProgress, Conditions: []string{
		`ModifyingVolume : Modifying volume to "gold" is still in progress.`, "ModifyVolumeError DeadlineExceeded: refused",
	}})
	assert.Contains(t, w.Events(0, trace.KubeEvent), "VolumeModifyFailed rpc error: code = DeadlineExceeded desc = refused. Still modifying to VAC gold")
	w.askFor("silver")
	w.Run(20 * time.Second)
	calls := w.Calls(modifyVolume)[before:]
	for _, call := range calls[:3] {
		assert.Equal(t, "900", call.Request.(*csi.ControllerModifyVolumeRequest).GetMutableParameters()["iops"])
	}
	w.expectAttributes(attributes{Current: "silver", Volume: "silver"})
}

// C-RES-47
func TestAfterARestartTheOutcomeIsNotKnown(t *testing.T) {
	w := newModifyWorld(t)
	before := len(w.Calls(modifyVolume))
	w.Fail("ControllerModifyVolume", codes.Internal, 1)
	w.askFor("gold")
	w.Run(500 * time.Millisecond)
	w.sidecar.Crash()
	w.askFor("silver")
	w.start(Options{})
	w.Run(20 * time.Second)
	assert.Equal(t, "900", w.Calls(modifyVolume)[before+1].Request.(*csi.ControllerModifyVolumeRequest).GetMutableParameters()["iops"])
	w.expectAttributes(attributes{Current: "silver", Volume: "silver"})
}

// C-RES-42: the resync checks again for a missing class.
func TestAMissingClassIsAwaited(t *testing.T) {
	w := newModifyWorld(t)
	w.askFor("platinum")
	w.Run(time.Minute)
	w.expectAttributes(attributes{Current: "silver", Volume: "silver", Status: modifyPending})
	assert.Contains(t, w.Events(0, trace.KubeEvent), `VolumeModifyFailed VAC "platinum" does not exist.`)
	tc.Create(w.Cluster, &storagev1.VolumeAttributesClass{
		ObjectMeta: metav1.ObjectMeta{Name: "platinum"}, DriverName: tc.Driver, Parameters: map[string]string{"iops": "9000"},
	})
	w.Run(10 * time.Minute)
	w.expectAttributes(attributes{Current: "platinum", Volume: "platinum"})
}

// C-RES-43
func TestTheSecretForAModification(t *testing.T) {
	w := newModifyWorld(t)
	tc.Create(w.Cluster, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "modify"}, Data: map[string][]byte{"k": []byte("v")}})
	tc.Change(w.Cluster, w.volume(), func(pv persistentVolume) {
		pv.Annotations = map[string]string{annModifySecretName: "modify", annModifySecretNamespace: "kube-system"}
	})
	w.askFor("gold")
	w.Run(time.Second)
	calls := w.Calls(modifyVolume)
	assert.Equal(t, map[string]string{"k": "v"}, calls[len(calls)-1].Request.(*csi.ControllerModifyVolumeRequest).GetSecrets())
}

// C-RES-41
func TestTheCourseOfAModification(t *testing.T) {
	for _, c := range []struct {
		asked, current string
		status         *corev1.ModifyVolumeStatus
		uncertain      bool
		want           course
	}{
		{asked: "a", current: "a", want: nothing},
		{asked: "", current: "", want: nothing},
		{asked: "b", current: "a", want: begin},
		{asked: "", status: &corev1.ModifyVolumeStatus{Status: modifyPending}, want: rolledBack},
		{asked: "", status: &corev1.ModifyVolumeStatus{Status: modifyInfeasible}, want: rolledBack},
		{asked: "", status: &corev1.ModifyVolumeStatus{Status: modifyInProgress}, want: resume},
		{asked: "b", status: &corev1.ModifyVolumeStatus{Status: modifyInProgress}, uncertain: true, want: resume},
		{asked: "b", status: &corev1.ModifyVolumeStatus{Status: modifyInProgress}, want: begin},
		{asked: "b", status: &corev1.ModifyVolumeStatus{Status: modifyInfeasible}, uncertain: true, want: begin},
	} {
		pvc := &corev1.PersistentVolumeClaim{}
		pvc.Spec.VolumeAttributesClassName, pvc.Status.CurrentVolumeAttributesClassName = &c.asked, &c.current
		pvc.Status.ModifyVolumeStatus = c.status
		assert.Equal(t, c.want, courseOf(pvc, c.uncertain), "%+v", c)
	}
}

// C-RES-40: the claims that are modified. The sidecar does not compare the driver of the class with
// the driver of the volume.
func TestWhichClaimsAreModified(t *testing.T) {
	for says, c := range map[string]struct {
		change func(w *world)
		asked  bool
	}{
		"a claim of the driver": {func(*world) {}, true},
		"a class of another driver": {func(w *world) {
			tc.Create(w.Cluster, &storagev1.VolumeAttributesClass{ObjectMeta: metav1.ObjectMeta{Name: "foreign"}, DriverName: "x.example.com", Parameters: map[string]string{"iops": "1"}})
			w.askFor("foreign")
		}, true},
		"a claim that is lost": {func(w *world) {
			tc.ChangeStatus(w.Cluster, w.claim(), func(pvc claim) { pvc.Status.Phase = corev1.ClaimLost })
		}, false},
		"a volume of another driver": {func(w *world) {
			pv := w.volume()
			tc.Change(w.Cluster, pv, func(pv persistentVolume) { pv.Finalizers = nil })
			tc.Delete(w.Cluster, pv)
			other := pv.DeepCopy()
			other.ObjectMeta = metav1.ObjectMeta{Name: "v"}
			other.Spec.CSI.Driver = "x.example.com"
			tc.Create(w.Cluster, other)
		}, false},
	} {
		t.Run(says, func(t *testing.T) {
			w := newModifyWorld(t)
			before := len(w.Calls(modifyVolume))
			w.sidecar.Crash()
			w.askFor("gold")
			c.change(w)
			w.start(Options{})
			w.Run(5 * time.Second)
			assert.Equal(t, c.asked, len(w.Calls(modifyVolume)) > before)
		})
	}
}

// C-RES-40
func TestWhichChangesOfAClaimMayConcernItsAttributes(t *testing.T) {
	at := func(phase corev1.PersistentVolumeClaimPhase, class string, status *corev1.ModifyVolumeStatus) claim {
		return &corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{VolumeAttributesClassName: &class},
			Status: corev1.PersistentVolumeClaimStatus{Phase: phase, ModifyVolumeStatus: status}}
	}
	busy := &corev1.ModifyVolumeStatus{Status: modifyInProgress}
	assert.True(t, attributesMatter(at(corev1.ClaimBound, "silver", busy), at(corev1.ClaimBound, "gold", busy)))
	assert.False(t, attributesMatter(at(corev1.ClaimBound, "gold", busy), at(corev1.ClaimBound, "gold", busy)))
	assert.True(t, attributesMatter(at(corev1.ClaimBound, "gold", busy), at(corev1.ClaimBound, "gold", nil)))
	assert.False(t, attributesMatter(at(corev1.ClaimBound, "silver", nil), at(corev1.ClaimLost, "gold", nil)))
}
