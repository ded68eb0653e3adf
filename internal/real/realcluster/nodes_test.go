package realcluster

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/csisim/csisim/internal/real/deploy"
	"github.com/csisim/csisim/internal/world/store"
)

// A node has the scenario's labels and taints during a run, and its original labels and taints
// afterwards, even if a kubelet or a killed run has changed them in between. Taints that Kubernetes
// sets meanwhile are kept.
func TestANodeGetsItsOwnLabelsBack(t *testing.T) {
	own := map[string]string{"kubernetes.io/hostname": "node-a", corev1.LabelTopologyRegion: "here"}
	c, _ := withPods(t, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-a", Labels: own}, Spec: corev1.NodeSpec{Taints: []corev1.Taint{gpu, {Key: corev1.TaintNodeNotReady, Effect: corev1.TaintEffectNoExecute}}}})
	c.options.Nodes = []string{"node-a"}
	c.options.NodeLabels = map[string]map[string]string{"node-a": {corev1.LabelTopologyZone: "zone-1", corev1.LabelTopologyRegion: "r1"}}
	c.options.NodeTaints = map[string][]corev1.Taint{"node-a": {maintenance}}
	node := func() *corev1.Node {
		n, err := c.clients.CoreV1().Nodes().Get(t.Context(), "node-a", metav1.GetOptions{})
		require.NoError(t, err)
		return n
	}
	require.NoError(t, c.furnishNodes())
	assert.Equal(t, "zone-1", node().Labels[corev1.LabelTopologyZone])
	assert.Contains(t, node().Spec.Taints, maintenance)
	assert.False(t, c.lacksLabels(node()))

	// The test changes the node as steps do, concurrently with the node controller.
	_, err := c.changeNode(t.Context(), "node-a", func(n *corev1.Node) error {
		n.Spec.Taints = []corev1.Taint{{Key: corev1.TaintNodeOutOfService, Effect: corev1.TaintEffectNoExecute}, pressure}
		n.Spec.Unschedulable = true
		n.Labels["disk"] = "ssd"
		return nil
	})
	require.NoError(t, err)

	without := node()
	delete(without.Labels, corev1.LabelTopologyZone) // as a starting kubelet does
	assert.True(t, c.lacksLabels(without))
	require.NoError(t, c.furnishNode("node-a"))
	assert.NotContains(t, node().Spec.Taints, maintenance, "a step has taken it off")

	require.NoError(t, c.restoreNodes(t.Context()))
	assert.Equal(t, own, node().Labels)
	assert.Empty(t, node().Annotations)
	assert.Equal(t, []corev1.Taint{gpu, pressure}, node().Spec.Taints)
	assert.False(t, node().Spec.Unschedulable)

	require.NoError(t, c.furnishNodes())
	require.NoError(t, c.furnishNodes(), "a killed run was there")
	removed, err := c.unmark(t.Context())
	require.NoError(t, err)
	assert.Equal(t, []string{"the scenario's labels and taints of nodes/node-a"}, removed)
	assert.Equal(t, own, node().Labels)
}

var (
	gpu         = corev1.Taint{Key: "gpu", Effect: corev1.TaintEffectNoSchedule}
	maintenance = corev1.Taint{Key: "maintenance", Effect: corev1.TaintEffectNoExecute}
	pressure    = corev1.Taint{Key: corev1.TaintNodeDiskPressure, Effect: corev1.TaintEffectNoSchedule}
)

// The labels that kubelets add for a driver's topology are removed with the driver. The node's
// other labels and annotations stay. Without the kubelet's annotation, the attach/detach controller
// would not attach volumes to the node after a restart.
func TestANodeLosesTheLabelsOfADriversTopology(t *testing.T) {
	labels := map[string]string{"kubernetes.io/hostname": "node-a", corev1.LabelTopologyZone: "zone-1", "disk.example.com/rack": "r1"}
	annotations := map[string]string{"volumes.kubernetes.io/controller-managed-attach-detach": "true"}
	c, _ := withPods(t, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-a", Labels: labels, Annotations: annotations}})
	c.options.Nodes, c.options.Drivers = []string{"node-a"}, []deploy.Driver{{Name: "disk.example.com"}}
	c.labelled = map[string]map[string]string{"node-a": {"kubernetes.io/hostname": "node-a", corev1.LabelTopologyZone: "zone-1"}}
	c.topology = map[string][]string{}
	c.noteTopology(&storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "node-a"}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{
		{Name: "disk.example.com", NodeID: "a", TopologyKeys: []string{corev1.LabelTopologyZone, "disk.example.com/rack"}},
		{Name: "other.example.com", NodeID: "a", TopologyKeys: []string{"kubernetes.io/hostname"}},
	}}})
	// Its plugin was stopped.
	c.noteTopology(&storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "node-a"}})
	require.NoError(t, c.removeLabels(t.Context(), c.topology))
	node, err := c.clients.CoreV1().Nodes().Get(t.Context(), "node-a", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, c.labelled["node-a"], node.Labels)
	assert.Equal(t, annotations, node.Annotations)
}

// A driver's own manifests may deploy it on a node outside the scenario. Its labels are also
// removed there.
func TestANodeOfARealClusterLosesTheLabelsOfADriversTopology(t *testing.T) {
	c, _ := withPods(t, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-b", Labels: map[string]string{"disk.example.com/rack": "r1"}}})
	c.options.Nodes, c.options.Drivers = []string{"node-a"}, []deploy.Driver{{Name: "disk.example.com"}}
	c.labelled, c.topology = map[string]map[string]string{"node-a": {}, "node-b": {}}, map[string][]string{}
	res, ok := store.ResourceNamed("csinodes")
	require.True(t, ok)
	newMirror(c).take(res, &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"name": "node-b"},
		"spec":     map[string]any{"drivers": []any{map[string]any{"name": "disk.example.com", "nodeID": "b", "topologyKeys": []any{"disk.example.com/rack"}}}},
	}}, false)
	require.NoError(t, c.removeLabels(t.Context(), c.topology))
	node, err := c.clients.CoreV1().Nodes().Get(t.Context(), "node-b", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Empty(t, node.Labels)
}

// clean reads from the CSIDriver object which labels were there before the driver.
func TestCleanFindsTheLabelsOfItsDriversTopology(t *testing.T) {
	u := &unstructured.Unstructured{Object: map[string]any{}}
	(&Cluster{options: Options{Nodes: []string{"node-a"}}, labelled: map[string]map[string]string{"node-a": {corev1.LabelTopologyRegion: "here"}}}).withLabels(u)
	ours := metav1.ObjectMeta{Name: "disk.example.com", Labels: map[string]string{deploy.ManagedBy: deploy.By}, Annotations: u.GetAnnotations()}
	info := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "node-a"}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{
		{Name: "disk.example.com", NodeID: "a", TopologyKeys: []string{corev1.LabelTopologyRegion, corev1.LabelTopologyZone, "disk.example.com/rack"}},
		{Name: "other.example.com", NodeID: "a", TopologyKeys: []string{"other.example.com/rack"}},
	}}}
	c := &Cluster{clients: fake.NewClientset(&storagev1.CSIDriver{ObjectMeta: ours}, &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: "other.example.com"}}, info)}
	found, err := c.driverTopology(t.Context())
	require.NoError(t, err)
	assert.Equal(t, map[string][]string{"node-a": {corev1.LabelTopologyZone, "disk.example.com/rack"}}, found)
}
