package realcluster

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// A node has the scenario's labels for a run, and then its own again, also if a kubelet or a killed run was there between.
func TestANodeGetsItsOwnLabelsBack(t *testing.T) {
	own := map[string]string{"kubernetes.io/hostname": "node-a", corev1.LabelTopologyRegion: "here"}
	c, _ := withPods(t, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-a", Labels: own}})
	c.options.Nodes = []string{"node-a"}
	c.options.NodeLabels = map[string]map[string]string{"node-a": {corev1.LabelTopologyZone: "zone-1", corev1.LabelTopologyRegion: "r1"}}
	node := func() *corev1.Node {
		n, err := c.clients.CoreV1().Nodes().Get(t.Context(), "node-a", metav1.GetOptions{})
		require.NoError(t, err)
		return n
	}
	require.NoError(t, c.labelNodes())
	assert.Equal(t, "zone-1", node().Labels[corev1.LabelTopologyZone])
	assert.False(t, c.lacksLabels(node()))

	without := node()
	delete(without.Labels, corev1.LabelTopologyZone) // as a kubelet does that starts
	assert.True(t, c.lacksLabels(without))
	require.NoError(t, c.labelNodes())

	require.NoError(t, c.unlabelNodes(t.Context()))
	assert.Equal(t, own, node().Labels)
	assert.Empty(t, node().Annotations)
}
