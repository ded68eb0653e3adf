package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/csisim/csisim/internal/driver/unfinished"
	"github.com/csisim/csisim/internal/world/namespaces"
)

// runFlags holds the flags of csisim run.
type runFlags struct {
	strategy         string
	only             []string
	seed             uint64
	parallel         int
	trace            string
	report           string
	blame            string // the party responsible for a finding, for its report
	junit, json      string
	until            string
	patience         time.Duration
	waitForDriver    time.Duration
	isolation        string
	rootless         bool
	network          string
	workDir          string
	hostPaths        []string
	strict           bool
	systemCalls      bool
	keep             bool
	checkDeterminism bool
	verbose          int
	onFlags
}

// usualPatience is the default wall time for which virtual time stops to wait for a driver.
const usualPatience = 2 * time.Second

func newRun(env environment) *cobra.Command {
	var f runFlags
	command := &cobra.Command{
		Use:   "run FILE...",
		Short: "Run scenarios",
		Long: `Run scenarios: files, directories with all scenarios in and below them, or patterns.

A run only depends on the scenario, the strategy and the seed: the replay command of
a failure repeats the same run.`,
		Example: `  csisim run scenarios/rwo-filesystem.yaml -v
  csisim run scenarios --parallel 4 --junit report.xml
  csisim run scenarios/rwo-filesystem.yaml --strategy random --seed 7 --trace mine.jsonl`,
		Args:              needs("a scenario FILE"),
		ValidArgsFunction: completeScenarios,
		RunE: func(command *cobra.Command, args []string) error {
			strategy, err := chosenStrategy(command, f.strategy)
			if err != nil {
				return err
			}
			f.strategy = strategy
			if err := f.check(); err != nil {
				return err
			}
			if f.parallel < 1 {
				return usage("--parallel %d: it must be at least 1", f.parallel)
			}
			return run(command.Context(), env, f, args)
		},
	}
	flags := command.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.strategy, "strategy", "calm", "order of simultaneous events: `NAME` is calm (always the same) or random (by the seed)")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of the random strategy; implies it")
	flags.StringSliceVar(&f.only, "only", nil, "run only the scenarios with these names: `NAME,…`, * for any text")
	flags.StringVar(&f.until, "until", "", "stop after a step, by `NAME` or number")
	flags.StringVar(&f.trace, "trace", "", "write the trace as JSON Lines to `FILE`; for several scenarios a directory, or the end of each file's name")
	reportFlag(command, &f.report)
	flags.StringVar(&f.junit, "junit", "", "write a JUnit report to `FILE`")
	flags.StringVar(&f.json, "json", "", "write the results as JSON to `FILE`")
	flags.IntVar(&f.parallel, "parallel", 1, "number of scenarios that run at once; the output keeps their order. Scenarios with a driver on a socket run one at a time; with --on, scenarios that affect nodes do, too")
	flags.CountVarP(&f.verbose, "verbose", "v", "print the events since the first step; -vv prints all since the start of the cluster")
	flags.DurationVar(&f.patience, "patience", usualPatience, "wall time that virtual time waits for a driver's answer")
	waitFlag(command, &f.waitForDriver)
	isolationFlag(flags, &f.isolation)
	rootlessFlag(flags, &f.isolation, &f.rootless)
	runNetworkFlag(command, &f.network)
	flags.StringVar(&f.workDir, "work-dir", "", "`DIR` for the files of runs (default the system's temporary directory)")
	hostPathFlag(command, &f.hostPaths)
	flags.BoolVar(&f.strict, "strict", false, "fail on requirements of the CSI spec that nothing in Kubernetes depends on (default a note)")
	flags.BoolVar(&f.systemCalls, "system-calls", false, "record the system calls by which driver programs and their child processes change files: -v shows them")
	flags.BoolVar(&f.keep, "keep", false, "keep the logs of driver programs and, with --on kind, the cluster")
	flags.BoolVar(&f.checkDeterminism, "check-determinism", false, "run each scenario twice and report the first difference, of csisim or of a driver's answer")
	f.onFlags.add(command)
	complete(command, "strategy", completeStrategies)
	complete(command, "isolation", cobra.FixedCompletions(isolations, cobra.ShellCompDirectiveNoFileComp))
	complete(command, "trace", cobra.FixedCompletions([]string{"jsonl"}, cobra.ShellCompDirectiveFilterFileExt))
	complete(command, "junit", cobra.FixedCompletions([]string{"xml"}, cobra.ShellCompDirectiveFilterFileExt))
	complete(command, "json", cobra.FixedCompletions([]string{"json"}, cobra.ShellCompDirectiveFilterFileExt))
	complete(command, "work-dir", cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs))
	complete(command, "only", completeNames)
	complete(command, "until", completeUntil)
	for _, flag := range []string{"seed", "patience", "parallel"} {
		complete(command, flag, cobra.NoFileCompletions)
	}
	return command
}

// complete sets the completions that the shell offers for a flag.
func complete(command *cobra.Command, flag string, words cobra.CompletionFunc) {
	if err := command.RegisterFlagCompletionFunc(flag, words); err != nil {
		panic(err) // the flag does not exist: a bug in this package
	}
}

// waitFlag adds the flag that sets how long virtual time waits for drivers that work outside the
// calls.
func waitFlag(command *cobra.Command, wait *time.Duration) {
	command.Flags().DurationVar(wait, "wait-for-driver", unfinished.Default, "wall time that virtual time waits for unfinished work of a driver; 0 for none")
	complete(command, "wait-for-driver", cobra.NoFileCompletions)
}

// waitOf converts the value of the flag to the value in options, where 0 means the default.
func waitOf(flag time.Duration) time.Duration {
	if flag == 0 {
		return -1
	}
	return flag
}

func (f runFlags) check() error {
	if err := checkIsolation(f.isolation); err != nil {
		return err
	}
	if f.patience <= 0 {
		return usage("--patience %v: it must be more than 0", f.patience)
	}
	if f.waitForDriver < 0 {
		return usage("--wait-for-driver %v: it must not be negative", f.waitForDriver)
	}
	if _, err := f.driverNetwork(); err != nil {
		return err
	}
	return checkHostPaths(f.hostPaths)
}

// run cleans up after killed runs, loads all scenarios, and runs them if none has a mistake.
func run(ctx context.Context, env environment, f runFlags, args []string) error {
	go prepareMessages()
	reading := interruptible(ctx)
	files, err := scenarioFiles(args)
	if err != nil {
		return err
	}
	if !namespaces.Entered() {
		cleanBefore(env, f.workDir)
	}
	scenarios, err := loadScenarios(env, files)
	if err == nil {
		scenarios, err = chosenScenarios(scenarios, f.only)
	}
	if err != nil {
		return err
	}
	reading()
	for _, s := range scenarios {
		if s.Lives() {
			return usage("%s: external sidecars and programs in containers take the real clock and an API: use csisim up -f %s", s.File, s.File)
		}
	}
	if f.plan && f.on == "" {
		return usage("--plan describes a run on a real cluster: --on kind is missing")
	}
	if f.on != "" {
		return runOn(ctx, env, f, scenarios)
	}
	if done, err := f.isolate(ctx, env, scenarios); done {
		return err
	}
	release, err := outputFiles{"junit": f.junit, "json": f.json}.reserve()
	if err != nil {
		return err
	}
	defer release()
	defer endsSoon(ctx, env, scenarios, release)()
	s := newSession(env, f, scenarios)
	s.runAll(ctx, scenarios)
	defer endsSoon(ctx, env, nil, release)() // only reports are left to write
	return s.end(ctx)
}
