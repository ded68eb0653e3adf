package provisioner

import (
	"errors"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/driver/sidecar"
)

// C-PROV-60, C-PROV-15, fact 56
func TestResultOfCreateVolumeErrors(t *testing.T) {
	for code := codes.Canceled; code <= codes.Unauthenticated; code++ {
		want := result{state: finished}
		switch code {
		case codes.Canceled, codes.DeadlineExceeded, codes.Aborted, codes.Unavailable:
			want.state = inBackground
		case codes.InvalidArgument:
			want.infeasible = true
		}
		want.err = status.Error(code, "x")
		assert.Equal(t, want, resultOf(want.err, false), code.String())
	}
	full := status.Error(codes.ResourceExhausted, "full")
	assert.Equal(t, reschedule, resultOf(full, true).state, "with topology and a selected node")
	assert.Equal(t, inBackground, resultOf(errors.New("not a status"), false).state)
}

// C-LIB-8, C-PROV-15
func TestSlowSet(t *testing.T) {
	s := slowSet{}
	s.add("claim", "class", 0)
	s.add("claim", "class", time.Minute) // does not extend the time
	assert.True(t, s.contains("claim", "class", infeasibleDelay-1))
	assert.False(t, s.contains("claim", "class", infeasibleDelay))
	s.add("claim", "class", 0)
	assert.False(t, s.contains("claim", "another class", time.Second))
	assert.False(t, s.contains("other claim", "class", 0))
}

// C-PROV-32
func TestSpreadByClaimName(t *testing.T) {
	const n = 7
	assert.Equal(t, (spread("data-web-0", n)+1)%n, spread("data-web-1", n), "a StatefulSet's claims go round")
	assert.Equal(t, spread("data-web-0", n), spread("logs-web-0", n), "claims of one pod go together")
	assert.Equal(t, spread("data-web-3", n), spread("web-3", n))
	assert.NotEqual(t, spread("data-a", 1000), spread("data-b", 1000), "no ordinal: the whole name counts")
}

// C-PROV-31, C-PROV-33
func TestFlattenedTopologiesAreSortedAndDistinct(t *testing.T) {
	zone := func(values ...string) corev1.TopologySelectorLabelRequirement {
		return corev1.TopologySelectorLabelRequirement{Key: "zone", Values: values}
	}
	rack := corev1.TopologySelectorLabelRequirement{Key: "rack", Values: []string{"2", "1"}}
	allowed := func(e ...corev1.TopologySelectorLabelRequirement) corev1.TopologySelectorTerm {
		return corev1.TopologySelectorTerm{MatchLabelExpressions: e}
	}
	assert.Equal(t, []term{
		{{"zone", "a"}},
		{{"zone", "b"}},
		{{"rack", "1"}, {"zone", "a"}},
		{{"rack", "2"}, {"zone", "a"}},
	}, flatten([]corev1.TopologySelectorTerm{allowed(zone("a"), rack), allowed(zone("b", "a")), allowed(zone("b"))}))
	assert.Empty(t, flatten(nil))
}

// C-PROV-31, C-PROV-32
func TestPreferredTopologyLeadsWithTheSelectedNode(t *testing.T) {
	a, b, c := term{{"zone", "a"}}, term{{"zone", "b"}}, term{{"zone", "c"}}
	chosen := &chosenTopology{requisite: []term{a, b, c}, selected: term{{"rack", "1"}, {"zone", "b"}}}
	r, err := preferred(chosen, "node", "claim")
	assert.NoError(t, err)
	assert.Equal(t, topologies([]term{a, b, c}), r.Requisite)
	assert.Equal(t, topologies([]term{b, c, a}), r.Preferred)

	chosen.selected = term{{"zone", "elsewhere"}}
	_, err = preferred(chosen, "node", "claim")
	assert.Error(t, err)
}

// C-PROV-33
func TestNodeAffinityOfAVolume(t *testing.T) {
	assert.Nil(t, affinityOf(nil))
	assert.Empty(t, affinityOf([]*csi.Topology{{}}).Required.NodeSelectorTerms, "a term without labels is left out")
	affinity := affinityOf([]*csi.Topology{{Segments: map[string]string{"b": "2", "a": "1"}}})
	assert.Equal(t, []corev1.NodeSelectorRequirement{
		{Key: "a", Operator: corev1.NodeSelectorOpIn, Values: []string{"1"}},
		{Key: "b", Operator: corev1.NodeSelectorOpIn, Values: []string{"2"}},
	}, affinity.Required.NodeSelectorTerms[0].MatchExpressions)
}

