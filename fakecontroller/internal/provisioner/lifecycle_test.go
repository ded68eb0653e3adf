package provisioner_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/fakecontroller/internal/provisioner"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

// The order of writes and calls is the order in trace b4. Fact 1, C-PV-23, C-PV-41
func TestImmediateClaimIsProvisionedBoundUsedAndDeleted(t *testing.T) {
	w := newWorld(t, kernel.Options{}, mock.Options{}, provisioner.Options{})
	w.node("node-a")
	w.class("stub")
	w.Run(time.Second)
	start := w.Trace.Last()

	claim := w.claim("b4", "stub")
	w.Run(time.Second)
	assert.Equal(t, []string{
		"ADDED persistentvolumeclaims",
		"MODIFIED persistentvolumeclaims", // the name of the provisioner
		"Controller/CreateVolume",
		"ADDED persistentvolumes",
		"MODIFIED persistentvolumes", // Bound
		"MODIFIED persistentvolumeclaims",
		"MODIFIED persistentvolumeclaims", // Bound
	}, w.events(start, trace.API, trace.Call))

	bound, _ := get[*corev1.PersistentVolumeClaim](w, "default", "b4")
	assert.Equal(t, "pvc-"+string(claim.UID), bound.Spec.VolumeName)
	assert.Equal(t, corev1.ClaimBound, bound.Status.Phase)
	assert.Equal(t, "16Mi", bound.Status.Capacity.Storage().String())
	assert.Equal(t, map[string]string{
		"volume.beta.kubernetes.io/storage-provisioner": driverName,
		"volume.kubernetes.io/storage-provisioner":      driverName,
		"pv.kubernetes.io/bind-completed":               "yes",
		"pv.kubernetes.io/bound-by-controller":          "yes",
	}, bound.Annotations)

	w.pod("b4", "b4", "node-a")
	w.Run(time.Second)
	pod, _ := get[*corev1.Pod](w, "default", "b4")
	assert.Equal(t, "node-a", pod.Spec.NodeName)
	assert.Contains(t, w.events(start, trace.KubeEvent), "Scheduled Successfully assigned default/b4 to node-a")

	_, err := store.Delete[*corev1.Pod](w.Store, store.KeyOf(pod), store.GracePeriod(0))
	require.NoError(t, err)
	w.Run(time.Second)
	start = w.Trace.Last()
	w.deleteClaim("b4")
	w.Run(time.Second)
	assert.Equal(t, []string{
		"MODIFIED persistentvolumeclaims", // deletionTimestamp
		"DELETED persistentvolumeclaims",
		"MODIFIED persistentvolumes", // Released
		"Controller/DeleteVolume",
		"MODIFIED persistentvolumes", // deletionTimestamp
		"MODIFIED persistentvolumes", // a finalizer is removed
		"DELETED persistentvolumes",
	}, w.events(start, trace.API, trace.Call))
	assert.Empty(t, w.volumes())
	assert.Empty(t, w.wire.Violations())
}

// The calls at the start are the calls of the real csi-provisioner. C-LIB-2
func TestProvisionerRequestsNameAndCapabilities(t *testing.T) {
	w := newWorld(t, kernel.Options{}, mock.Options{}, provisioner.Options{})
	w.Run(time.Second)
	assert.Equal(t, []string{
		"Identity/GetPluginInfo", "Identity/GetPluginCapabilities", "Controller/ControllerGetCapabilities",
	}, w.events(0, trace.Call))
}

// C-PROV-50, facts 10 and 12
func TestTheVolumeObjectDescribesTheVolume(t *testing.T) {
	w := newWorld(t, kernel.Options{}, mock.Options{}, provisioner.Options{ExtraCreateMetadata: new(true)})
	w.class("stub")
	claim := w.claim("b4", "stub")
	w.Run(time.Second)

	require.Len(t, w.volumes(), 1)
	pv := w.volumes()[0]
	assert.Equal(t, map[string]string{
		"pv.kubernetes.io/provisioned-by":                            driverName,
		"volume.kubernetes.io/provisioner-deletion-secret-name":      "",
		"volume.kubernetes.io/provisioner-deletion-secret-namespace": "",
	}, pv.Annotations)
	assert.Equal(t, []string{"external-provisioner.volume.kubernetes.io/finalizer", "kubernetes.io/pv-protection"}, pv.Finalizers)
	assert.Equal(t, claim.UID, pv.Spec.ClaimRef.UID)
	assert.NotEmpty(t, pv.Spec.ClaimRef.ResourceVersion)
	assert.Equal(t, "16Mi", pv.Spec.Capacity.Storage().String())
	assert.Nil(t, pv.Spec.NodeAffinity)
	assert.Regexp(t, `^\d+-\d{1,4}-`+driverName+`$`, pv.Spec.CSI.VolumeAttributes["storage.kubernetes.io/csiProvisionerIdentity"])
	want := &corev1.CSIPersistentVolumeSource{
		Driver: driverName, VolumeHandle: "vol-0001",
		VolumeAttributes: map[string]string{
			"csi.storage.k8s.io/pv/name": pv.Name, "csi.storage.k8s.io/pvc/name": "b4", "csi.storage.k8s.io/pvc/namespace": "default",
			"from-driver": "create-volume",
			"storage.kubernetes.io/csiProvisionerIdentity": pv.Spec.CSI.VolumeAttributes["storage.kubernetes.io/csiProvisionerIdentity"],
		},
	}
	assert.Empty(t, cmp.Diff(want, pv.Spec.CSI))
}

