package kind_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/api/kind/kindtest"
	"github.com/csisim/csisim/internal/world/store"
)

// podOf returns a pod with one container, after a change.
func podOf(change func(*corev1.Pod)) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}},
	}
	if change != nil {
		change(pod)
	}
	return pod
}

func quantities(pairs ...string) corev1.ResourceList {
	list := corev1.ResourceList{}
	for i := 0; i+1 < len(pairs); i += 2 {
		list[corev1.ResourceName(pairs[i])] = resource.MustParse(pairs[i+1])
	}
	return list
}

func limitRange(t *testing.T, limits ...corev1.LimitRangeItem) *store.Store {
	s := kind.NewStore(store.Options{})
	_, err := store.Create(s, &corev1.LimitRange{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "l"}, Spec: corev1.LimitRangeSpec{Limits: limits},
	})
	require.NoError(t, err)
	return s
}

// [plugin/pkg/admission/limitranger/admission.go mergePodResourceRequirements]
func TestContainersGetTheDefaultsOfTheirLimitRange(t *testing.T) {
	s := limitRange(t, corev1.LimitRangeItem{Type: corev1.LimitTypeContainer, Default: quantities("cpu", "1", "memory", "1Gi"), DefaultRequest: quantities("cpu", "100m")})
	pod, err := store.Create(s, podOf(func(p *corev1.Pod) {
		p.Spec.InitContainers = []corev1.Container{{Name: "i", Image: "i", Resources: corev1.ResourceRequirements{Limits: quantities("memory", "2Gi")}}}
	}))
	require.NoError(t, err)
	assert.Equal(t, "LimitRanger plugin set: cpu, memory request for container c; cpu, memory limit for container c; "+
		"cpu request for init container i; cpu limit for init container i", pod.Annotations["kubernetes.io/limit-ranger"])
	assert.Equal(t, "100m", pod.Spec.Containers[0].Resources.Requests.Cpu().String())
	assert.Equal(t, "1Gi", pod.Spec.Containers[0].Resources.Limits.Memory().String())
	assert.Equal(t, corev1.PodQOSBurstable, pod.Status.QOSClass)
}

// [plugin/pkg/admission/limitranger/admission.go PodValidateLimitFunc]
func TestPodsOutsideOfALimitRangeAreRefused(t *testing.T) {
	limits := []corev1.LimitRangeItem{
		{Type: corev1.LimitTypeContainer, Min: quantities("cpu", "100m"), Max: quantities("cpu", "1"), MaxLimitRequestRatio: quantities("cpu", "2"),
			Default: quantities("cpu", "200m"), DefaultRequest: quantities("cpu", "200m")},
		{Type: corev1.LimitTypePod, Max: quantities("memory", "1Gi")},
	}
	for _, try := range []struct{ cpuRequest, cpuLimit, memory, refusal string }{
		{"100m", "200m", "1Gi", ""},
		{"50m", "100m", "1Gi", "minimum cpu usage per Container is 100m, but request is 50m"},
		{"1", "2", "1Gi", "maximum cpu usage per Container is 1, but limit is 2"},
		{"100m", "300m", "1Gi", "cpu max limit to request ratio per Container is 2, but provided ratio is 3.000000"},
		{"100m", "200m", "2Gi", "maximum memory usage per Pod is 1Gi, but limit is 2Gi"},
	} {
		_, err := store.Create(limitRange(t, limits...), podOf(func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources = corev1.ResourceRequirements{Requests: quantities("cpu", try.cpuRequest), Limits: quantities("cpu", try.cpuLimit, "memory", try.memory)}
		}))
		if try.refusal == "" {
			assert.NoError(t, err)
			continue
		}
		assert.EqualError(t, err, `pods "p" is forbidden: `+try.refusal)
	}
	s := limitRange(t, limits[1])
	_, err := store.Create(s, podOf(nil))
	assert.EqualError(t, err, `pods "p" is forbidden: maximum memory usage per Pod is 1Gi.  No limit is specified`)
}

// [plugin/pkg/admission/priority/admission.go admitPod, validatePriorityClass]
func TestAPodGetsThePriorityOfItsClass(t *testing.T) {
	s := kind.NewStore(store.Options{})
	class := func(name string, value int32, isDefault bool) error {
		_, err := store.Create(s, &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value, GlobalDefault: isDefault})
		return err
	}
	require.NoError(t, class("usual", 7, true))
	assert.EqualError(t, class("other", 8, true), `priorityclasses.scheduling.k8s.io "other" is forbidden: PriorityClass usual is already marked as default. Only one default can exist`)
	assert.ErrorContains(t, class("system-mine", 8, false), "priority class names with 'system-' prefix are reserved for system use only. error: system-mine is not a known system priority class")
	require.NoError(t, class("system-node-critical", 2000001000, false))
	pod, err := store.Create(s, podOf(nil))
	require.NoError(t, err)
	assert.Equal(t, "usual", pod.Spec.PriorityClassName)
	assert.Equal(t, int32(7), *pod.Spec.Priority)
	_, err = store.Create(s, podOf(func(p *corev1.Pod) { p.Name, p.Spec.Priority = "q", new(int32(3)) }))
	assert.EqualError(t, err, `pods "q" is forbidden: the integer value of priority (3) must not be provided in pod spec; priority admission controller computed 7 from the given PriorityClass name`)
	_, err = store.Create(s, podOf(func(p *corev1.Pod) { p.Name, p.Spec.PreemptionPolicy = "q", new(corev1.PreemptNever) }))
	assert.EqualError(t, err, `pods "q" is forbidden: the string value of PreemptionPolicy (Never) must not be provided in pod spec; priority admission controller computed PreemptLowerPriority from the given PriorityClass name`)
}

