package scenario

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/sim"
)

// The simulation uses the sidecars and the CSIDriver object from a driver's own manifests, with the
// sidecars' flags.
func TestTheSimulationFollowsADriversManifests(t *testing.T) {
	if _, err := exec.LookPath("kubectl"); err != nil {
		t.Skip("kubectl builds kustomizations")
	}
	s, err := Load("../../csisim/testdata/own/scenario.yaml")
	require.NoError(t, err)
	o := s.Drivers[0].options("")
	assert.Equal(t, "mock.csi.csisim.dev", o.Name, "that of the CSIDriver object")
	assert.EqualValues(t, "File", *o.CSIDriver.FSGroupPolicy)
	assert.Equal(t, []sim.Sidecar{sim.Resizer, sim.Snapshotter, sim.HealthMonitor}, o.Without)
	assert.True(t, *o.Sidecars.Provisioner.ExtraCreateMetadata)
	assert.Equal(t, 15*time.Second, o.Sidecars.Attacher.Timeout)
	assert.Equal(t, []string{"csi-provisioner --feature-gates"}, s.Unsimulated())

	subject := s.Subject()
	cluster, err := sim.Start(subject.Options(t.Context()))
	require.NoError(t, err)
	defer cluster.Close()
	assert.Contains(t, cluster.Controllers(), "csi-provisioner/"+o.Name)
	assert.NotContains(t, cluster.Controllers(), "csi-resizer/"+o.Name)
	require.Len(t, subject.Own, 1)
	assert.Equal(t, []string{"csi-attacher", "csi-provisioner"}, subject.Own[0].Sidecars())
}

// Given a driver with the manifests of two releases. When it is upgraded and rolled back, then the
// CSIDriver object, the classes and the sidecars belong to the installed release.
func TestAnUpgradeTakesTheManifestsOfTheRelease(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"controller.yaml", "driver.yaml", "node.yaml"} {
		text, err := os.ReadFile(filepath.Join("../../csisim/testdata/own/deploy/base", name))
		require.NoError(t, err)
		next := strings.NewReplacer("attachRequired: true, fsGroupPolicy: File", "attachRequired: false, fsGroupPolicy: None", "csi-attacher:v4.12.0", "csi-attacher:v4.7.1", "--timeout=15s", "--timeout=40s").Replace(string(text))
		for release, text := range map[string]string{"v1": string(text), "v2": next} {
			require.NoError(t, os.MkdirAll(filepath.Join(dir, release), 0o755))
			require.NoError(t, os.WriteFile(filepath.Join(dir, release, name), []byte(text), 0o600))
		}
	}
	class := []byte("apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: standard}\nprovisioner: mock.csi.csisim.dev\nparameters: {tier: fast}\n")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "v2", "class.yaml"), class, 0o600))
	s, err := Parse(filepath.Join(dir, "x.yaml"), []byte(`
apiVersion: csisim.dev/v1alpha1
kind: Scenario
drivers:
- mock: {}
  deploy: [v1]
  versions: {v2: {deploy: [v2]}}
objects:
- {apiVersion: storage.k8s.io/v1, kind: StorageClass, metadata: {name: standard}, provisioner: mock.csi.csisim.dev}
steps:
- upgrade-driver: {to: v2}
- expect:
    objects:
    - {csidriver: mock.csi.csisim.dev, that: "object.spec.fsGroupPolicy == 'None' && !object.spec.attachRequired"}
    - {storageclass: standard, that: "object.parameters.tier == 'fast'"}
- upgrade-driver: {to: program}
- expect:
    objects:
    - {csidriver: mock.csi.csisim.dev, that: "object.spec.fsGroupPolicy == 'File' && object.spec.attachRequired"}
    - {storageclass: standard, that: "!has(object.parameters)"}
`))
	require.NoError(t, err)
	o := s.Drivers[0].options(dir)
	assert.Equal(t, 15*time.Second, o.Sidecars.Attacher.Timeout)
	assert.EqualValues(t, "4.12", o.Sidecars.Attacher.Version)
	next := o.Deployments["v2"]
	assert.Equal(t, 40*time.Second, next.Sidecars.Attacher.Timeout)
	assert.EqualValues(t, "4.7", next.Sidecars.Attacher.Version)
	assert.Equal(t, []sim.Sidecar{sim.Resizer, sim.Snapshotter, sim.HealthMonitor}, next.Without)

	result, err := Run(t.Context(), s, RunOptions{})
	require.NoError(t, err)
	assert.Empty(t, result.Failures)
}

// Given a driver with manifests of a node plugin only. When it is upgraded and restarted, then
// there is no controller plugin to replace.
func TestAnUpgradeOfANodePluginAlone(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"driver.yaml", "node.yaml"} {
		text, err := os.ReadFile(filepath.Join("../../csisim/testdata/own/deploy/base", name))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), text, 0o600))
	}
	s, err := Parse(filepath.Join(dir, "x.yaml"), []byte(`
apiVersion: csisim.dev/v1alpha1
kind: Scenario
cluster: {nodes: 1}
drivers:
- mock: {}
  deploy: [driver.yaml, node.yaml]
  versions: {v2: {mock: {vendorVersion: "2"}}}
steps:
- upgrade-driver: {to: v2}
- restart-driver: {}
- upgrade-driver: {to: program}
`))
	require.NoError(t, err)
	result, err := Run(t.Context(), s, RunOptions{})
	require.NoError(t, err)
	assert.Empty(t, result.Failures)
}
