package kind_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/api/kind/kindtest"
	"github.com/csisim/csisim/internal/world/store"
)

func TestPodsAreCompletedAtCreation(t *testing.T) {
	got := kindtest.Create(t, kind.NewStore(store.Options{}), kindtest.Pod("p"))
	spec := got.Spec
	assert.Equal(t, corev1.RestartPolicyAlways, spec.RestartPolicy)
	assert.Equal(t, corev1.DNSClusterFirst, spec.DNSPolicy)
	assert.Equal(t, int64(30), *spec.TerminationGracePeriodSeconds)
	assert.Equal(t, "default", spec.ServiceAccountName)
	assert.Equal(t, "default-scheduler", spec.SchedulerName)
	assert.Equal(t, &corev1.PodSecurityContext{}, spec.SecurityContext)
	assert.Equal(t, corev1.PullIfNotPresent, spec.Containers[0].ImagePullPolicy)
	assert.Equal(t, corev1.PodPending, got.Status.Phase)
	assert.Equal(t, corev1.PodQOSBestEffort, got.Status.QOSClass)
	require.Len(t, spec.Tolerations, 2)
	for i, key := range []string{"node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"} {
		assert.Equal(t, key, spec.Tolerations[i].Key)
		assert.Equal(t, int64(300), *spec.Tolerations[i].TolerationSeconds)
	}
}

func TestPodsThatTolerateEverythingGetNoToleration(t *testing.T) {
	p := kindtest.Pod("p", func(p *corev1.Pod) { p.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}} })
	assert.Len(t, kindtest.Create(t, kind.NewStore(store.Options{}), p).Spec.Tolerations, 1)
}

func TestQOSClass(t *testing.T) {
	both := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("1Gi")}
	for want, resources := range map[corev1.PodQOSClass]corev1.ResourceRequirements{
		corev1.PodQOSBestEffort: {},
		corev1.PodQOSGuaranteed: {Limits: both},
		corev1.PodQOSBurstable:  {Requests: both},
	} {
		p := kindtest.Pod("p", func(p *corev1.Pod) { p.Spec.Containers[0].Resources = resources })
		assert.Equal(t, want, kindtest.Create(t, kind.NewStore(store.Options{}), p).Status.QOSClass)
	}
}

func TestPodVolumesAreChecked(t *testing.T) {
	mount := func(m corev1.VolumeMount) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Spec.Containers[0].VolumeMounts = append(p.Spec.Containers[0].VolumeMounts, m) }
	}
	source := func(s corev1.VolumeSource) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Spec.Volumes[0].VolumeSource = s }
	}
	for rule, c := range map[string]struct {
		change  func(*corev1.Pod)
		message string
	}{
		"a mount of no volume":    {mount(corev1.VolumeMount{Name: "none", MountPath: "/x"}), `spec.containers[0].volumeMounts[1].name: Not found: "none"`},
		"two mounts at one path":  {mount(corev1.VolumeMount{Name: "data", MountPath: "/mnt/data"}), `spec.containers[0].volumeMounts[1].mountPath: Invalid value: "/mnt/data": must be unique`},
		"a subPath that climbs":   {mount(corev1.VolumeMount{Name: "data", MountPath: "/x", SubPath: "a/../.."}), "must not contain '..'"},
		"a claim without a name":  {source(corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{}}), "spec.volumes[0].persistentVolumeClaim.claimName: Required value"},
		"inline without a driver": {source(corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{}}), "spec.volumes[0].csi.driver: Required value"},
		"ephemeral without a template": {source(corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}),
			"spec.volumes[0].ephemeral.volumeClaimTemplate: Required value"},
		"a device on a directory": {func(p *corev1.Pod) {
			p.Spec.Volumes[0].VolumeSource = corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}
			p.Spec.Containers[0].VolumeMounts = nil
			p.Spec.Containers[0].VolumeDevices = []corev1.VolumeDevice{{Name: "data", DevicePath: "/dev/x"}}
		}, "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"},
		"two volumes of one name": {func(p *corev1.Pod) { p.Spec.Volumes = append(p.Spec.Volumes, p.Spec.Volumes[0]) },
			`spec.volumes[1].name: Duplicate value: "data"`},
		"no container": {func(p *corev1.Pod) { p.Spec.Containers = nil }, "spec.containers: Required value"},
	} {
		t.Run(rule, func(t *testing.T) {
			_, err := store.Create(kind.NewStore(store.Options{}), kindtest.Pod("p", c.change))
			assert.ErrorContains(t, err, c.message)
		})
	}
}

func TestSpecOfAPodIsImmutableButForImages(t *testing.T) {
	s := kind.NewStore(store.Options{})
	kindtest.Create(t, s, kindtest.Pod("p"))
	kindtest.Modify(t, s, kindtest.InDefault("p"), func(p *corev1.Pod) { p.Spec.Containers[0].Image = "sleep:2" })
	_, err := store.Modify(s, kindtest.InDefault("p"), func(p *corev1.Pod) { p.Spec.NodeName = "a" })
	assert.ErrorContains(t, err, "spec: Forbidden: pod updates may not change fields other than `spec.containers[*].image`")
}

func TestBindingAssignsTheNodeAndItsTopology(t *testing.T) {
	s := kind.NewStore(store.Options{})
	kindtest.Create(t, s, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{
		"topology.kubernetes.io/region": "r1", "topology.kubernetes.io/zone": "z1", "other": "x",
	}}})
	kindtest.Create(t, s, kindtest.Pod("p"))
	commits := history(s)

	got, err := kind.BindPod(s, kind.Binding{Pod: kindtest.InDefault("p"), Node: "a"})

	require.NoError(t, err)
	assert.Equal(t, []string{"modified"}, *commits)
	assert.Equal(t, "a", got.Spec.NodeName)
	assert.Equal(t, map[string]string{"topology.kubernetes.io/region": "r1", "topology.kubernetes.io/zone": "z1"}, got.Labels)
	require.Len(t, got.Status.Conditions, 1)
	assert.Equal(t, corev1.PodScheduled, got.Status.Conditions[0].Type)
	assert.Equal(t, int64(1), got.Generation, "a binding is no change of the spec")

	_, err = kind.BindPod(s, kind.Binding{Pod: kindtest.InDefault("p"), Node: "b"})
	assert.EqualError(t, err, `Operation cannot be fulfilled on pods/binding "p": pod p is already assigned to node "a"`)
	_, err = kind.BindPod(s, kind.Binding{Pod: kindtest.InDefault("gone"), Node: "b"})
	assert.EqualError(t, err, `pods "gone" not found`)
}
