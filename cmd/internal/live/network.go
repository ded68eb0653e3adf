package live

import (
	"fmt"

	"github.com/csisim/csisim/cmd/internal/network"
	"github.com/csisim/csisim/cmd/internal/scenario"
)

// The networks of containers that are programs.
const (
	AutoNetwork    = "auto"
	ClusterNetwork = "cluster"
	HostNetwork    = "host"
)

// NetworkModes lists all modes.
var NetworkModes = []string{AutoNetwork, ClusterNetwork, HostNetwork}

// connect creates the network of a cluster's nodes and pods; nil if they share that of this
// machine.
func (o Options) connect(s *scenario.Scenario) (*network.Network, error) {
	if o.Network == HostNetwork || !o.Pull && len(s.Images) == 0 {
		return nil, nil
	}
	err := network.Permitted(len(s.NodeNames()))
	if err == nil {
		var n *network.Network
		if n, err = network.New(); err == nil {
			return n, nil
		}
	}
	if o.Network == ClusterNetwork {
		return nil, &EnvironmentError{fmt.Errorf("networks of pods and nodes: %w; --network host has all share that of this machine", err)}
	}
	fmt.Fprintf(o.Stdout, "Pods and nodes share the network of this machine, so that of two that listen on one port one fails: %v\n", err)
	return nil, nil
}
