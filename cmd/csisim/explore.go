package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/csisim/csisim/cmd/internal/explore"
	"github.com/csisim/csisim/cmd/internal/report"
	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/drivers/fault"
	exploration "github.com/csisim/csisim/internal/explore"
)

// exploreFlags holds the flags of csisim explore.
type exploreFlags struct {
	runs       int
	time       time.Duration
	seed       uint64
	strategy   string
	faults     []string
	budget     int
	deviations int
	jobs       int
	out        string
	reports    string // a directory
	corpus     string
	shard      string
	merge      string
	index      int // index of this shard, and the number of all shards
	shards     int
	job        int
	image      string
	programFlags
}

// programFlags apply to runs with driver programs.
type programFlags struct {
	isolation     string
	rootless      bool
	network       string
	workDir       string
	waitForDriver time.Duration
}

func (f *programFlags) addTo(command *cobra.Command) {
	isolationFlag(command.Flags(), &f.isolation)
	rootlessFlag(command.Flags(), &f.isolation, &f.rootless)
	runNetworkFlag(command, &f.network)
	command.Flags().StringVar(&f.workDir, "work-dir", "", "`DIR` for the files of runs (default memory if they fit, otherwise the system's temporary directory)")
	waitFlag(command, &f.waitForDriver)
	complete(command, "isolation", cobra.FixedCompletions(isolations, cobra.ShellCompDirectiveNoFileComp))
	complete(command, "work-dir", cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs))
}

// ofRuns converts the flags to the flags of csisim run.
func (f *programFlags) ofRuns() runFlags {
	return runFlags{isolation: f.isolation, rootless: f.rootless, network: f.network, workDir: f.workDir, patience: usualPatience, waitForDriver: f.waitForDriver}
}

// usualTime is the time limit of a search without another limit.
const usualTime = time.Minute

func newExplore(env environment) *cobra.Command {
	var f exploreFlags
	command := &cobra.Command{
		Use:   "explore FILE...",
		Short: "Search the runs of scenarios for one that fails",
		Long: `Search the runs of scenarios, under other orders and with faults, for one that fails.

A scenario runs calmly first, then with one seed after the other. A failing run is
shrunk to the few decisions that cause the failure, and written to a file
NAME.csisim.yaml, which csisim replay runs again. Ctrl-C ends the search and reports
the findings so far.`,
		Example: `  csisim explore scenarios/explore/lifecycle.yaml
  csisim explore scenarios/explore --runs 1000 --faults lost,repeat
  csisim replay lifecycle-createvolume-is-not-idempotent-8618ff.csisim.yaml`,
		ValidArgsFunction: completeScenarios,
		Args: func(command *cobra.Command, args []string) error {
			if command.Flags().Changed("merge") {
				if len(args) > 0 {
					return usage("--merge and %s: it reads the results of shards, and searches no scenario", args[0])
				}
				return nil
			}
			return needs("a scenario FILE")(command, args)
		},
		RunE: func(command *cobra.Command, args []string) error {
			if f.merge != "" {
				return showMergedSearch(env, f.merge)
			}
			if err := f.check(command); err != nil {
				return err
			}
			return exploreAll(command.Context(), env, f, args)
		},
	}
	flags := command.Flags()
	flags.SortFlags = false
	flags.IntVar(&f.runs, "runs", 0, "end after `N` runs of each scenario (default no limit)")
	flags.DurationVar(&f.time, "time", 0, "end after this wall time, which scenarios share equally (default 1m, with --runs no limit)")
	flags.Uint64Var(&f.seed, "seed", 1, "seed of the first run; the next ones follow")
	flags.StringVar(&f.strategy, "strategy", exploration.Strategies()[0], "`NAME` of the strategy: pct, priorities that change at a few points; guided, faults added to runs that showed something new; swarm, pct with half of the faults; random, every decision drawn; or exhaustive, every run within --budget and --deviations")
	flags.StringSliceVar(&f.faults, "faults", namesOf(fault.Usual()), "faults of driver calls, writes, programs and nodes: `KIND,…` of "+explore.KindNames()+", or none")
	flags.IntVar(&f.budget, "budget", usualBudget, "largest number of faults in a run")
	flags.IntVar(&f.deviations, "deviations", 1, "with --strategy exhaustive: largest number of decisions of a run, besides faults, that are not calm")
	flags.IntVar(&f.jobs, "jobs", 0, "`N` runs at once (default one for each processor, two with driver programs)")
	flags.StringVar(&f.out, "out", ".", "`DIR` into which findings are written")
	flags.StringVar(&f.reports, "report", "", "write pages for a browser to `DIR`: index.html, and a report of each finding")
	flags.StringVar(&f.corpus, "corpus", "", "`DIR` that stores the progress: searches with the same flags continue from there")
	flags.StringVar(&f.shard, "shard", "0/1", "make every n-th run, starting with the i-th, as `i/n` (i counts from 0), to share a search among n machines")
	flags.IntVar(&f.job, "job", 0, "only print the manifests of a Kubernetes Job that makes the search in `N` shards")
	flags.StringVar(&f.merge, "merge", "", "search nothing: gather the corpora and the findings of all shards in `DIR` into one report")
	flags.StringVar(&f.image, "image", usualImage, "image of the containers of --job")
	f.programFlags.addTo(command)
	complete(command, "image", cobra.NoFileCompletions)
	complete(command, "corpus", cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs))
	complete(command, "strategy", cobra.FixedCompletions(exploration.Strategies(), cobra.ShellCompDirectiveNoFileComp))
	complete(command, "faults", cobra.FixedCompletions(append(kindNames(), noFaults), cobra.ShellCompDirectiveNoFileComp))
	complete(command, "out", cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs))
	complete(command, "report", cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs))
	for _, flag := range []string{"runs", "time", "seed", "budget", "deviations", "jobs", "shard", "job"} {
		complete(command, flag, cobra.NoFileCompletions)
	}
	return command
}