// Trace s. C-SCHED-8, C-PROV-31
func TestDelayedClaimIsProvisionedForTheSelectedNode(t *testing.T) {
	w := newWorld(t, kernel.Options{}, mock.Options{Topology: true}, provisioner.Options{})
	w.node("node-a")
	w.node("node-b")
	w.class("topo", waitForFirstConsumer)
	w.Run(time.Second)
	start := w.Trace.Last()
	w.claim("s", "topo")
	w.Run(3 * time.Second)
	assert.Equal(t, []string{"WaitForFirstConsumer waiting for first consumer to be created before binding"}, w.events(start, trace.KubeEvent))

	start = w.Trace.Last()
	created := w.Kernel.Elapsed()
	w.pod("s", "s", "node-b")
	w.Kernel.Run(kernel.Until{At: created + 10*time.Second, Cond: func() bool {
		pod, _ := get[*corev1.Pod](w, "default", "s")
		return pod.Spec.NodeName != ""
	}})
	assert.Equal(t, created+time.Second, w.Kernel.Elapsed(), "the scheduler looks once a second")
	assert.Equal(t, []string{
		"ADDED pods",
		"MODIFIED persistentvolumeclaims", // selected-node
		"MODIFIED persistentvolumeclaims", // the name of the provisioner
		"Controller/CreateVolume",
		"ADDED persistentvolumes",
		"MODIFIED persistentvolumes",
		"MODIFIED persistentvolumeclaims",
		"MODIFIED persistentvolumeclaims",
		"MODIFIED pods",
	}, w.events(start, trace.API, trace.Call))
	for _, e := range w.Trace.Events() {
		if request, ok := e.Request.(*csi.CreateVolumeRequest); ok {
			assert.Equal(t, []string{"node-a", "node-b"}, zones(request.GetAccessibilityRequirements().GetRequisite()))
			assert.Equal(t, []string{"node-b", "node-a"}, zones(request.GetAccessibilityRequirements().GetPreferred()))
		}
	}
	assert.Equal(t, &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
		MatchExpressions: []corev1.NodeSelectorRequirement{{Key: zoneKey, Operator: corev1.NodeSelectorOpIn, Values: []string{"node-b"}}},
	}}}}, w.volumes()[0].Spec.NodeAffinity)
	assert.Empty(t, w.wire.Violations())
	w.Run(time.Second)

	start = w.Trace.Last()
	w.pod("s2", "s", "node-a")
	w.Run(time.Second)
	const why = "0/2 nodes are available: 1 node(s) didn't match PersistentVolume's node affinity, 1 node(s) didn't match Pod's node affinity/selector. no new claims to deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
	assert.Equal(t, []string{"FailedScheduling " + why}, w.events(start, trace.KubeEvent))
	pod, _ := get[*corev1.Pod](w, "default", "s2")
	assert.Equal(t, why, pod.Status.Conditions[0].Message)
	assert.Equal(t, corev1.PodScheduled, pod.Status.Conditions[0].Type)
	assert.Equal(t, corev1.ConditionFalse, pod.Status.Conditions[0].Status)
}

func zones(topologies []*csi.Topology) []string {
	var values []string
	for _, topology := range topologies {
		values = append(values, topology.GetSegments()[zoneKey])
	}
	return values
}

