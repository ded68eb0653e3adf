package provisioner_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/fakecontroller/internal/provisioner"
	"github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

const (
	createCall = "Controller/CreateVolume"
	deleteCall = "Controller/DeleteVolume"
)

func seconds(n ...float64) []time.Duration {
	var list []time.Duration
	for _, s := range n {
		list = append(list, time.Duration(s*float64(time.Second)))
	}
	return list
}

func (w *world) fail(call string, code codes.Code, times int) {
	w.wire.Faults.Inject(&fault.Fault{Call: call, Effect: fault.Answer, Code: code, Message: "injected", Times: times})
}

// Trace l14, fact 23: gaps of 1 s and 2 s. C-PROV-3, C-PROV-62, C-PROV-74
func TestFailedCallsAreRepeatedWithBackoff(t *testing.T) {
	w := newWorld(t, kernel.Options{}, mock.Options{}, provisioner.Options{})
	w.class("stub")
	w.fail("CreateVolume", codes.Internal, 2)
	w.fail("DeleteVolume", codes.Internal, 2)
	w.Run(time.Second)
	start := w.Trace.Last()

	w.claim("l14", "stub")
	w.Run(10 * time.Second)
	assert.Equal(t, seconds(0, 1, 3), w.callTimes(createCall))
	events := w.events(start, trace.KubeEvent)
	assert.Contains(t, events, `Provisioning External provisioner is provisioning volume for claim "default/l14"`)
	assert.Contains(t, events, "ProvisioningFailed rpc error: code = Internal desc = injected")
	assert.Contains(t, events, "ProvisioningSucceeded Successfully provisioned volume "+w.volumes()[0].Name)

	start = w.Trace.Last()
	w.deleteClaim("l14")
	w.Run(10 * time.Second)
	assert.Equal(t, seconds(0, 1, 3), w.callTimes(deleteCall))
	assert.Contains(t, w.events(start, trace.KubeEvent), "VolumeFailedDelete rpc error: code = Internal desc = injected")
	assert.Empty(t, w.volumes())
}

// Trace kk3, facts 27, 55 and 56. The deletion of the claim causes one more call at once. After
// that, the error code decides. C-PROV-13, C-PROV-14
func TestClaimDeletedWhileCreateVolumeFails(t *testing.T) {
	for _, c := range []struct {
		code      codes.Code
		creations []time.Duration
		deletions int
	}{
		{codes.Internal, seconds(0, 0.5), 0},
		{codes.ResourceExhausted, seconds(0, 0.5), 0},
		{codes.FailedPrecondition, seconds(0, 0.5), 0},
		{codes.InvalidArgument, seconds(0), 0}, // infeasible: no call for 5 min
		{codes.DeadlineExceeded, seconds(0, 0.5, 1, 5), 1},
		{codes.Unavailable, seconds(0, 0.5, 1, 5), 1},
		{codes.Aborted, seconds(0, 0.5, 1, 5), 1},
		{codes.Canceled, seconds(0, 0.5, 1, 5), 1},
	} {
		t.Run(c.code.String(), func(t *testing.T) {
			w := newWorld(t, kernel.Options{}, mock.Options{}, provisioner.Options{})
			w.class("mgless")
			w.Run(time.Second)
			w.fail("CreateVolume", c.code, 3)
			w.claim("kk3", "mgless")
			w.Run(500 * time.Millisecond)
			w.deleteClaim("kk3")
			w.Run(time.Minute)
			assert.Equal(t, c.creations, w.callTimes(createCall))
			assert.Len(t, w.callTimes(deleteCall), c.deletions)
			assert.Empty(t, w.volumes())
			_, exists := get[*corev1.PersistentVolumeClaim](w, "default", "kk3")
			assert.False(t, exists)
		})
	}
}

// Trace aa9, facts 45 and 46: the provisioner stops waiting after 10 s. It calls again 1 s later,
// or at once if the claim was deleted meanwhile.
func TestHungCreateVolumeIsGivenUpAndRepeated(t *testing.T) {
	w := newWorld(t, kernel.Options{}, mock.Options{}, provisioner.Options{})
	w.class("stub")
	w.Run(time.Second)
	w.wire.Faults.Inject(&fault.Fault{Call: "CreateVolume", Effect: fault.HoldRequest, Delay: 30 * time.Second, Times: 1})
	start := w.Trace.Last()
	w.claim("aa9", "stub")
	w.Run(time.Minute)
	assert.Equal(t, seconds(0, 11), w.callTimes(createCall))
	assert.Contains(t, w.events(start, trace.KubeEvent), "ProvisioningFailed rpc error: code = DeadlineExceeded desc = context deadline exceeded")
	require.Len(t, w.volumes(), 1)
}

