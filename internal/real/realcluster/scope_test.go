package realcluster

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/csisim/csisim/internal/real/deploy"
	"github.com/csisim/csisim/internal/world/store"
)

// A volume belongs to the run by its claim or by its driver, because a retained volume can lose its
// claim.
func TestAVolumeBelongsToARunByItsClaimOrDriver(t *testing.T) {
	scope := deploy.NewScope("0a1b", 0)
	c := &Cluster{options: Options{Deploy: deploy.Options{Scope: scope}}}
	res, ok := store.ResourceNamed("persistentvolumes")
	require.True(t, ok)
	volume := func(driver, claimed string) *unstructured.Unstructured {
		u := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{"csi": map[string]any{"driver": driver}}}}
		u.SetName("pvc-1")
		if claimed != "" {
			u.Object["spec"].(map[string]any)["claimRef"] = map[string]any{"namespace": claimed}
		}
		return u
	}
	own, other := scope.Name("mock.csi.csisim.dev"), deploy.NewScope("0a1b", 1).Name("mock.csi.csisim.dev")
	assert.False(t, c.isForeign(res, volume(own, scope.Name("default"))))
	assert.False(t, c.isForeign(res, volume(own, "")), "its claim was deleted")
	assert.False(t, c.isForeign(res, volume("disk.example.com", scope.Name("default"))), "a driver with one name for all")
	assert.True(t, c.isForeign(res, volume(other, "default-z0a1bgh")))
	assert.True(t, c.isForeign(res, volume(other, "")))
}

// A driver that can exist only once in a cluster keeps its name, also in objects of the scenario.
func TestObjectsHaveTheDriverNameOfTheCluster(t *testing.T) {
	scope := deploy.NewScope("0a1b", 0)
	c := &Cluster{options: Options{Deploy: deploy.Options{Scope: scope}, Drivers: []deploy.Driver{{Name: scope.Name("mock.csi.csisim.dev")}, {Name: "disk.example.com"}}}}
	res, ok := store.ResourceNamed("storageclasses")
	require.True(t, ok)
	for driver, want := range map[string]string{"mock.csi.csisim.dev": scope.Name("mock.csi.csisim.dev"), "disk.example.com": "disk.example.com"} {
		class := &unstructured.Unstructured{Object: map[string]any{"provisioner": driver}}
		class.SetName("fast")
		c.rename(res, class)
		assert.Equal(t, want, class.Object["provisioner"])
		assert.Equal(t, scope.Name("fast"), class.GetName())
		patch, err := c.scoped([]byte(`{"spec":{"driver":"` + driver + `"}}`))
		require.NoError(t, err)
		assert.JSONEq(t, `{"spec":{"driver":"`+want+`"}}`, string(patch))
	}
}

// Events about the control plane's node do not belong to a scenario without that node, and events
// of kube-proxy belong to none.
func TestEventsOfOtherNodesAreForeign(t *testing.T) {
	c := &Cluster{options: Options{Nodes: []string{"node-a"}}}
	starting := func(what, node string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"involvedObject": map[string]any{"kind": "Node", "name": node}, "reason": "Starting", "reportingComponent": what}}
	}
	assert.False(t, c.isForeignEvent(starting("kubelet", "node-a")))
	assert.True(t, c.isForeignEvent(starting("kubelet", "kind-control-plane")))
	assert.True(t, c.isForeignEvent(starting("kube-proxy", "node-a")))
}
