package realcluster

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/csisim/csisim/internal/real/deploy"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
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

// The labels that kubelets add for a driver's topology go with the driver; what the node had before stays, also its annotations:
// without the kubelet's, the attach/detach controller would not attach volumes to the node after its next start.
func TestANodeLosesTheLabelsOfADriversTopology(t *testing.T) {
	labels := map[string]string{"kubernetes.io/hostname": "node-a", corev1.LabelTopologyZone: "zone-1", "disk.example.com/rack": "r1"}
	annotations := map[string]string{"volumes.kubernetes.io/controller-managed-attach-detach": "true"}
	c, _ := withPods(t, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-a", Labels: labels, Annotations: annotations}})
	c.options.Nodes, c.options.Drivers = []string{"node-a"}, []deploy.Driver{{Name: "disk.example.com"}}
	c.labelled = map[string]map[string]string{"node-a": {"kubernetes.io/hostname": "node-a", corev1.LabelTopologyZone: "zone-1"}}
	c.world = component.NewWorld(kernel.New(kernel.Options{}), store.New(store.Options{}), trace.NewRecorder(newClock()))
	_, err := store.Create(c.world.Store, &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "node-a"}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{
		{Name: "disk.example.com", NodeID: "a", TopologyKeys: []string{corev1.LabelTopologyZone, "disk.example.com/rack"}},
		{Name: "other.example.com", NodeID: "a", TopologyKeys: []string{"kubernetes.io/hostname"}},
	}}})
	require.NoError(t, err)
	require.NoError(t, c.removeLabels(t.Context(), c.topologyLabels()))
	node, err := c.clients.CoreV1().Nodes().Get(t.Context(), "node-a", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, c.labelled["node-a"], node.Labels)
	assert.Equal(t, annotations, node.Annotations)
}

// clean knows only what the API shows: a label of Kubernetes' own domain may have been there before the driver.
func TestCleanFindsTheLabelsOfItsDriversTopology(t *testing.T) {
	ours := metav1.ObjectMeta{Name: "disk.example.com", Labels: map[string]string{deploy.ManagedBy: deploy.By}}
	info := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "node-a"}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{
		{Name: "disk.example.com", NodeID: "a", TopologyKeys: []string{corev1.LabelTopologyZone, "disk.example.com/rack"}},
		{Name: "other.example.com", NodeID: "a", TopologyKeys: []string{"other.example.com/rack"}},
	}}}
	c := &Cluster{clients: fake.NewClientset(&storagev1.CSIDriver{ObjectMeta: ours}, &storagev1.CSIDriver{ObjectMeta: metav1.ObjectMeta{Name: "other.example.com"}}, info)}
	found, err := c.driverTopology(t.Context())
	require.NoError(t, err)
	assert.Equal(t, map[string][]string{"node-a": {"disk.example.com/rack"}}, found)
}
