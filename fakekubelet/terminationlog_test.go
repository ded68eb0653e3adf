package fakekubelet_test

import (
	"path"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/fakekubelet/internal/csi"
)

// terminationLogs lists the files of container c. Each name has eight hexadecimal digits.
func (n *node) terminationLogs(uid types.UID) (names []string) {
	entries, _ := n.machine.ReadDir(csi.DefaultDir.PodDir(uid) + "/containers/c")
	for _, e := range entries {
		assert.Regexp(n.t, `^[0-9a-f]{8}$`, path.Base(e.Name()))
		names = append(names, e.Name())
	}
	return names
}

// Given a pod, when its container starts and restarts, then each instance has a file for its
// termination message in the pod's directory, and all of them stay until the pod is deleted.
// K-POD-16 [pkg/kubelet/kuberuntime/kuberuntime_container.go makeMounts, makeUID]
func TestEachInstanceHasATerminationLog(t *testing.T) {
	n := start(t, setting{})
	uid := n.pod("web")
	n.waitRunning("web")
	first := n.terminationLogs(uid)
	assert.Len(t, first, 1)
	n.exit("web", "c", 1)
	n.pass(1100 * time.Millisecond)
	both := n.terminationLogs(uid)
	assert.Len(t, both, 2)
	assert.Subset(t, both, first)
	n.killKubelet()
	n.startKubelet()
	n.settle()
	assert.Equal(t, both, n.terminationLogs(uid), "a kubelet that starts does not start containers that run")
	n.deletePod("web")
	n.settle()
	assert.False(t, n.exists(csi.DefaultDir.PodDir(uid)))
}
