package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/namespaces"
	"github.com/csisim/csisim/sim"
)

var isolations = []string{string(sim.Auto), string(sim.Namespace), string(sim.None)}

// isolationFlag adds the flag of all commands that run scenarios.
func isolationFlag(flags *pflag.FlagSet, isolation *string) {
	flags.StringVar(isolation, "isolation", string(sim.Auto),
		"isolation of nodes: `MODE` is auto (namespaces if drivers are programs; exit code 3 if the machine has none), namespace (always) or none (directories; nothing can be mounted safely)")
}

// rootless is the isolation in which root's programs run like those of an ordinary user. Inside
// these namespaces the isolation is sim.Namespace, as for any ordinary user.
const rootless = "rootless"

// rootlessFlag adds the flag of all commands that start driver programs.
func rootlessFlag(flags *pflag.FlagSet, isolation *string, given *bool) {
	flags.BoolFunc("rootless", "as root, start programs as an ordinary user: the user of sudo, or user 65534", func(string) error {
		*given, *isolation = true, string(sim.Namespace)
		if os.Geteuid() == 0 && !namespaces.Entered() {
			*isolation = rootless
		}
		return nil
	})
}

// hostPathFlag adds the flag of all commands that run programs.
func hostPathFlag(command *cobra.Command, paths *[]string) {
	command.Flags().StringArrayVar(paths, "host-path", nil,
		"let programs write to `DIR` of this machine; may be repeated")
	complete(command, "host-path", cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs))
}

// checkHostPaths rejects paths that cannot be shared with the host.
func checkHostPaths(paths []string) error {
	for _, given := range paths {
		if _, err := (machine.Layout{}).HostPath(given); err != nil {
			return usage("--host-path: %w", err)
		}
	}
	return nil
}

func checkIsolation(isolation string) error {
	if isolation != rootless && !slices.Contains(isolations, isolation) {
		return usage("%w", unknown("isolation", isolation, isolations))
	}
	return nil
}

// bounds are the limits of the programs that a command starts.
type bounds struct {
	isolation, workDir string
	// network is ownNetwork or hostNetwork; empty is hostNetwork.
	network string
	// loopback lists addresses of servers of this machine that a separate network must reach.
	loopback []string
}

// isolate runs the command again in its own namespaces if a scenario has driver programs; done
// reports whether it did. The namespaces end with all their processes and mounts, however the run
// ends. Without namespaces, this process ends its programs itself.
func isolate(ctx context.Context, env environment, isolation, workDir string, scenarios []*scenario.Scenario) (done bool, err error) {
	return bounds{isolation: isolation, workDir: workDir}.isolate(ctx, env, scenarios)
}

func (b bounds) isolate(ctx context.Context, env environment, scenarios []*scenario.Scenario) (done bool, err error) {
	return b.isolatePrograms(ctx, env, slices.ContainsFunc(scenarios, (*scenario.Scenario).HasPrograms))
}

// isolatePrograms is isolate for a caller that already knows whether there are programs.
func isolatePrograms(ctx context.Context, env environment, isolation, workDir string, programs bool) (done bool, err error) {
	return bounds{isolation: isolation, workDir: workDir}.isolatePrograms(ctx, env, programs)
}

func (b bounds) isolatePrograms(ctx context.Context, env environment, programs bool) (done bool, err error) {
	if (programs || b.isolation == rootless) && b.isolation != string(sim.None) && !namespaces.Entered() {
		options := namespaces.Options{Rootless: b.isolation == rootless}
		if b.network == ownNetwork {
			options.Network = &namespaces.Network{Loopback: b.loopback}
		}
		code, err := namespaces.Again(ctx, options)
		if err == nil {
			return true, env.endedAgain(code, b.workDir)
		}
		if b.isolation == rootless || b.network == ownNetwork {
			return true, &failure{code: exitEnvironment, err: err}
		}
		// The nodes detect this themselves and report it.
	}
	adoptOrphans()
	return false, nil
}

// endedAgain handles the end of the command that was run again. That command has reported
// everything except its own end by a signal.
func (env environment) endedAgain(code int, workDir string) error {
	if code != 128+int(syscall.SIGKILL) {
		return reported(code)
	}
	cleanBefore(env, workDir)
	return &failure{code: code, err: fmt.Errorf("the run was killed")}
}
