package fakekubelet_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// K-POD-14: records wait for the objects that their pod refers to, as real containers do.
func TestRecordsWaitForTheObjectsThatTheyReferTo(t *testing.T) {
	late := corev1.LocalObjectReference{Name: "late"}
	for says, c := range map[string]struct {
		spec    func(*corev1.PodSpec)
		waiting string
	}{
		"a volume of a config map": {func(s *corev1.PodSpec) {
			s.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
				LocalObjectReference: late, Items: []corev1.KeyToPath{{Key: "a", Path: "a"}}}}}}
			s.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "v", MountPath: "/v"}}
		}, "Pending, c ContainerCreating 0"},
		"a projected volume": {func(s *corev1.PodSpec) {
			s.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{
				Sources: []corev1.VolumeProjection{{ConfigMap: &corev1.ConfigMapProjection{LocalObjectReference: late}}}}}}}
			s.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "v", MountPath: "/v"}}
		}, "Pending, c ContainerCreating 0"},
		"a variable": {func(s *corev1.PodSpec) {
			s.Containers[0].Env = []corev1.EnvVar{{Name: "A", ValueFrom: &corev1.EnvVarSource{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: late, Key: "a"}}}}
		}, "Pending, c CreateContainerConfigError 0"},
		"variables": {func(s *corev1.PodSpec) {
			s.Containers[0].EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: late}}}
		}, "Pending, c CreateContainerConfigError 0"},
	} {
		t.Run(says, func(t *testing.T) {
			n := start(t, setting{})
			pod := &corev1.Pod{
				ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"},
				Spec:       corev1.PodSpec{NodeName: nodeName, Containers: []corev1.Container{{Name: "c", Image: "sleep"}}},
			}
			c.spec(&pod.Spec)
			create(n, pod)
			n.pass(time.Minute)
			assert.Equal(t, c.waiting, n.state("web"))
			create(n, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "late", Namespace: "default"}, Data: map[string]string{"a": "b"}})
			n.pass(20 * time.Second)
			assert.Equal(t, "Running, c running 0", n.state("web"))
		})
	}
}

func TestVolumesThatNoContainerMountsAreNotMade(t *testing.T) { // K-DSW-5
	n := start(t, setting{})
	create(n, &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"},
		Spec: corev1.PodSpec{
			NodeName: nodeName, Containers: []corev1.Container{{Name: "c", Image: "sleep"}},
			Volumes: []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "none"}}}},
		},
	})
	n.pass(5 * time.Second)
	assert.Equal(t, "Running, c running 0", n.state("web"))
}
