package main

import (
	"slices"

	"github.com/spf13/cobra"
)

// upFlags holds the flags of csisim up.
type upFlags struct {
	file, kubeconfig, name string
	port                   int
	speed                  float64
	isolation, workDir     string
	hostPaths              []string
	unmapped               string
	pull                   bool
	authorization          string
	network                string
}

func (f *upFlags) bind(command *cobra.Command) {
	flags := command.Flags()
	flags.SortFlags = false
	flags.StringVarP(&f.file, "file", "f", "", "scenario `FILE` with the cluster, its drivers and its first objects (default two nodes and a driver in memory)")
	flags.StringVar(&f.kubeconfig, "kubeconfig", "", "add the cluster to the kubeconfig `FILE` (default the one that kubectl uses)")
	nameFlag(flags, &f.name)
	flags.IntVar(&f.port, "port", 0, "`PORT` of the API and the page on loopback (default a free one)")
	flags.Float64Var(&f.speed, "speed", 1, "speed of the cluster's clock, relative to the real clock")
	isolationFlag(flags, &f.isolation)
	flags.StringVar(&f.workDir, "work-dir", "", "`DIR` for the files of the cluster (default the system's temporary directory)")
	hostPathFlag(command, &f.hostPaths)
	flags.StringVar(&f.unmapped, "unmapped", record, "containers of images that the file does not map: `MODE` is record (they run nothing) or refuse (their images cannot be pulled)")
	flags.BoolVar(&f.pull, "pull", false, "fetch images that the file does not map from their registries, with docker's credentials; they are kept in the user's cache")
	complete(command, "unmapped", cobra.FixedCompletions(unmappedModes, cobra.ShellCompDirectiveNoFileComp))
	flags.StringVar(&f.authorization, "authorization", alwaysAllow, "authorization of requests: `MODE` is none (all requests are allowed) or rbac (Node,RBAC with NodeRestriction)")
	complete(command, "authorization", cobra.FixedCompletions(authorizations, cobra.ShellCompDirectiveNoFileComp))
	networkFlag(flags, &f.network)
	complete(command, "network", cobra.FixedCompletions(networkModes, cobra.ShellCompDirectiveNoFileComp))
	complete(command, "isolation", cobra.FixedCompletions(isolations, cobra.ShellCompDirectiveNoFileComp))
	complete(command, "file", completeScenarios)
	for _, flag := range []string{"name", "port", "speed"} {
		complete(command, flag, cobra.NoFileCompletions)
	}
}

func (f *upFlags) check(command *cobra.Command) error {
	if f.speed <= 0 {
		return usage("--speed %v: it must be more than 0", f.speed)
	}
	if !slices.Contains(unmappedModes, f.unmapped) {
		return usage("%w", unknown("mode of --unmapped", f.unmapped, unmappedModes))
	}
	if f.pull && command.Flags().Changed("unmapped") {
		return usage("--pull and --unmapped: an image that the file does not map is either fetched or not: leave one out")
	}
	if !slices.Contains(authorizations, f.authorization) {
		return usage("%w", unknown("mode of --authorization", f.authorization, authorizations))
	}
	if !slices.Contains(networkModes, f.network) {
		return usage("%w", unknown("mode of --network", f.network, networkModes))
	}
	if err := checkName(f.name); err != nil {
		return err
	}
	if err := checkIsolation(f.isolation); err != nil {
		return err
	}
	return checkHostPaths(f.hostPaths)
}
