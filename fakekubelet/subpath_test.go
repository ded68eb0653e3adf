package fakekubelet_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/fakekubelet/internal/csi"
	"github.com/csisim/csisim/fakekubelet/internal/runtime"
	"github.com/csisim/csisim/internal/world/trace"
)

// subPath makes the container mount a part of the volume, and the whole volume at another path.
func subPath(part string) func(*corev1.PodSpec) {
	return func(spec *corev1.PodSpec) {
		using("data")(spec)
		c := &spec.Containers[0]
		c.VolumeMounts[0].SubPath = part
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: "data", MountPath: "/mnt/whole"})
	}
}

// hostPaths returns the host paths that the runtime mounts into containers.
func (n *node) hostPaths() []string {
	var paths []string
	for _, e := range n.Trace.Events() {
		if e.Kind != trace.Runtime || e.Method != "CreateContainer" {
			continue
		}
		for _, m := range e.Detail.(map[string]any)["mounts"].([]runtime.Mount) {
			paths = append(paths, m.Host)
		}
	}
	return paths
}

// Fact 71, K-UNPUB-2: the kubelet bind-mounts the part for the container, and unmounts it before
// NodeUnpublishVolume. The driver does not notice it.
func TestASubPathOfAVolume(t *testing.T) {
	n := start(t, setting{})
	n.volume("data")
	uid := n.pod("web", subPath("sub/dir"))
	n.waitRunning("web")
	bound := csi.DefaultDir.PodDir(uid) + "/volume-subpaths/pv-data/c/0"
	assert.Equal(t, []string{bound, csi.DefaultDir.TargetPath(uid, "pv-data")}, n.hostPaths())
	assert.Contains(t, n.mounts(), bound)
	assert.True(t, n.exists("/mock/h-data/sub/dir"), "made with the mode of the volume's root")
	assert.Equal(t, "0 drwxr-xr-x", n.group("/mock/h-data/sub/dir"))
	require.NoError(t, n.machine.WriteFile(bound+"/file", nil, 0o644))
	assert.True(t, n.exists("/mock/h-data/sub/dir/file"))

	n.forget()
	n.deletePod("web")
	n.settle()
	var order []string
	for _, e := range n.news() {
		switch {
		case e.Kind == trace.FileChange && e.Method == "unmount":
			order = append(order, e.Method+" "+e.Name)
		case e.Kind == trace.Call && outcome(e) != "cap":
			order = append(order, outcome(e))
		}
	}
	assert.Equal(t, []string{"unmount " + bound, "NodeUnpublishVolume OK", "NodeUnstageVolume OK"}, order)
	assert.Empty(t, n.mounts())
	assert.Empty(t, n.files())
	assert.True(t, n.exists("/mock/h-data/sub/dir/file"), "the volume's content stays")
}

func TestASubPathThatIsAFile(t *testing.T) { // fact 71
	n := start(t, setting{})
	require.NoError(t, n.machine.MkdirAll("/mock/h-data", 0o755))
	require.NoError(t, n.machine.WriteFile("/mock/h-data/config", []byte("x"), 0o644))
	n.volume("data")
	n.pod("web", subPath("config"))
	n.waitRunning("web")
	content, err := n.machine.ReadFile(n.hostPaths()[0])
	require.NoError(t, err)
	assert.Equal(t, "x", string(content))
	n.deletePod("web")
	n.settle()
	assert.Empty(t, n.files())
}

// conformance: vm-subpath-directory-deleted
func TestASubPathThatIsDeletedByAContainer(t *testing.T) {
	n := start(t, setting{})
	n.volume("data")
	n.pod("web", subPath("sub"))
	n.run("web")
	require.NoError(t, n.machine.Remove("/mock/h-data/sub"))
	n.deletePod("web")
	n.settle()
	assert.Equal(t, []string{"NodeUnpublishVolume OK", "NodeUnstageVolume OK"}, n.calls())
	assert.Equal(t, corev1.PodPhase("gone"), n.phase("web"))
	assert.Empty(t, n.mounts())
}

