package sim_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/internal/world/migration"
	"github.com/csisim/csisim/internal/world/version"
	"github.com/csisim/csisim/sim"
)

func startVersion(t *testing.T, v version.Version) *sim.Simulation {
	t.Helper()
	c, err := sim.Start(sim.Options{
		Kubernetes: v, Nodes: []sim.Node{{Name: "node-a"}}, Drivers: []sim.Driver{{Name: "d.example.com", Mock: &mock.Options{}}}, Guard: true,
	})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, c.Close()) })
	require.NoError(t, c.Boot())
	return c
}

// C-SEL-1
func TestTheSELinuxWarningControllerRunsIfItIsNamed(t *testing.T) {
	controllers := func(v version.Version, named ...string) []string {
		c, err := sim.Start(sim.Options{Kubernetes: v, Controllers: named})
		require.NoError(t, err)
		defer func() { assert.NoError(t, c.Close()) }()
		return c.Controllers()
	}
	const flag = "selinux-warning-controller"
	assert.NotContains(t, controllers(36), "selinux-warning")
	assert.Contains(t, controllers(36, flag), "selinux-warning")
	assert.Contains(t, controllers(33, flag), "selinux-warning")
	assert.NotContains(t, controllers(32, flag), "selinux-warning", "its gate is off")
	_, err := sim.Start(sim.Options{Controllers: []string{"podgc"}})
	assert.ErrorContains(t, err, `controller "podgc": it runs always, or there is no such controller`)
}

func TestTheServerShowsItsVersionAlsoAfterAnUpgrade(t *testing.T) {
	c := startVersion(t, 35)
	got := func() string {
		info, err := c.Client().Discovery().ServerVersion()
		require.NoError(t, err)
		return info.GitVersion + " " + info.Minor
	}
	assert.Equal(t, "v1.35.0 35", got())
	require.NoError(t, c.UpgradeControlPlane(sim.Upgrade{Kubernetes: 36}))
	assert.Equal(t, "v1.36.3 36", got())
}

// L-OBJ-1, L-SKEW-4
func TestTheAlphaKindsAreServedByClustersThatBeganWithThem(t *testing.T) {
	infos := schema.GroupVersionResource{Group: "csi.storage.k8s.io", Version: "v1alpha1", Resource: "csinodeinfos"}
	old := startVersion(t, 13)
	n, err := old.DynamicClient().Resource(infos).Get(context.Background(), "node-a", metav1.GetOptions{})
	require.NoError(t, err)
	drivers := n.Object["status"].(map[string]any)["drivers"].([]any)
	assert.Equal(t, map[string]any{"name": "d.example.com", "available": true, "volumePluginMechanism": "in-tree"}, drivers[0])
	infos.Resource = "csidrivers"
	d, err := old.DynamicClient().Resource(infos).Get(context.Background(), "d.example.com", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"attachRequired": true, "podInfoOnMountVersion": nil}, d.Object["spec"])
	require.NoError(t, old.UpgradeControlPlane(sim.Upgrade{Kubernetes: 14}))
	_, err = old.DynamicClient().Resource(infos).Get(context.Background(), "d.example.com", metav1.GetOptions{})
	require.NoError(t, err, "an upgrade deletes nothing")

	_, err = startVersion(t, 14).DynamicClient().Resource(infos).List(context.Background(), metav1.ListOptions{})
	assert.ErrorContains(t, err, "the server could not find the requested resource")
}

func TestVersionsThatDoNotWorkTogetherAreRefused(t *testing.T) {
	var config *sim.ConfigError
	_, err := sim.Start(sim.Options{Kubernetes: 30, Nodes: []sim.Node{{Name: "node-a", Kubernetes: 26}}})
	require.ErrorAs(t, err, &config)
	assert.ErrorContains(t, err, "node-a")
	assert.ErrorContains(t, err, "4 minor versions older than the control plane (1.30)")
	_, err = sim.Start(sim.Options{Migration: migration.Plugins{"kubernetes.io/nfs": migration.Enabled}})
	require.ErrorAs(t, err, &config)

	c := startVersion(t, 30)
	assert.ErrorContains(t, c.UpgradeKubelet("node-a", sim.Upgrade{Kubernetes: 31}), "upgrade the control plane first")
	assert.ErrorContains(t, c.UpgradeKubelet("node-z", sim.Upgrade{}), "there is no such node")
	for v := version.Version(31); v <= 33; v++ {
		require.NoError(t, c.UpgradeControlPlane(sim.Upgrade{Kubernetes: v}))
	}
	assert.ErrorContains(t, c.UpgradeControlPlane(sim.Upgrade{Kubernetes: 34}), "upgrade the kubelet first")
}