// noFaults selects a search that varies orders only.
const noFaults = "none"

func kindNames() []string { return namesOf(fault.Kinds()) }

func namesOf(kinds []fault.Kind) []string {
	var names []string
	for _, k := range kinds {
		names = append(names, string(k))
	}
	return names
}

func (f *exploreFlags) check(command *cobra.Command) error {
	given := command.Flags().Changed
	switch {
	case !slices.Contains(exploration.Strategies(), f.strategy):
		return usage("%w", unknown("strategy", f.strategy, exploration.Strategies()))
	case f.runs < 0 || given("runs") && f.runs == 0:
		return usage("--runs %d: it must be at least 1", f.runs)
	case f.time < 0 || given("time") && f.time == 0:
		return usage("--time %v: it must be more than 0", f.time)
	case given("jobs") && f.jobs < 1:
		return usage("--jobs %d: it must be at least 1", f.jobs)
	case f.job < 0 || given("job") && f.job == 0:
		return usage("--job %d: it must be at least 1", f.job)
	case given("job") && (given("shard") || given("corpus") || given("out") || given("report")):
		return usage("--job: its shards have --shard, --corpus and --out of their own, and write no reports")
	case given("image") && !given("job"):
		return usage("--image is for --job")
	case f.budget < 0:
		return usage("--budget %d: it must not be negative", f.budget)
	case f.budget == 0 && given("faults") && !slices.Equal(f.faults, []string{noFaults}):
		return usage("--faults %s with --budget 0: no fault may happen; give a budget of 1 or more, or --faults %s to search orders alone", strings.Join(f.faults, ","), noFaults)
	case f.deviations < 0:
		return usage("--deviations %d: it must not be negative", f.deviations)
	case f.strategy != exploration.Exhaustive && given("deviations"):
		return usage("--deviations is for --strategy %s", exploration.Exhaustive)
	case f.strategy == exploration.Exhaustive && (given("shard") || given("corpus") || given("job")):
		return usage("--strategy %s makes every run in one search: it takes no --shard, --corpus or --job", exploration.Exhaustive)
	}
	if err := f.checkFaults(); err != nil {
		return err
	}
	if f.time == 0 && f.runs == 0 {
		f.time = usualTime
	}
	if err := f.ofRuns().check(); err != nil {
		return err
	}
	return f.readShard()
}

