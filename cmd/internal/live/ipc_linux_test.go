package live

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

// Given pods on two nodes. When they have hostIPC, then the pods of a node share the node's System
// V IPC. It is separate from the IPC of other nodes, of other pods and of the machine.
func TestHostIPCIsThatOfTheNode(t *testing.T) {
	clitest.NeedsMounts(t)
	t.Parallel() // the test mostly waits
	p := clitest.NewPlace(t, "")
	p.Write("cluster.yaml", clitest.Header+"cluster: {nodes: 2}\nimages: {registry.local/shell: /bin/sh}\ndrivers: [{name: a.example.com, mock: {}}]\n")
	l := startUp(t, "-f", filepath.Join(p.Dir, "cluster.yaml"), "--work-dir", p.Work)
	config, err := clientcmd.BuildConfigFromFlags("", l.kubeconfig())
	require.NoError(t, err)
	c := &programCluster{l, kubernetes.NewForConfigOrDie(config), p.Work}
	namespaceOf := func(name, node string, hostIPC bool) string {
		c.make(fmt.Sprintf(`
metadata: {name: %s}
spec: {nodeName: %s, hostIPC: %t, restartPolicy: Never, containers: [{name: c, image: registry.local/shell, args: ["-c", "readlink /proc/self/ns/ipc"]}]}
`, name, node, hostIPC), inPhase(corev1.PodSucceeded))
		return c.log(name, corev1.PodLogOptions{})
	}
	machine, err := os.Readlink("/proc/self/ns/ipc")
	require.NoError(t, err)
	node := namespaceOf("first", "node-a", true)
	assert.Regexp(t, `^ipc:\[\d+\]\n$`, node)
	assert.Equal(t, node, namespaceOf("second", "node-a", true))
	all := map[string]bool{node: true, machine + "\n": true, namespaceOf("elsewhere", "node-b", true): true, namespaceOf("own", "node-a", false): true}
	assert.Len(t, all, 4, "%v", all)
	c.down()
}
