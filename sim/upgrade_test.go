package sim_test

import (
	"context"
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/sim"
)

// nodeRelease is a node plugin of one release. Its topology names the release.
type nodeRelease struct {
	csi.UnimplementedIdentityServer
	csi.UnimplementedNodeServer
	version, node string
	asked         *[]string
}

func (n nodeRelease) GetPluginInfo(context.Context, *csi.GetPluginInfoRequest) (*csi.GetPluginInfoResponse, error) {
	return &csi.GetPluginInfoResponse{Name: "d.example.com", VendorVersion: n.version}, nil
}

func (n nodeRelease) Probe(context.Context, *csi.ProbeRequest) (*csi.ProbeResponse, error) {
	return &csi.ProbeResponse{Ready: wrapperspb.Bool(true)}, nil
}

func (n nodeRelease) NodeGetInfo(context.Context, *csi.NodeGetInfoRequest) (*csi.NodeGetInfoResponse, error) {
	*n.asked = append(*n.asked, n.node+" "+n.version)
	return &csi.NodeGetInfoResponse{NodeId: n.node}, nil
}

// Given a driver in Go code with another release, when plugins are upgraded and rolled back, then
// the kubelet registers the release of each plugin.
func TestServersAreUpgradedAndRolledBack(t *testing.T) {
	var asked []string
	serves := func(version string) func(string, machine.Machine) []machine.Service {
		return func(node string, _ machine.Machine) []machine.Service {
			return sim.Services(nodeRelease{version: version, node: node, asked: &asked})
		}
	}
	c := sim.New(t, sim.WithNodes("node-a", "node-b"), sim.WithDriver(sim.Driver{
		Name: "d.example.com", NoController: true,
		Servers: &sim.Servers{Node: serves("v1"), Versions: map[string]sim.Servers{"v2": {Node: serves("v2")}}},
	}))
	assert.ElementsMatch(t, []string{"node-a v1", "node-b v1"}, asked)

	asked = nil
	c.Upgrade("v2", sim.Plugin{Driver: "d.example.com", Node: "node-a"})
	c.Settle()
	assert.Equal(t, []string{"node-a v2"}, asked)

	asked = nil
	c.Upgrade("v2")
	c.Settle()
	assert.ElementsMatch(t, []string{"node-a v2", "node-b v2"}, asked)

	asked = nil
	c.Upgrade(sim.FirstVersion, sim.Plugin{Driver: "d.example.com", Node: "node-b"})
	c.Settle()
	assert.Equal(t, []string{"node-b v1"}, asked)
}

// Given a driver without the release, when it is upgraded, then the error names the release.
func TestAnUnknownReleaseIsRefused(t *testing.T) {
	s, err := sim.Start(sim.Options{Nodes: []sim.Node{{Name: "node-a"}}, Drivers: []sim.Driver{{
		Name: "d.example.com", NoController: true,
		Servers: &sim.Servers{Node: func(string, machine.Machine) []machine.Service { return nil }},
	}}})
	assert.NoError(t, err)
	defer s.Close()
	assert.EqualError(t, s.UpgradeDriver(sim.Plugin{Driver: "d.example.com", Node: "node-a"}, "v2"), `version "v2": driver "d.example.com" has no such version`)
}