// C-PVCP-1, trace v
func TestClaimInUseIsDeletedAfterItsPod(t *testing.T) {
	w := newWorld(t, kernel.Options{}, mock.Options{}, provisioner.Options{})
	w.node("node-a")
	w.class("stub")
	w.claim("v", "stub")
	w.pod("v", "v", "")
	w.Run(time.Second)
	w.deleteClaim("v")
	w.Run(30 * time.Second)
	claim, ok := get[*corev1.PersistentVolumeClaim](w, "default", "v")
	require.True(t, ok, "a pod uses it")
	assert.NotNil(t, claim.DeletionTimestamp)
	assert.Empty(t, w.callTimes("Controller/DeleteVolume"))

	_, err := store.Delete[*corev1.Pod](w.Store, store.Key{Namespace: "default", Name: "v"}, store.GracePeriod(0))
	require.NoError(t, err)
	w.Run(time.Second)
	_, ok = get[*corev1.PersistentVolumeClaim](w, "default", "v")
	assert.False(t, ok)
	assert.Empty(t, w.volumes())
}

// C-PV-50, C-PROV-71: Retain
func TestRetainedVolumeIsReleasedAndCanBeUsedAgain(t *testing.T) {
	w := newWorld(t, kernel.Options{}, mock.Options{}, provisioner.Options{})
	w.class("stub")
	w.claim("r", "stub")
	w.Run(time.Second)
	name := w.volumes()[0].Name
	_, err := store.Modify(w.Store, store.Key{Name: name}, func(pv *corev1.PersistentVolume) {
		pv.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
	})
	require.NoError(t, err)
	w.Run(time.Second)
	w.deleteClaim("r")
	w.Run(time.Minute)
	pv := w.volumes()[0]
	assert.Equal(t, corev1.VolumeReleased, pv.Status.Phase)
	assert.Equal(t, []string{"kubernetes.io/pv-protection"}, pv.Finalizers)
	assert.Empty(t, w.callTimes("Controller/DeleteVolume"))

	_, err = store.Modify(w.Store, store.Key{Name: name}, func(pv *corev1.PersistentVolume) { pv.Spec.ClaimRef = nil })
	require.NoError(t, err)
	w.Run(time.Second)
	assert.Equal(t, corev1.VolumeAvailable, w.volumes()[0].Status.Phase) // C-PV-53
}

// Both controllers start when the volume exists. On a real cluster the volume controller was first
// in every run. C-PROV-71
func TestRetainedVolumeIsBoundBeforeItLosesTheFinalizer(t *testing.T) {
	w := newWorld(t, kernel.Options{}, mock.Options{}, provisioner.Options{})
	w.class("kept", func(c *storagev1.StorageClass) { c.ReclaimPolicy = new(corev1.PersistentVolumeReclaimRetain) })
	w.claim("r", "kept")
	w.Run(time.Second)
	var seen []string
	for _, e := range w.Trace.Events() {
		if pv, ok := e.New.(*corev1.PersistentVolume); ok && e.Kind == trace.API {
			seen = append(seen, fmt.Sprint(pv.Status.Phase, " ", pv.Finalizers))
		}
	}
	assert.Equal(t, []string{
		"Pending [external-provisioner.volume.kubernetes.io/finalizer kubernetes.io/pv-protection]",
		"Bound [external-provisioner.volume.kubernetes.io/finalizer kubernetes.io/pv-protection]",
		"Bound [kubernetes.io/pv-protection]",
	}, seen)
}

func TestSameRunTwiceGivesTheSameTrace(t *testing.T) {
	run := func() uint64 {
		w := newWorld(t, kernel.Options{}, mock.Options{}, provisioner.Options{})
		w.node("node-a")
		w.node("node-b")
		w.class("stub")
		for _, name := range []string{"a", "b", "c"} {
			w.claim(name, "stub")
			w.pod(name, name, "")
		}
		w.Run(time.Minute)
		w.deleteClaim("b")
		w.Run(time.Minute)
		return w.Kernel.Hash()
	}
	assert.Equal(t, run(), run())
}

// An idle control plane costs nothing: a run counts as quiet although a waiting claim is checked
// every 15 s. C-PV-1
func TestAWaitingClaimIsCheckedAgainAndKeepsNoRunBusy(t *testing.T) {
	w := newWorld(t, kernel.Options{}, mock.Options{}, provisioner.Options{})
	w.class("topo", waitForFirstConsumer)
	w.claim("w", "topo")
	assert.Equal(t, kernel.Quiet, w.Kernel.Run(kernel.Until{StopWhenQuiet: true}))
	w.Run(46 * time.Second)
	var counts []int32
	for _, e := range w.Trace.Events() {
		if e.Kind == trace.KubeEvent && e.Method == "WaitForFirstConsumer" {
			counts = append(counts, e.Count())
		}
	}
	assert.Equal(t, []int32{1, 2, 3, 4}, counts)
}
