package sim_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/sim"
)

func TestEachNodeHasAnAddressAndAnAdministrator(t *testing.T) {
	c, err := sim.Start(sim.Options{})
	require.NoError(t, err)
	defer func() { assert.NoError(t, c.Close()) }()
	require.NoError(t, c.Boot())
	hosts := c.Hosts()
	require.Len(t, hosts, 2)
	for i, want := range []struct{ name, address string }{{"node-a", "127.0.0.1"}, {"node-b", "127.0.0.2"}} {
		assert.Equal(t, want.name, hosts[i].Name)
		assert.Equal(t, want.address, hosts[i].Address)
		node, err := c.Client().CoreV1().Nodes().Get(t.Context(), want.name, metav1.GetOptions{})
		require.NoError(t, err)
		assert.Contains(t, node.Status.Addresses, corev1.NodeAddress{Type: corev1.NodeInternalIP, Address: want.address})
	}

	_, err = hosts[0].Run(t.Context(), []string{"-c", "true"}, machine.Stdio{}, false)
	require.ErrorIs(t, err, machine.ErrNotIsolated, "a node in memory has no shell, and this machine's is not the node's")
	for range 2 { // the second call has nothing left to do
		require.NoError(t, hosts[1].StopKubelet())
		assert.False(t, hosts[1].KubeletRuns())
	}
	assert.True(t, hosts[0].KubeletRuns())
	for range 2 {
		require.NoError(t, hosts[1].StartKubelet())
		assert.True(t, hosts[1].KubeletRuns())
	}
}