// makeDirectories creates the directories for the output, if they do not exist.
func (f *exploreFlags) makeDirectories() error {
	for _, dir := range [][2]string{{"out", f.out}, {"report", f.reports}, {"corpus", f.corpus}} {
		if dir[1] == "" {
			continue
		}
		if err := os.MkdirAll(dir[1], 0o755); err != nil {
			return usage("--%s %s: it must be a directory: %w", dir[0], dir[1], reason(err))
		}
	}
	return nil
}

// checkFaults rejects contradictory values of --faults.
func (f *exploreFlags) checkFaults() error {
	switch {
	case len(f.faults) == 0:
		return usage("--faults is empty: give one or more of %s, or %s to search orders alone", explore.KindNames(), noFaults)
	case len(f.faults) == 1 && f.faults[0] == noFaults:
		f.faults = nil
	case slices.Contains(f.faults, noFaults):
		return usage("--faults %s: %s stands alone", strings.Join(f.faults, ","), noFaults)
	}
	for _, name := range f.faults {
		if !slices.Contains(kindNames(), name) {
			return usage("%w", unknown("fault", name, append(kindNames(), noFaults)))
		}
	}
	return nil
}

// jobsOf returns the number of simultaneous runs of a scenario. A run with driver programs spends
// half of its time waiting for them.
func (f *exploreFlags) jobsOf(s *scenario.Scenario) int {
	switch {
	case f.jobs > 0:
		return f.jobs
	case slices.ContainsFunc(s.Drivers, func(d scenario.Driver) bool { return d.Mock == nil }):
		return 2 * runtime.NumCPU()
	}
	return runtime.NumCPU()
}

// readShard parses the flag of the shard.
func (f *exploreFlags) readShard() (err error) {
	f.index, f.shards, err = shardOf(f.shard)
	return err
}

func (f *exploreFlags) space() fault.Space {
	s := fault.Space{Budget: f.budget}
	for _, k := range fault.Kinds() {
		if slices.Contains(f.faults, string(k)) {
			s.Kinds = append(s.Kinds, k)
		}
	}
	return s
}

// exploreAll searches scenarios one after the other.
func exploreAll(ctx context.Context, env environment, f exploreFlags, args []string) error {
	defer env.tuneSearch()()
	files, err := scenarioFiles(args)
	if err != nil {
		return err
	}
	scenarios, err := loadScenarios(env, files)
	if err != nil {
		return err
	}
	for _, s := range scenarios {
		if slices.ContainsFunc(s.Drivers, func(d scenario.Driver) bool { return d.Socket != nil }) {
			return usage("%s: a search takes a fresh driver for every run, and one that serves at a socket already is none; give its program", s.File)
		}
		if slices.Contains(f.faults, string(fault.Upgrades)) && !slices.ContainsFunc(s.Drivers, func(d scenario.Driver) bool { return len(d.Versions) > 0 }) {
			return usage("%s: --faults upgrade: no driver has versions; want versions of a driver program beside the release that is installed first", s.File)
		}
		if s.Lives() {
			return usage("%s: external sidecars and programs in containers take the real clock: use csisim up -f %s", s.File, s.File)
		}
	}
	if f.job > 0 {
		return f.writeJob(env, scenarios, f.image)
	}
	if err := f.makeDirectories(); err != nil {
		return err
	}
	if done, err := f.ofRuns().isolate(ctx, env, scenarios); done {
		return err
	}
	f.time /= time.Duration(len(scenarios))
	x := &exploring{env: env, flags: f, progress: newProgress(env, report.TerminalOf(env.stdout, env.getenv))}
	for _, s := range scenarios {
		if ctx.Err() != nil {
			break
		}
		if err := x.search(ctx, s); err != nil {
			return err
		}
	}
	if err := x.writeIndex(ctx); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return wasInterrupted(ctx)
	}
	return reported(x.code)
}

// keepFinding writes the file of a finding and returns its name.
func keepFinding(s *explore.Search, f *explore.Finding, dir string) (string, error) {
	file, err := s.FileOf(f, dir)
	if err != nil {
		return "", err
	}
	text, err := file.Marshal()
	if err != nil {
		return "", fmt.Errorf("write finding: %w", err)
	}
	name := filepath.Join(dir, s.NameOf(f))
	if err := os.WriteFile(name, text, 0o666); err != nil {
		return "", &failure{code: exitEnvironment, err: fmt.Errorf("write finding: %w", err)}
	}
	return name, nil
}