// C-PROV-13
func TestClaimDeletedWhileCreateVolumeHangs(t *testing.T) {
	w := newWorld(t, kernel.Options{}, mock.Options{}, provisioner.Options{})
	w.class("stub")
	w.Run(time.Second)
	w.wire.Faults.Inject(&fault.Fault{Call: "CreateVolume", Effect: fault.HoldRequest, Delay: 30 * time.Second, Times: 1})
	w.claim("aa9b", "stub")
	w.Run(2 * time.Second)
	w.deleteClaim("aa9b")
	w.Run(time.Minute)
	assert.Equal(t, seconds(0, 10), w.callTimes(createCall))
	assert.Len(t, w.callTimes(deleteCall), 1, "the volume is made, released and deleted")
	assert.Empty(t, w.volumes())
}

// Trace dd6, fact 55: the restarted provisioner requests the same volume again.
func TestProvisionerKilledInCreateVolumeRepeatsTheCall(t *testing.T) {
	w := newWorld(t, kernel.Options{}, mock.Options{}, provisioner.Options{})
	w.class("stub")
	w.Run(time.Second)
	w.wire.Faults.Inject(&fault.Fault{Call: "CreateVolume", Effect: fault.HoldAnswer, Delay: 5 * time.Second, Times: 1})
	w.claim("dd6", "stub")
	w.Run(time.Second)
	w.provisioner.Crash()
	w.Run(2 * time.Second)
	provisioner.Start(w.World, w.wire, provisioner.Options{Driver: driverName, Machine: w.machine, Socket: socket})
	w.Run(time.Second)
	assert.Equal(t, seconds(0, 3), w.callTimes(createCall))
	assert.Len(t, w.volumes(), 1)
}

// C-PROV-15: after InvalidArgument, the provisioner does not call the driver for 5 minutes.
func TestInfeasibleClaimRests(t *testing.T) {
	w := newWorld(t, kernel.Options{}, mock.Options{}, provisioner.Options{})
	w.class("stub")
	w.Run(time.Second)
	w.fail("CreateVolume", codes.InvalidArgument, 1)
	start := w.Trace.Last()
	w.claim("i", "stub")
	w.Run(299 * time.Second)
	assert.Len(t, w.callTimes(createCall), 1)
	assert.Contains(t, w.events(start, trace.KubeEvent), "ProvisioningFailed Volume provisioning failed with infeasible error. Retries will be delayed. rpc error: code = InvalidArgument desc = injected")
	w.Run(10 * time.Minute)
	assert.Len(t, w.callTimes(createCall), 2)
	assert.Len(t, w.volumes(), 1)
}

// C-PROV-60, C-PROV-61, C-SCHED-8: a full node's pod is scheduled to another node.
func TestResourceExhaustedReschedulesThePod(t *testing.T) {
	w := newWorld(t, kernel.Options{}, mock.Options{Topology: true}, provisioner.Options{StrictTopology: true})
	w.node("node-a")
	w.node("node-b")
	w.class("topo", waitForFirstConsumer)
	w.fail("CreateVolume", codes.ResourceExhausted, 1)
	w.claim("s", "topo")
	start := w.Trace.Last()
	w.pod("s", "s", "")
	w.Run(20 * time.Second)
	events := w.events(start, trace.KubeEvent)
	assert.Contains(t, events, "ProvisioningFailed rpc error: code = ResourceExhausted desc = injected")
	assert.Contains(t, events, `FailedScheduling running PreBind plugin "VolumeBinding": binding volumes: provisioning failed for PVC "s"`)
	pod, _ := get[*corev1.Pod](w, "default", "s")
	assert.NotEmpty(t, pod.Spec.NodeName)
	assert.Len(t, w.callTimes(createCall), 2)
}

// C-PROV-73, fact 31
func TestAttachedVolumeIsNotDeleted(t *testing.T) {
	w := newWorld(t, kernel.Options{}, mock.Options{}, provisioner.Options{})
	w.class("stub")
	w.claim("l03", "stub")
	w.Run(time.Second)
	name := w.volumes()[0].Name
	testcluster.Create(w, &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: "va"}, Spec: storagev1.VolumeAttachmentSpec{
		Attacher: driverName, NodeName: "node-a", Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &name}}})
	start := w.Trace.Last()
	w.deleteClaim("l03")
	w.Run(500 * time.Millisecond)
	assert.Contains(t, w.events(start, trace.KubeEvent), "VolumeFailedDelete persistentvolume "+name+" is still attached to node node-a")
	_, err := store.Delete[*storagev1.VolumeAttachment](w.Store, store.Key{Name: "va"})
	require.NoError(t, err)
	w.Run(400 * time.Millisecond)
	assert.Empty(t, w.callTimes(deleteCall), "only the retry after 1 s looks again")
	w.Run(time.Second)
	assert.Len(t, w.callTimes(deleteCall), 1)
	assert.Empty(t, w.volumes())
}

