package main

import (
	"fmt"

	"github.com/spf13/pflag"

	"github.com/csisim/csisim/cmd/internal/network"
	"github.com/csisim/csisim/cmd/internal/scenario"
)

// The networks of containers that are programs.
const (
	autoNetwork    = "auto"
	clusterNetwork = "cluster"
	hostNetwork    = "host"
)

var networkModes = []string{autoNetwork, clusterNetwork, hostNetwork}

func networkFlag(flags *pflag.FlagSet, mode *string) {
	flags.StringVar(mode, "network", autoNetwork,
		"network of containers that are programs: `MODE` is cluster (each node and each pod has one of its own), host (all share that of this machine) or auto (cluster, where this machine permits it)")
}

// connect creates the network of a cluster's nodes and pods; nil if they share that of this
// machine.
func (f upFlags) connect(env environment, s *scenario.Scenario) (*network.Network, error) {
	if f.network == hostNetwork || !f.pull && len(s.Images) == 0 {
		return nil, nil
	}
	err := network.Permitted(len(s.NodeNames()))
	if err == nil {
		var n *network.Network
		if n, err = network.New(); err == nil {
			return n, nil
		}
	}
	if f.network == clusterNetwork {
		return nil, &failure{code: exitEnvironment, err: fmt.Errorf("networks of pods and nodes: %w; --network host has all share that of this machine", err)}
	}
	fmt.Fprintf(env.stdout, "Pods and nodes share the network of this machine, so that of two that listen on one port one fails: %v\n", err)
	return nil, nil
}
