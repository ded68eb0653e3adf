package realcluster

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/trace"
)

// journal is the log of a node's containerd, and crictl's descriptions.
type journal struct {
	Machines
	lines   []string
	inspect map[string]string
}

func (j journal) Follow(ctx context.Context, _ string, line func(string), _ ...string) error {
	for _, text := range j.lines {
		line(text)
	}
	<-ctx.Done()
	return nil
}

func (j journal) Run(_ context.Context, _ string, command ...string) (string, error) {
	shown, ok := j.inspect[command[len(command)-1]]
	if !ok {
		return "", fmt.Errorf("%v: not found", command)
	}
	return shown, nil
}

// A kubelet's requests to containerd about the scenario's pods are in the trace in the form of a
// simulated kubelet, with the time of the request, once. Log messages have both spellings of
// metadata, those before and since Kubernetes v1.35.
func TestRuntimeRequestsAreReadFromContainerdsLog(t *testing.T) {
	// Lines from before the log is read belong to an earlier run.
	began := time.Now().Add(time.Second)
	logged := func(after int, message string) string {
		at := began.Add(time.Duration(after) * time.Millisecond).UTC().Format(time.RFC3339Nano)
		return fmt.Sprintf(`time="%s" level=info msg=%q`, at, message)
	}
	const web, old = `name:"web" uid:"u-1" namespace:"default"`, `&PodSandboxMetadata{Name:probe,Uid:u-2,Namespace:default,Attempt:0,}`
	const dns = `name:"dns" uid:"u-3" namespace:"kube-system"`
	j := journal{inspect: map[string]string{"c-1": `{"info": {"config": {
		"metadata": {"name": "main"},
		"mounts": [
			{"container_path": "/data", "host_path": "/var/lib/kubelet/pods/u-1/volumes/kubernetes.io~csi/pv/mount", "readonly": true},
			{"container_path": "/etc/hosts", "host_path": "/var/lib/kubelet/pods/u-1/etc-hosts"},
			{"container_path": "/dev/termination-log", "host_path": "/var/lib/kubelet/pods/u-1/containers/main/0"},
			{"container_path": "/var/run/secrets/kubernetes.io/serviceaccount", "host_path": "/var/lib/kubelet/pods/u-1/volumes/kubernetes.io~projected/kube-api-access-x", "readonly": true}],
		"devices": [{"container_path": "/dev/disk", "host_path": "/dev/loop7", "permissions": "mrw"}],
		"linux": {"security_context": {"supplemental_groups": [2000]}}}}}`}}
	j.lines = []string{
		logged(1, "RunPodSandbox for "+web), logged(2, "RunPodSandbox for "+dns), logged(3, "RunPodSandbox for "+dns+` returns sandbox id "s-3"`),
		logged(4, "RunPodSandbox for "+web+` returns sandbox id "s-1"`),
		logged(5, `CreateContainer within sandbox "s-1" for container name:"main"`), logged(6, `CreateContainer within sandbox "s-3" for container name:"dns"`),
		logged(7, `CreateContainer within sandbox "s-3" for name:"dns" returns container id "c-3"`),
		logged(8, `CreateContainer within sandbox "s-1" for name:"main" returns container id "c-1"`),
		logged(9, `StartContainer for "c-1"`), logged(10, `StartContainer for "c-1" returns successfully`), logged(11, `StartContainer for "c-3"`),
		logged(12, "RunPodSandbox for "+old), logged(13, "RunPodSandbox for "+old+` returns sandbox id "s-2"`),
		logged(14, `CreateContainer within sandbox "s-2" for container &ContainerMetadata{Name:main,Attempt:0,}`),
		logged(15, `CreateContainer within sandbox "s-2" for &ContainerMetadata{Name:main,Attempt:0,} returns container id "gone"`),
		logged(16, `StopContainer for "c-1" with timeout 30 (s)`), logged(17, `StopContainer for "c-1" with timeout 2 (s)`),
		logged(18, `StopPodSandbox for "s-1"`), logged(19, `StopPodSandbox for "s-1"`), logged(20, `RemoveContainer for "c-1"`),
		"no line of a log",
	}
	c, _ := withPods(t)
	c.options.Nodes, c.options.Machines = []string{"node-a"}, j
	for _, name := range []string{"web", "probe"} {
		seen(t, c, "pods", &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}})
	}
	c.followRuntimes()
	var asked []string
	require.NoError(t, c.WaitFor("all of it", 10*time.Second, func() bool {
		asked = nil
		for _, e := range c.world.Trace.Events() {
			if e.Kind == trace.Runtime {
				asked = append(asked, strings.TrimSpace(fmt.Sprintf("%s %s %s", e.Node, e.Method, e.Name)))
			}
		}
		return len(asked) >= 7
	}))
	assert.Equal(t, []string{
		"node-a RunPodSandbox default/web", "node-a CreateContainer default/web", "node-a StartContainer default/web",
		"node-a RunPodSandbox default/probe", "node-a CreateContainer default/probe",
		"node-a StopContainer default/web", "node-a StopPodSandbox default/web",
	}, asked)

	detail, err := containerAsked(j.inspect["c-1"])
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"container": "main", "supplementalGroups": []int64{2000}, "mounts": []any{
		map[string]any{"container": "/data", "host": "/var/lib/kubelet/pods/u-1/volumes/kubernetes.io~csi/pv/mount", "readonly": true},
		map[string]any{"device": "/dev/disk", "host": "/dev/loop7", "permissions": "mrw"},
	}}, withMounts(t, detail))
}

// withMounts returns a recorded request, with its mounts in the form of a trace.
func withMounts(t *testing.T, detail map[string]any) map[string]any {
	t.Helper()
	text, err := json.Marshal(detail["mounts"])
	require.NoError(t, err)
	var mounts []any
	require.NoError(t, json.Unmarshal(text, &mounts))
	detail["mounts"] = mounts
	return detail
}
