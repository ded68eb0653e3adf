package fakekubelet

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/fakekubelet/internal/runtime"
)

// containerOf returns a container with an image. The image "app" has a root file system and no
// command; all other images are rejected.
func containerOf(pod corev1.PodSpec, spec corev1.Container) *container {
	images := runtime.New(nil, "node-1", runtime.Options{RefuseUnmapped: true, RootFS: map[string]RootFS{"app": {Dir: "/image"}}})
	m := &podManager{Kubelet: &Kubelet{options: Options{Name: "node-1", Runtime: images}}}
	return &container{podWorker: &podWorker{podManager: m, pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: pod}}, spec: &spec}
}

// kubelet: startContainer pulls the image first, then builds the environment, then verifies the
// user. Only then does the runtime look up the command.
func TestTheOrderOfAContainersErrors(t *testing.T) {
	unknown := []corev1.EnvVar{{Name: "X", ValueFrom: &corev1.EnvVarSource{}}}
	nonRoot := &corev1.SecurityContext{RunAsNonRoot: new(true)}
	_, err := containerOf(corev1.PodSpec{}, corev1.Container{Image: "other", Env: unknown, SecurityContext: nonRoot}).command(nil)
	require.ErrorIs(t, err, errUnmapped)
	_, err = containerOf(corev1.PodSpec{}, corev1.Container{Image: "app", Env: unknown, SecurityContext: nonRoot}).command(nil)
	require.ErrorContains(t, err, "env X: ")
	_, err = containerOf(corev1.PodSpec{}, corev1.Container{Image: "app", SecurityContext: nonRoot}).command(nil)
	require.ErrorContains(t, err, "container has runAsNonRoot and image will run as root")
	_, err = containerOf(corev1.PodSpec{}, corev1.Container{Image: "app"}).command(nil)
	require.ErrorIs(t, err, errNoCommand)
}

func TestTheNameOfAPod(t *testing.T) {
	for want, spec := range map[string]corev1.PodSpec{
		"web":    {},
		"named":  {Hostname: "named"},
		"node-1": {Hostname: "named", HostNetwork: true},
	} {
		env, err := containerOf(spec, corev1.Container{}).environment(nil, &corev1.Container{})
		require.NoError(t, err)
		assert.Equal(t, want, env["HOSTNAME"])
	}
}
