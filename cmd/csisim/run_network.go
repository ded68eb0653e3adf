package main

import (
	"context"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/csisim/csisim/cmd/internal/check"
	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/sim"
)

// The networks of a run: one with only loopback, and the network of the machine.
const (
	ownNetwork  = "own"
	hostNetwork = "host"
)

var runNetworks = []string{ownNetwork, hostNetwork}

// runNetworkFlag adds the flag of commands that run driver programs in virtual time.
func runNetworkFlag(command *cobra.Command, network *string) {
	command.Flags().StringVar(network, "network", "",
		"network of driver programs: `MODE` is own (loopback, with the servers of this machine that the scenario names) or host (the network of this machine; default without --rootless)")
	complete(command, "network", cobra.FixedCompletions(runNetworks, cobra.ShellCompDirectiveNoFileComp))
}

// driverNetwork returns the network of driver programs. Programs with --rootless are not trusted;
// all others may need the network of the machine for their storage.
func (f runFlags) driverNetwork() (string, error) {
	switch {
	case f.network == "" && f.rootless:
		return ownNetwork, nil
	case f.network == "":
		return hostNetwork, nil
	case !slices.Contains(runNetworks, f.network):
		return "", usage("%w", unknown("network", f.network, runNetworks))
	case f.network == ownNetwork && f.isolation == string(sim.None):
		return "", usage("--network own needs namespaces: leave out --isolation none")
	}
	return f.network, nil
}

// isolate is bounds.isolate for scenarios.
func (f runFlags) isolate(ctx context.Context, env environment, scenarios []*scenario.Scenario) (done bool, err error) {
	b, err := f.bounds()
	if err != nil {
		return true, err
	}
	for _, s := range scenarios {
		b.loopback = append(b.loopback, s.Loopback()...)
	}
	return b.isolate(ctx, env, scenarios)
}

// isolateSubject is isolate for a driver that the command line describes.
func (f runFlags) isolateSubject(ctx context.Context, env environment, subject check.Subject) (done bool, err error) {
	b, err := f.bounds()
	if err != nil {
		return true, err
	}
	described := &scenario.Scenario{Drivers: []scenario.Driver{subject.Driver}}
	b.loopback = append(described.Loopback(), scenario.LoopbackIn(subject, os.Args[1:])...)
	return b.isolatePrograms(ctx, env, subject.Driver.Socket == nil)
}

func (f runFlags) bounds() (bounds, error) {
	network, err := f.driverNetwork()
	return bounds{isolation: f.isolation, workDir: f.workDir, network: network}, err
}