// conformance: suite-restart-subpath-graceful, suite-restart-subpath-forced
func TestASubPathOfAPodDeletedWhileTheKubeletIsDown(t *testing.T) { // K-RECON-8
	for name, end := range map[string]func(*node){
		"gracefully": func(n *node) { n.deletePod("web") },
		"by force":   func(n *node) { n.forceDelete("web") },
	} {
		t.Run(name, func(t *testing.T) {
			n := start(t, setting{})
			n.volume("data")
			n.pod("web", subPath("sub"))
			n.run("web")
			n.restart(func() { end(n) })
			n.settle()
			assert.Equal(t, corev1.PodPhase("gone"), n.phase("web"))
			assert.Empty(t, n.mounts())
			assert.Empty(t, n.files())
		})
	}
}

func TestASubPathThatLeadsOutOfTheVolume(t *testing.T) {
	n := start(t, setting{})
	require.NoError(t, n.machine.MkdirAll("/mock/h-data", 0o755))
	require.NoError(t, n.machine.MkdirAll("/etc", 0o755))
	require.NoError(t, n.machine.Symlink("/etc", "/mock/h-data/sub"))
	n.volume("data")
	n.pod("web", subPath("sub"))
	n.pass(time.Second)
	assert.Equal(t, []string{`Warning Failed: Error: failed to prepare subPath for volumeMount "data" of container "c" (1)`}, n.events())
	assert.Equal(t, corev1.PodPending, n.phase("web"))

	n.forget()
	n.deletePod("web")
	n.settle()
	assert.Equal(t, []string{"NodeUnpublishVolume OK", "NodeUnstageVolume OK"}, n.calls())
}

// The part may be an expression with variables of the container's environment. If a variable has no
// value, or the path leads out of the volume, the container does not start.
func TestASubPathWithAnExpression(t *testing.T) {
	for _, c := range []struct {
		name, expression string
		env              []corev1.EnvVar
		made, event      string
	}{
		{name: "a variable", expression: "$(POD)/logs", env: []corev1.EnvVar{podName}, made: "web/logs"},
		{name: "no variable", expression: "logs", made: "logs"},
		{name: "a dollar", expression: "$$(POD)", env: []corev1.EnvVar{podName}, made: "$(POD)"},
		{name: "unknown", expression: "$(POD)/$(B)/$(A)/$(A)", env: []corev1.EnvVar{podName}, event: "missing value for A, B"},
		{name: "empty", expression: "$(A)", env: []corev1.EnvVar{{Name: "A"}}, event: "missing value for A"},
		{name: "absolute", expression: "$(A)", env: []corev1.EnvVar{{Name: "A", Value: "/etc"}}, event: "error SubPath `/etc` must not be an absolute path"},
		{name: "upwards", expression: "x/$(A)", env: []corev1.EnvVar{{Name: "A", Value: "../.."}}, event: "unable to provision SubPath `x/../..`: must not contain '..'"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := start(t, setting{})
			n.volume("data")
			n.pod("web", using("data"), func(spec *corev1.PodSpec) {
				spec.Containers[0].Env = c.env
				spec.Containers[0].VolumeMounts[0].SubPathExpr = c.expression
			})
			n.pass(2 * time.Second)
			if c.event == "" {
				assert.Equal(t, corev1.PodRunning, n.phase("web"))
				assert.True(t, n.exists("/mock/h-data/"+c.made))
				assert.Len(t, n.hostPaths(), 1)
				assert.Contains(t, n.hostPaths()[0], "/volume-subpaths/pv-data/c/0")
			} else {
				assert.Equal(t, corev1.PodPending, n.phase("web"))
				assert.Equal(t, []string{"Warning Failed: Error: " + c.event + " (1)"}, n.events())
			}
			n.deletePod("web")
			n.settle()
			assert.Empty(t, n.files())
		})
	}
}

var podName = corev1.EnvVar{Name: "POD", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}}}