// C-PROV-24 to C-PROV-26, C-PROV-50
func TestSecretsAndFileSystemOfTheClass(t *testing.T) {
	w := newWorld(t, kernel.Options{}, mock.Options{}, provisioner.Options{})
	w.class("secret", func(c *storagev1.StorageClass) {
		c.Parameters = map[string]string{
			"csi.storage.k8s.io/fstype":                             "xfs",
			"csi.storage.k8s.io/provisioner-secret-name":            "top",
			"csi.storage.k8s.io/provisioner-secret-namespace":       "${pvc.namespace}",
			"csi.storage.k8s.io/node-stage-secret-name":             "stage-${pvc.name}",
			"csi.storage.k8s.io/node-stage-secret-namespace":        "vault",
			"csi.storage.k8s.io/controller-expand-secret-name":      "e",
			"csi.storage.k8s.io/controller-expand-secret-namespace": "vault",
			"tier": "gold",
		}
	})
	testcluster.Create(w, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "top"}, Data: map[string][]byte{"key": []byte("x")}})
	w.claim("c", "secret")
	w.Run(time.Second)
	pv := w.volumes()[0]
	assert.Equal(t, "xfs", pv.Spec.CSI.FSType)
	assert.Equal(t, &corev1.SecretReference{Name: "stage-c", Namespace: "vault"}, pv.Spec.CSI.NodeStageSecretRef)
	assert.Equal(t, &corev1.SecretReference{Name: "e", Namespace: "vault"}, pv.Spec.CSI.ControllerExpandSecretRef)
	assert.Equal(t, "top", pv.Annotations["volume.kubernetes.io/provisioner-deletion-secret-name"])
	assert.Equal(t, "default", pv.Annotations["volume.kubernetes.io/provisioner-deletion-secret-namespace"])
	for _, e := range w.Trace.Events() {
		if r, ok := e.Request.(interface {
			GetSecrets() map[string]string
			GetParameters() map[string]string
		}); ok {
			assert.Equal(t, map[string]string{"key": "x"}, r.GetSecrets())
			assert.Equal(t, "gold", r.GetParameters()["tier"])
			assert.NotContains(t, r.GetParameters(), "csi.storage.k8s.io/fstype")
		}
	}
}

// The order of writes and calls is the order in trace b4.
func TestLifecycleInManyInterleavings(t *testing.T) {
	for seed := range uint64(30) {
		w := newWorld(t, kernel.Options{Strategy: &shuffled{state: seed + 1}}, mock.Options{Topology: true}, provisioner.Options{})
		w.node("node-a")
		w.node("node-b")
		w.class("now")
		w.class("later", waitForFirstConsumer)
		w.claim("x", "now")
		w.claim("y", "later")
		w.pod("x", "x", "")
		w.pod("y", "y", "")
		w.Run(2 * time.Minute)
		for _, name := range []string{"x", "y"} {
			pod, _ := get[*corev1.Pod](w, "default", name)
			assert.NotEmpty(t, pod.Spec.NodeName, "seed %d pod %s", seed, name)
			_, err := store.Delete[*corev1.Pod](w.Store, store.Key{Namespace: "default", Name: name}, store.GracePeriod(0))
			require.NoError(t, err)
			w.deleteClaim(name)
		}
		w.Run(2 * time.Minute)
		assert.Empty(t, w.volumes(), "seed %d", seed)
		assert.Empty(t, w.wire.Violations(), "seed %d", seed)
		for _, claim := range []string{"x", "y"} {
			_, exists := get[*corev1.PersistentVolumeClaim](w, "default", claim)
			assert.False(t, exists, "seed %d claim %s", seed, claim)
		}
	}
}

// shuffled makes a random choice in one of four cases.
type shuffled struct{ state uint64 }

func (s *shuffled) Choose(c kernel.Choice) int {
	s.state = s.state*6364136223846793005 + 1442695040888963407
	draw := s.state >> 33
	if draw%4 != 0 {
		return 0
	}
	return int(draw / 4 % uint64(c.N))
}

func (s *shuffled) String() string { return "shuffled" }
