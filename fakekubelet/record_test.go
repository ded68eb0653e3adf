package fakekubelet_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/fakekubelet"
	"github.com/csisim/csisim/fakekubelet/internal/csi"
	"github.com/csisim/csisim/fakekubelet/internal/runtime"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

// exit ends a record container of a pod, like a process that exits with a code.
func (n *node) exit(pod, container string, code int32) {
	n.t.Helper()
	is, ok := store.Get[*corev1.Pod](n.Store, store.Key{Namespace: "default", Name: pod})
	require.True(n.t, ok)
	require.NoError(n.t, n.runtime.Exit(is, container, code))
	n.kubelet.ContainerExited(is.UID)
}

// state returns the phase of a pod, and the state and restart count of each container.
func (n *node) state(pod string) string {
	s := n.status(pod)
	words := []string{string(s.Phase)}
	for _, c := range slices.Concat(s.InitContainerStatuses, s.ContainerStatuses) {
		state := "waiting"
		switch {
		case c.State.Running != nil:
			state = "running"
		case c.State.Terminated != nil:
			state = fmt.Sprintf("exited %d", c.State.Terminated.ExitCode)
		case c.State.Waiting != nil:
			state = c.State.Waiting.Reason
		}
		words = append(words, fmt.Sprintf("%s %s %d", c.Name, state, c.RestartCount))
	}
	return strings.Join(words, ", ")
}

// starts returns the times between the starts of a pod's containers, rounded to seconds.
func (n *node) starts() (gaps []int) {
	last := time.Duration(-1)
	for _, e := range n.news() {
		if e.Kind != trace.Runtime || e.Method != "StartContainer" {
			continue
		}
		if last >= 0 {
			gaps = append(gaps, int((e.At - last).Seconds()))
		}
		last = e.At
	}
	return gaps
}

func policy(p corev1.RestartPolicy) func(*corev1.PodSpec) {
	return func(s *corev1.PodSpec) { s.RestartPolicy = p }
}

func image(name string) func(*corev1.PodSpec) {
	return func(s *corev1.PodSpec) { s.Containers[0].Image = name }
}

// The rows are pkg/api/v1/pod/util.go: ContainerShouldRestart, and the phases of
// pkg/kubelet/kubelet_pods.go: getPhase. K-POD-11
func TestARecordThatExitsIsRestartedByItsPolicy(t *testing.T) {
	for _, tt := range []struct {
		policy corev1.RestartPolicy
		code   int32
		want   string
	}{
		{corev1.RestartPolicyAlways, 0, "Running, c running 1"},
		{corev1.RestartPolicyAlways, 1, "Running, c running 1"},
		{corev1.RestartPolicyOnFailure, 0, "Succeeded, c exited 0 0"},
		{corev1.RestartPolicyOnFailure, 1, "Running, c running 1"},
		{corev1.RestartPolicyNever, 0, "Succeeded, c exited 0 0"},
		{corev1.RestartPolicyNever, 1, "Failed, c exited 1 0"},
	} {
		t.Run(fmt.Sprintf("%s %d", tt.policy, tt.code), func(t *testing.T) {
			n := start(t, setting{})
			n.volume("data")
			n.pod("web", using("data"), policy(tt.policy))
			n.waitRunning("web")
			n.exit("web", "c", tt.code)
			assert.Contains(t, n.state("web"), "Running", "the kubelet has not looked at the runtime")
			n.pass(1100 * time.Millisecond)
			assert.Equal(t, tt.want, n.state("web"))
			n.settle()
			assert.Equal(t, n.phase("web") == corev1.PodRunning, len(n.mounts()) > 0, "volumes of a pod that is over are unpublished: K-POD-7")
		})
	}
}

// K-POD-11: pkg/kubelet/kuberuntime/kuberuntime_manager.go: doBackOff. A container that crashes
// after a second is restarted at once, then after growing delays; after a run of more than ten
// minutes the delays start from the beginning.
func TestARecordThatCrashesBacksOff(t *testing.T) {
	n := start(t, setting{lives: map[string]runtime.Life{"crash": {Runs: time.Second, Exits: 1}, "steady": {Runs: 11 * time.Minute, Exits: 1}}})
	n.pod("web", image("crash:1"))
	n.pass(25 * time.Minute)
	assert.Equal(t, []int{2, 11, 21, 41, 81, 161, 301, 301, 301}, n.starts()[:9], "the kubelet sees the first end up to a second late")
	assert.Equal(t, "CrashLoopBackOff", n.status("web").ContainerStatuses[0].State.Waiting.Reason)
	assert.NotEmpty(t, n.kubeEvents("BackOff"))
	n.deletePod("web")
	n.settle()

	n.forget()
	n.pod("long", image("steady"))
	n.pass(40 * time.Minute)
	assert.Equal(t, []int{661, 661, 661}, n.starts())
}

