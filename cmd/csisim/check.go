package main

import (
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/csisim/csisim/cmd/internal/check"
	"github.com/csisim/csisim/cmd/internal/report"
	"github.com/csisim/csisim/internal/world/namespaces"
)

// checkFlags holds the flags of csisim check.
type checkFlags struct {
	subjectFlags
	upgrade           upgradeFlags
	budget            time.Duration
	deep              depth
	parallel          int
	only              []string
	allowUntried      []string
	print, out        string
	known, writeKnown string
	junit, json       string
	summary           string
	reports           string // a directory
	names             string
	strict            bool
	strategy          string
	seed              uint64
	patience          time.Duration
	waitForDriver     time.Duration
	isolation         string
	rootless          bool
	network           string
	workDir           string
	hostPaths         []string
	keep              bool
	verbose           bool
}

func newCheck(env environment) *cobra.Command {
	var f checkFlags
	command := &cobra.Command{
		Use:   "check [flags] -- DRIVER ARGS... [-- CONTROLLER ARGS...]",
		Short: "Test a driver with the calls and failures that Kubernetes can cause",
		Long: `Test a driver without a scenario: query its capabilities, compose the scenarios that
apply, run them side by side, and print a report card.

DRIVER ARGS starts the driver's plugin on each node and, unless a second -- gives
another command, its controller plugin. ARGS may contain {{.Endpoint}} or {{.Socket}}
for the socket to serve, {{.NodeID}}, {{.NodeName}}, {{.StateDir}} for a directory
that all plugins share, {{.NodeStateDir}} for a directory of each plugin,
{{.KubeletDir}}, {{.Mode}} for node, controller or all, {{.Driver}} for --name,
and {{.AddonsEndpoint}} for a separate socket for CSI-Addons.
--profile selects a well-known driver, --endpoint the socket of a driver that
already runs.

--upgrade-from checks the upgrade from another release instead, and the rollback.

--print prints a scenario, --out writes all of them to files.`,
		Example: `  csisim check -- hostpathplugin --endpoint={{.Endpoint}} --nodeid={{.NodeID}} --statedir={{.NodeStateDir}}
  csisim check --profile hostpath --binary ./hostpathplugin
  csisim check --endpoint unix:///run/csi/csi.sock
  csisim check --upgrade-from './my-driver-v1 --endpoint={{.Endpoint}}' -- ./my-driver --endpoint={{.Endpoint}}
  csisim check --only 'lost/*' --out scenarios -- my-driver --endpoint={{.Endpoint}}`,
		RunE: func(command *cobra.Command, args []string) error {
			strategy, err := chosenStrategy(command, f.strategy)
			if err != nil {
				return err
			}
			f.strategy = strategy
			subject, described, err := f.subject(args, command.ArgsLenAtDash())
			if err != nil {
				return err
			}
			if err := f.check(); err != nil {
				return err
			}
			var old *check.Subject
			if f.upgrade.given() {
				from, err := f.old()
				if err != nil {
					return err
				}
				old = &from
			}
			if !namespaces.Entered() {
				cleanBefore(env, f.workDir)
			}
			if done, err := f.asRun().isolateSubject(command.Context(), env, subject); done {
				return err
			}
			if err := f.chooseNames(command.Flags(), subject); err != nil {
				return err
			}
			release, err := outputFiles{"junit": f.junit, "json": f.json, "summary": f.summary, "write-known": f.writeKnown, "save": f.save}.reserve()
			if err != nil {
				return err
			}
			defer release()
			terminal := report.TerminalOf(env.stdout, env.getenv)
			c := &checking{env: env, flags: f, described: described, terminal: terminal, progress: newProgress(env, terminal), replay: replayOf(command.Flags(), args), release: release}
			return c.run(command.Context(), subject, old)
		},
	}
	flags := command.Flags()
	flags.SortFlags = false
	f.addTo(flags)
	f.upgrade.addTo(flags)
	flags.DurationVar(&f.budget, "budget", time.Minute, "wall time, without waits for the driver, after which no more scenarios start; exit code 3 if some are left")
	flags.Var(&f.deep, "deep", "afterwards search the runs of some scenarios, like csisim explore, for a total `DURATION`, or with a number of runs for each")
	// Half of the time of a scenario is spent waiting for programs.
	flags.IntVar(&f.parallel, "parallel", 2*runtime.NumCPU(), "number of scenarios that run at once; 1 for a driver on a socket or with a shared backend")
	flags.StringSliceVar(&f.only, "only", nil, "run only the scenarios with these names: `NAME,…`, * for any text; may be repeated")
	flags.StringSliceVar(&f.allowUntried, "allow-untried", nil, "pass although some scenarios were not tried: any, or those with these `NAMES`, * for any text")
	flags.Lookup("allow-untried").NoOptDefVal = anyTrial
	flags.StringVar(&f.print, "print", "", "print the scenario with this `NAME` and run nothing")
	flags.StringVar(&f.out, "out", "", "write all scenarios to `DIR`")
	flags.StringVar(&f.junit, "junit", "", "write a JUnit report to `FILE`")
	flags.StringVar(&f.json, "json", "", "write the report card as JSON to `FILE`")
	flags.StringVar(&f.summary, "summary", "", "write a summary in Markdown to `FILE`: the findings as a table")
	flags.StringVar(&f.reports, "report", "", "write pages for a browser to `DIR`: index.html, and a report of each scenario that failed")
	flags.StringVar(&f.names, "names", "", "`TEXT` that distinguishes volume names from those of other checks (default random)")
	flags.BoolVar(&f.strict, "strict", false, "fail on requirements of the CSI spec that nothing in Kubernetes depends on (default a note)")
	flags.StringVar(&f.known, "known", "", "known findings in `FILE` do not fail the check; those that no longer occur are listed")
	flags.StringVar(&f.writeKnown, "write-known", "", "write the findings to `FILE`, for --known; without --known they do not fail this check")
	flags.StringVar(&f.strategy, "strategy", "calm", "order of simultaneous events: `NAME` is calm (always the same) or random (by the seed)")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of the random strategy; implies it")
	flags.DurationVar(&f.patience, "patience", usualPatience, "wall time that virtual time waits for a driver's answer")
	waitFlag(command, &f.waitForDriver)
	isolationFlag(flags, &f.isolation)
	rootlessFlag(flags, &f.isolation, &f.rootless)
	runNetworkFlag(command, &f.network)
	flags.StringVar(&f.workDir, "work-dir", "", "`DIR` for the files of runs (default the system's temporary directory, with --deep memory if they fit)")
	hostPathFlag(command, &f.hostPaths)
	flags.BoolVar(&f.keep, "keep", false, "keep the logs of driver programs")
	flags.BoolVarP(&f.verbose, "verbose", "v", false, "report failures in full; for a single scenario all events")
	complete(command, "strategy", completeStrategies)
	complete(command, "isolation", cobra.FixedCompletions(isolations, cobra.ShellCompDirectiveNoFileComp))
	complete(command, "junit", cobra.FixedCompletions([]string{"xml"}, cobra.ShellCompDirectiveFilterFileExt))
	complete(command, "json", cobra.FixedCompletions([]string{"json"}, cobra.ShellCompDirectiveFilterFileExt))
	complete(command, "summary", cobra.FixedCompletions([]string{"md"}, cobra.ShellCompDirectiveFilterFileExt))
	for _, flag := range []string{"known", "write-known"} {
		complete(command, flag, cobra.FixedCompletions([]string{"yaml"}, cobra.ShellCompDirectiveFilterFileExt))
	}
	for _, flag := range []string{"work-dir", "out", "report"} {
		complete(command, flag, cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs))
	}
	for _, flag := range []string{"only", "allow-untried", "print"} {
		complete(command, flag, completeTrials)
	}
	for _, flag := range []string{"budget", "deep", "parallel", "seed", "patience"} {
		complete(command, flag, cobra.NoFileCompletions)
	}
	return command
}

// completeTrials completes the groups of trials; the trials in a group depend on the driver.
func completeTrials(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	var words []string
	for _, group := range check.Groups() {
		words = append(words, group.Name+"/*\t"+group.Title)
	}
	return words, cobra.ShellCompDirectiveNoFileComp
}

func (f *checkFlags) check() error {
	switch {
	case f.budget <= 0:
		return usage("--budget %v: it must be more than 0", f.budget)
	case f.parallel < 1:
		return usage("--parallel %d: it must be at least 1", f.parallel)
	}
	return f.asRun().check()
}
