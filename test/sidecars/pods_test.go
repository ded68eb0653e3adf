package sidecars

import (
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const oneNode = `apiVersion: csisim.dev/v1alpha1
kind: Scenario
cluster: {nodes: 1}
images:
  registry.k8s.io/sig-storage/csi-attacher: PROGRAMS/csi-attacher
  registry.k8s.io/sig-storage/csi-resizer: PROGRAMS/csi-resizer
  registry.k8s.io/sig-storage/csi-snapshotter: PROGRAMS/csi-snapshotter
  registry.k8s.io/sig-storage/snapshot-controller: PROGRAMS/snapshot-controller
drivers:
- name: real.csi.example.com
  external: [csi-attacher, csi-resizer, csi-snapshotter, snapshot-controller]
  program:
    single: true
    command: [PROGRAMS/hostdir, "--endpoint={{.Endpoint}}", "--driver-name={{.Driver}}", "--mode={{.Mode}}", "--node-id={{.NodeID}}", "--state-dir={{.StateDir}}", "--node-state-dir={{.NodeStateDir}}"]
objects:
- {apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: fast}, provisioner: real.csi.example.com, allowVolumeExpansion: true}
- {apiVersion: snapshot.storage.k8s.io/v1, kind: VolumeSnapshotClass, metadata: {name: fast}, driver: real.csi.example.com, deletionPolicy: Delete}
`

// The same life with the sidecars as pods of a Deployment and a DaemonSet: each container runs its
// real program, which finds the API as in a cluster and the driver through its volume.
func TestSidecarsRunInPods(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("loop devices need root")
	}
	c := up(t, strings.ReplaceAll(oneNode, "PROGRAMS", programs))
	c.apply("testdata/sidecars.yaml")
	c.await("the sidecars to run", func(ctx context.Context) (bool, error) {
		deployment, err := c.AppsV1().Deployments("kube-system").Get(ctx, "sidecars", metav1.GetOptions{})
		if err != nil || deployment.Status.AvailableReplicas != 1 {
			return false, err
		}
		set, err := c.AppsV1().DaemonSets("kube-system").Get(ctx, "snapshot-controller", metav1.GetOptions{})
		return err == nil && set.Status.NumberAvailable == 1, err
	})
	c.lifeOfAVolume()
	c.leadersAreElected()
	pods, err := c.CoreV1().Pods("kube-system").List(t.Context(), metav1.ListOptions{LabelSelector: "app=sidecars"})
	require.NoError(t, err)
	require.Len(t, pods.Items, 1)
	for _, status := range pods.Items[0].Status.ContainerStatuses {
		assert.Zero(t, status.RestartCount, status.Name)
	}
	assert.Contains(t, c.log(pods.Items[0].Name, "attacher"), "Successfully acquired lease")
}

// apply creates the objects of a file, which may use YAML's anchors.
func (c *cluster) apply(file string) {
	text, err := os.ReadFile(file)
	require.NoError(c, err)
	c.make(string(text))
}

func (c *cluster) log(pod, container string) string {
	stream, err := c.CoreV1().Pods("kube-system").GetLogs(pod, &corev1.PodLogOptions{Container: container}).Stream(c.Context())
	require.NoError(c, err)
	defer stream.Close()
	text, err := io.ReadAll(stream)
	require.NoError(c, err)
	return string(text)
}
