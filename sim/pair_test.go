package sim_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/sim"
	"github.com/csisim/csisim/sim/expect"
)

// manifestOf returns a manifest of the library's fail-over scenarios.
func manifestOf(t *testing.T, name string) string {
	text, err := os.ReadFile(filepath.Join("..", "scenarios", "csi-addons", "manifests", name))
	require.NoError(t, err)
	return string(text)
}

func replicates(o *sim.Options) {
	o.Drivers = append(o.Drivers, sim.Driver{Mock: &mock.Options{
		Name: "addons.example.com", Existing: []mock.ExistingVolume{{ID: "vol-1"}}, CSIAddons: &mock.Addons{},
	}})
}

func inState(state string) expect.Expectation {
	return expect.Object{Ref: "vr/vr", Fields: map[string]any{"status": map[string]any{"state": state}}}
}

func TestAPairMovesAVolumeFromOneClusterToTheOther(t *testing.T) {
	west, east := sim.NewPair(t, [2]string{"west", "east"}, replicates)
	running := expect.Object{Ref: "pod/web", Phase: "Running"}
	for _, c := range []*sim.Cluster{west, east} {
		c.Apply(manifestOf(t, "failover.yaml"))
	}
	west.Apply(manifestOf(t, "failover-pod.yaml"))
	west.Until(running)
	west.Apply(manifestOf(t, "failover-primary.yaml"))
	west.Until(inState("Primary"))
	before := east.Simulation().World.Kernel.Elapsed()
	west.Advance(time.Minute)
	assert.Equal(t, before+time.Minute, east.Simulation().World.Kernel.Elapsed(), "they live in one time")

	require.NoError(t, west.Simulation().PowerOffAll())
	var config *sim.ConfigError
	require.ErrorAs(t, west.Simulation().PowerOffAll(), &config, "it has no power")
	east.Apply(manifestOf(t, "failover-primary.yaml"))
	east.Until(inState("Primary"))
	east.Apply(manifestOf(t, "failover-pod.yaml"))
	east.Until(running) // the data check reads the content that was written in the west
	require.NoError(t, west.Simulation().PowerOnAll())
	west.Until(running)

	clusters := map[string]bool{}
	var last uint64
	for _, e := range west.Simulation().Trace().Events() {
		assert.Greater(t, e.Seq, last)
		last = e.Seq
		clusters[e.Cluster] = clusters[e.Cluster] || e.Kind == trace.Call
	}
	assert.Equal(t, map[string]bool{"west": true, "east": true}, clusters)
}

func TestImpossiblePairs(t *testing.T) {
	for want, names := range map[string][2]string{
		`cluster "West": its name is not a DNS label`: {"West", "east"},
		`cluster "a": two clusters have this name`:    {"a", "a"},
	} {
		_, err := sim.StartPair(sim.Options{}, names)
		assert.ErrorContains(t, err, want)
	}
	_, err := sim.StartPair(sim.Options{Drivers: []sim.Driver{{Name: "d", Servers: &sim.Servers{}}}}, [2]string{"a", "b"})
	assert.ErrorContains(t, err, "only mocks and programs without stand-ins can be in several clusters")
}
