package main

import (
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/csisim/csisim/cmd/internal/live"
)

// upFlags holds the flags of csisim up.
type upFlags struct {
	file string
	live.Options
}

func (f *upFlags) bind(command *cobra.Command) {
	flags := command.Flags()
	flags.SortFlags = false
	flags.StringVarP(&f.file, "file", "f", "", "scenario `FILE` with the cluster, its drivers and its first objects (default two nodes and a driver in memory)")
	flags.StringVar(&f.Kubeconfig, "kubeconfig", "", "add the cluster to the kubeconfig `FILE` (default the one that kubectl uses)")
	nameFlag(flags, &f.Name)
	flags.IntVar(&f.Port, "port", 0, "`PORT` of the API and the page on loopback (default a free one)")
	flags.Float64Var(&f.Speed, "speed", 1, "speed of the cluster's clock, relative to the real clock")
	isolationFlag(flags, &f.Isolation)
	flags.StringVar(&f.WorkDir, "work-dir", "", "`DIR` for the files of the cluster (default the system's temporary directory)")
	flags.StringVar(&f.State, "state", "", "keep objects and volumes in `DIR`, and continue from there the next time")
	hostPathFlag(command, &f.HostPaths)
	flags.StringVar(&f.Unmapped, "unmapped", live.Record, "handling of containers with images that the file does not map: `MODE` is record (they run no program) or refuse (their images cannot be pulled)")
	flags.BoolVar(&f.Pull, "pull", false, "fetch images that the file does not map from their registries, with docker's credentials; they are kept in the user's cache")
	complete(command, "unmapped", cobra.FixedCompletions(live.UnmappedModes, cobra.ShellCompDirectiveNoFileComp))
	flags.StringVar(&f.Authorization, "authorization", live.AlwaysAllow, "authorization of requests: `MODE` is none (all requests are allowed) or rbac (Node,RBAC with NodeRestriction)")
	complete(command, "authorization", cobra.FixedCompletions(live.Authorizations, cobra.ShellCompDirectiveNoFileComp))
	flags.StringVar(&f.Network, "network", live.AutoNetwork,
		"network of containers that are programs: `MODE` is cluster (each node and each pod has a separate one), host (all share the network of this machine) or auto (cluster, where this machine permits it)")
	complete(command, "network", cobra.FixedCompletions(live.NetworkModes, cobra.ShellCompDirectiveNoFileComp))
	complete(command, "isolation", cobra.FixedCompletions(isolations, cobra.ShellCompDirectiveNoFileComp))
	complete(command, "file", completeScenarios)
	for _, flag := range []string{"name", "port", "speed"} {
		complete(command, flag, cobra.NoFileCompletions)
	}
}

func (f *upFlags) check(command *cobra.Command) error {
	if f.Speed <= 0 {
		return usage("--speed %v: it must be more than 0", f.Speed)
	}
	if f.State != "" && f.WorkDir != "" {
		return usage("--state and --work-dir: the files of the cluster are in the directory of --state: leave one out")
	}
	if !slices.Contains(live.UnmappedModes, f.Unmapped) {
		return usage("%w", unknown("mode of --unmapped", f.Unmapped, live.UnmappedModes))
	}
	if f.Pull && command.Flags().Changed("unmapped") {
		return usage("--pull and --unmapped: an image that the file does not map is either fetched or not: leave one out")
	}
	if !slices.Contains(live.Authorizations, f.Authorization) {
		return usage("%w", unknown("mode of --authorization", f.Authorization, live.Authorizations))
	}
	if !slices.Contains(live.NetworkModes, f.Network) {
		return usage("%w", unknown("mode of --network", f.Network, live.NetworkModes))
	}
	if err := checkName(f.Name); err != nil {
		return err
	}
	if err := checkIsolation(f.Isolation); err != nil {
		return err
	}
	return checkHostPaths(f.HostPaths)
}

// nameFlag adds the flag of all commands about live clusters.
func nameFlag(flags *pflag.FlagSet, name *string) {
	flags.StringVar(name, "name", "csisim", "`NAME` of the cluster and its context")
}

func checkName(name string) error {
	if mistakes := validation.IsDNS1123Label(name); len(mistakes) > 0 {
		return usage("--name %q: %s", name, mistakes[0])
	}
	return nil
}