// [plugin/pkg/admission/runtimeclass/admission.go]
func TestARuntimeClassAddsOverheadAndScheduling(t *testing.T) {
	s := kind.NewStore(store.Options{})
	_, err := store.Create(s, &nodev1.RuntimeClass{
		ObjectMeta: metav1.ObjectMeta{Name: "vm"}, Handler: "vm", Overhead: &nodev1.Overhead{PodFixed: quantities("memory", "64Mi")},
		Scheduling: &nodev1.Scheduling{NodeSelector: map[string]string{"vm": "yes"}, Tolerations: []corev1.Toleration{{Key: "vm", Operator: corev1.TolerationOpExists}}},
	})
	require.NoError(t, err)
	pod, err := store.Create(s, podOf(func(p *corev1.Pod) {
		p.Spec.RuntimeClassName = new("vm")
		p.Spec.Tolerations = []corev1.Toleration{{Key: "vm", Operator: corev1.TolerationOpEqual, Value: "x", Effect: corev1.TaintEffectNoSchedule}}
	}))
	require.NoError(t, err)
	assert.Equal(t, "64Mi", pod.Spec.Overhead.Memory().String())
	assert.Equal(t, map[string]string{"vm": "yes"}, pod.Spec.NodeSelector)
	assert.Len(t, pod.Spec.Tolerations, 3, "that of the class includes the pod's own")
	for refusal, change := range map[string]func(*corev1.Pod){
		`pod rejected: RuntimeClass "none" not found`:                                        func(p *corev1.Pod) { p.Spec.RuntimeClassName = new("none") },
		"pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead": func(p *corev1.Pod) { p.Spec.Overhead = quantities("cpu", "1") },
		"pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead": func(p *corev1.Pod) {
			p.Spec.RuntimeClassName, p.Spec.Overhead = new("vm"), quantities("cpu", "1")
		},
		"conflict: runtimeClass.scheduling.nodeSelector[vm] = yes; pod.spec.nodeSelector[vm] = no": func(p *corev1.Pod) {
			p.Spec.RuntimeClassName, p.Spec.NodeSelector = new("vm"), map[string]string{"vm": "no"}
		},
	} {
		_, err := store.Create(s, podOf(func(p *corev1.Pod) { p.Name = "q"; change(p) }))
		assert.EqualError(t, err, `pods "q" is forbidden: `+refusal)
	}
}

// [pkg/registry/core/pod/strategy.go mutatePodAffinity, mutateTopologySpreadConstraints]
func TestLabelKeysBecomeRequirements(t *testing.T) {
	s := kind.NewStore(store.Options{})
	selector := func() *metav1.LabelSelector { return &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}} }
	pod, err := store.Create(s, podOf(func(p *corev1.Pod) {
		p.Labels = map[string]string{"hash": "1", "tier": "t"}
		p.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{
			{LabelSelector: selector(), TopologyKey: "zone", MatchLabelKeys: []string{"hash", "absent"}, MismatchLabelKeys: []string{"tier"}},
		}}}
		p.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{
			{MaxSkew: 1, TopologyKey: "zone", WhenUnsatisfiable: corev1.DoNotSchedule, LabelSelector: selector(), MatchLabelKeys: []string{"hash"}},
		}
	}))
	require.NoError(t, err)
	with := metav1.LabelSelectorRequirement{Key: "hash", Operator: metav1.LabelSelectorOpIn, Values: []string{"1"}}
	without := metav1.LabelSelectorRequirement{Key: "tier", Operator: metav1.LabelSelectorOpNotIn, Values: []string{"t"}}
	assert.Equal(t, []metav1.LabelSelectorRequirement{with, without},
		pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution[0].LabelSelector.MatchExpressions)
	assert.Equal(t, []metav1.LabelSelectorRequirement{with}, pod.Spec.TopologySpreadConstraints[0].LabelSelector.MatchExpressions)
}

// C-API-3: a pod with a missing service account is rejected, like the pods of a workload.
func TestAPodNeedsItsServiceAccount(t *testing.T) {
	s := kind.NewStore(store.Options{})
	pod := kindtest.Pod("web", func(p *corev1.Pod) { p.Spec.ServiceAccountName = "robot" })
	_, err := store.Create(s, pod)
	assert.EqualError(t, err, `pods "web" is forbidden: error looking up service account default/robot: serviceaccount "robot" not found`)
	mirror := kindtest.Pod("mirror", func(p *corev1.Pod) {
		p.Spec.ServiceAccountName, p.Annotations = "robot", map[string]string{corev1.MirrorPodAnnotationKey: "x"}
	})
	kindtest.Create(t, s, mirror)
	kindtest.Create(t, s, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "robot"}})
	kindtest.Create(t, s, pod)
}