// K-POD-11: init containers run one after the other. A sidecar runs beside the others, and is
// stopped when they have ended.
func TestInitContainersThatEnd(t *testing.T) {
	n := start(t, setting{lives: map[string]runtime.Life{"prepare": {Runs: 10 * time.Second}, "work": {Runs: 20 * time.Second}}})
	always := corev1.ContainerRestartPolicyAlways
	n.pod("job", image("work"), policy(corev1.RestartPolicyNever), func(s *corev1.PodSpec) {
		s.InitContainers = []corev1.Container{{Name: "first", Image: "prepare"}, {Name: "proxy", Image: "proxy", RestartPolicy: &always}, {Name: "quick", Image: "other"}}
	})
	n.pass(5 * time.Second)
	assert.Equal(t, "Pending, first running 0, proxy PodInitializing 0, quick PodInitializing 0, c PodInitializing 0", n.state("job"))
	n.pass(9 * time.Second)
	assert.Equal(t, "Running, first exited 0 0, proxy running 0, quick exited 0 0, c running 0", n.state("job"))
	n.exit("job", "proxy", 2)
	n.pass(1100 * time.Millisecond)
	assert.Equal(t, "Running, first exited 0 0, proxy running 1, quick exited 0 0, c running 0", n.state("job"))
	n.pass(20 * time.Second)
	assert.Equal(t, "Succeeded, first exited 0 0, proxy exited 0 1, quick exited 0 0, c exited 0 0", n.state("job"))
}

// A restarted kubelet finds the current states of the containers, including those that ended while
// it was down.
func TestRecordsOutliveTheKubelet(t *testing.T) {
	n := start(t, setting{})
	n.volume("data")
	n.pod("web", using("data"))
	n.pod("once", using("data"), policy(corev1.RestartPolicyNever))
	n.waitRunning("web")
	n.waitRunning("once")
	n.exit("web", "c", 1)
	n.pass(2 * time.Second)
	n.killKubelet()
	is, _ := store.Get[*corev1.Pod](n.Store, store.Key{Namespace: "default", Name: "once"})
	require.NoError(t, n.runtime.Exit(is, "c", 3))
	n.startKubelet()
	n.pass(20 * time.Second)
	assert.Equal(t, "Running, c running 1", n.state("web"))
	assert.Equal(t, "Failed, c exited 3 0", n.state("once"))
	n.settle()
	assert.Len(t, n.mounts(), 2, "that of web, and its staging mount")
}

// K-POD-12: pkg/volume/util/subpath/subpath_linux.go: prepareSubpathTarget. kubernetes#68211: a
// restarted container gets the directory that the volume has now.
func TestASubPathIsBoundAgain(t *testing.T) {
	n := start(t, setting{})
	n.volume("data")
	uid := n.pod("web", subPath("sub"))
	n.waitRunning("web")
	bound, source := csi.DefaultDir.PodDir(uid)+"/volume-subpaths/pv-data/c/0", csi.DefaultDir.TargetPath(uid, "pv-data")+"/sub"
	n.forget()
	n.exit("web", "c", 1)
	n.pass(2 * time.Second)
	assert.NotContains(t, strings.Join(n.story(), "\n"), "mount "+bound, "the bind is the same directory")

	require.NoError(t, n.machine.RemoveAll(source))
	require.NoError(t, n.machine.MkdirAll(source, 0o755))
	require.NoError(t, n.machine.WriteFile(source+"/new", nil, 0o644))
	assert.False(t, n.exists(bound+"/new"))
	n.exit("web", "c", 1)
	n.pass(20 * time.Second)
	assert.Equal(t, "Running, c running 2", n.state("web"))
	assert.True(t, n.exists(bound+"/new"))
	n.deletePod("web")
	n.settle()
	assert.Empty(t, n.mounts())
}

// The annotations of a pod determine how its containers end.
func TestAnnotationsEndContainers(t *testing.T) {
	n := start(t, setting{})
	annotated := func(name, runs, exits string) {
		create(n, &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", Annotations: map[string]string{
				fakekubelet.RunsAnnotation: runs, fakekubelet.ExitsAnnotation: exits,
			}},
			Spec: corev1.PodSpec{
				NodeName: nodeName, RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "sleep"}},
			},
		})
	}
	annotated("web", "5s", "2")
	annotated("bad", "soon", "0")
	n.pass(5 * time.Second)
	assert.Equal(t, "Running, c running 0", n.state("web"))
	n.pass(3 * time.Second)
	assert.Equal(t, "Failed, c exited 2 0", n.state("web"))
	assert.Equal(t, "Pending, c CreateContainerConfigError 0", n.state("bad"))
}