// C-PROV-25, C-PROV-26
func TestSecretReferences(t *testing.T) {
	pvc := &corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c", Annotations: map[string]string{"team/key": "blue"}}}
	stage := secretKind{kind: nodeStageSecret, oldName: "csiNodeStageSecretName", oldNamespace: "csiNodeStageSecretNamespace"}
	const name, namespace = prefix + "node-stage-secret-name", prefix + "node-stage-secret-namespace"
	for _, c := range []struct {
		says       string
		parameters map[string]string
		want       *corev1.SecretReference
		fails      bool
	}{
		{says: "none", parameters: map[string]string{"other": "x"}},
		{says: "plain", parameters: map[string]string{name: "s", namespace: "n"}, want: &corev1.SecretReference{Name: "s", Namespace: "n"}},
		{says: "templates", parameters: map[string]string{name: "${pvc.name}-${pvc.annotations['team/key']}-${pv.name}", namespace: "${pvc.namespace}"},
			want: &corev1.SecretReference{Name: "c-blue-pv", Namespace: "ns"}},
		{says: "default pair", parameters: map[string]string{defaultSecretName: "d", defaultSecretNamespace: "n"}, want: &corev1.SecretReference{Name: "d", Namespace: "n"}},
		{says: "old keys", parameters: map[string]string{"csiNodeStageSecretName": "o", "csiNodeStageSecretNamespace": "n"}, want: &corev1.SecretReference{Name: "o", Namespace: "n"}},
		{says: "half a pair", parameters: map[string]string{name: "s"}, fails: true},
		{says: "twice", parameters: map[string]string{name: "s", "csiNodeStageSecretName": "s", namespace: "n"}, fails: true},
		{says: "empty", parameters: map[string]string{name: "", namespace: "n"}, fails: true},
		{says: "unknown token", parameters: map[string]string{name: "${node.name}", namespace: "n"}, fails: true},
		{says: "claim's name in the namespace", parameters: map[string]string{name: "s", namespace: "${pvc.name}"}, fails: true},
		{says: "not a name", parameters: map[string]string{name: "A_b", namespace: "n"}, fails: true},
	} {
		t.Run(c.says, func(t *testing.T) {
			ref, err := stage.resolve(c.parameters, "pv", pvc)
			assert.Equal(t, c.fails, err != nil, "%v", err)
			assert.Equal(t, c.want, ref)
		})
	}
}

// C-PROV-24
func TestParametersForTheDriver(t *testing.T) {
	kept, err := driverParameters(map[string]string{fsTypeKey: "xfs", "tier": "gold", defaultSecretName: "s", prefix + "provisioner-secret-name": "p"})
	assert.NoError(t, err)
	assert.Equal(t, map[string]string{"tier": "gold"}, kept)
	_, err = driverParameters(map[string]string{prefix + "colour": "red"})
	assert.ErrorContains(t, err, "colour")

	fs, err := fsType(map[string]string{"FSType": "btrfs"}, "ext4")
	assert.NoError(t, err)
	assert.Equal(t, "btrfs", fs)
	fs, _ = fsType(nil, "ext4")
	assert.Equal(t, "ext4", fs)
	_, err = fsType(map[string]string{"fstype": "a", fsTypeKey: "b"}, "")
	assert.Error(t, err)
}

// C-PROV-70, C-PROV-72
func TestWhichVolumesAreDeleted(t *testing.T) {
	now := metav1.Now()
	volume := func(change ...func(*corev1.PersistentVolume)) *corev1.PersistentVolume {
		pv := &corev1.PersistentVolume{
			ObjectMeta: metav1.ObjectMeta{Finalizers: []string{"external-provisioner.volume.kubernetes.io/finalizer"}},
			Spec:       corev1.PersistentVolumeSpec{PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete},
			Status:     corev1.PersistentVolumeStatus{Phase: corev1.VolumeReleased},
		}
		for _, f := range change {
			f(pv)
		}
		return pv
	}
	assert.True(t, (&Provisioner{}).shouldDelete(volume()))
	assert.True(t, (&Provisioner{}).shouldDelete(volume(func(pv *corev1.PersistentVolume) { pv.DeletionTimestamp = &now })))
	assert.False(t, (&Provisioner{}).shouldDelete(volume(func(pv *corev1.PersistentVolume) { pv.DeletionTimestamp, pv.Finalizers = &now, nil })))
	assert.False(t, (&Provisioner{}).shouldDelete(volume(func(pv *corev1.PersistentVolume) { pv.Status.Phase = corev1.VolumeFailed })))
	assert.False(t, (&Provisioner{}).shouldDelete(volume(func(pv *corev1.PersistentVolume) { pv.Status.Phase = corev1.VolumeBound })))
	assert.False(t, (&Provisioner{}).shouldDelete(volume(func(pv *corev1.PersistentVolume) {
		pv.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
	})))
}

// Releases before 5.0 have no finalizer, and they skip a volume that is being deleted. C-PROV-71,
// C-PROV-72 [kubernetes-csi/external-provisioner#546]
func TestOldReleasesDoNotHonorTheReclaimPolicy(t *testing.T) {
	pv := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{DeletionTimestamp: &metav1.Time{}, Finalizers: []string{"external-provisioner.volume.kubernetes.io/finalizer"}},
		Spec:       corev1.PersistentVolumeSpec{PersistentVolumeReclaimPolicy: corev1.PersistentVolumeReclaimDelete},
		Status:     corev1.PersistentVolumeStatus{Phase: corev1.VolumeReleased},
	}
	for want, o := range map[bool][]Options{
		true:  {{}, {Version: "5.0"}, {Version: "4.0", HonorPVReclaimPolicy: new(true)}},
		false: {{Version: "4.0"}, {HonorPVReclaimPolicy: new(false)}},
	} {
		for _, options := range o {
			assert.Equal(t, want, (&Provisioner{options: options}).shouldDelete(pv), "%+v", options)
		}
	}
}

// Releases before 6.0 ignore the class. C-PROV-20 [kubernetes-csi/external-provisioner#1400]
func TestOldReleasesIgnoreVolumeAttributesClasses(t *testing.T) {
	pvc := &corev1.PersistentVolumeClaim{Spec: corev1.PersistentVolumeClaimSpec{VolumeAttributesClassName: new("fast")}}
	for release, want := range map[sidecar.Release]string{"": "fast", "6.0": "fast", "5.3": ""} {
		assert.Equal(t, want, (&Provisioner{options: Options{Version: release}}).attributesClass(pvc), release)
	}
	assert.Equal(t, "fast", (&Provisioner{options: Options{Version: "5.3", VolumeAttributesClass: new(true)}}).attributesClass(pvc))
}
