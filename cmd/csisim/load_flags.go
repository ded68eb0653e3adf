package main

import (
	"strings"
	"time"

	"github.com/google/shlex"
	"github.com/spf13/cobra"

	"github.com/csisim/csisim/cmd/internal/check"
	loadreport "github.com/csisim/csisim/cmd/internal/load"
	"github.com/csisim/csisim/internal/load"
	"github.com/csisim/csisim/sim"
)

// loadFlags holds the flags of csisim load.
type loadFlags struct {
	subjectFlags
	shardFlags
	shape       string
	volumes     []int
	nodes       int
	podsPerNode int
	runs        int
	clock       string
	duration    time.Duration
	rate        float64
	latencies   []string
	sidecars    []string
	limit       time.Duration
	failIf      []string
	baseline    string
	against     string
	json        string
	junit       string
	summary     string
	report      string
	isolation   string
	rootless    bool
	network     string
	workDir     string
	hostPaths   []string
}

func (f *loadFlags) addTo(command *cobra.Command) {
	flags := command.Flags()
	flags.SortFlags = false
	f.subjectFlags.addTo(flags)
	flags.StringVar(&f.shape, "shape", string(load.Burst), "course of the load: `SHAPE` is burst (all at once), ramp, churn, move (a node is drained), restart (of kubelets and driver), snapshot, expand or block")
	flags.IntSliceVar(&f.volumes, "volumes", []int{1, 10, 100}, "levels of the load: `N,…` volumes")
	flags.IntVar(&f.nodes, "nodes", 0, "nodes of the cluster (default one for each 100 volumes of the largest level)")
	flags.IntVar(&f.podsPerNode, "pods-per-node", 0, "largest number of pods per node, at the largest level; determines the nodes instead of --nodes")
	flags.IntVar(&f.runs, "runs", 0, "number of times that each level is played, with fresh volumes in the same cluster (default 3; 6 with --against or --baseline)")
	flags.StringVar(&f.clock, "clock", string(load.Virtual), "`CLOCK` is virtual (waits of Kubernetes take no real time) or real")
	flags.DurationVar(&f.duration, "duration", 0, "cluster time of a ramp or a churn (default 1m)")
	flags.Float64Var(&f.rate, "rate", 0, "number of volumes that a churn replaces per second (default 1)")
	flags.StringArrayVar(&f.latencies, "latency", nil, "let a call take longer in cluster time: `CALL=TIME`, such as CreateVolume=2s±20%; may be repeated")
	flags.StringArrayVar(&f.sidecars, "sidecar", nil, "flags of a sidecar in `YAML`, as in a scenario, such as 'csi-provisioner: {kubeAPIQPS: 50}'; may be repeated")
	flags.DurationVar(&f.limit, "limit", 2*time.Hour, "cluster time in which a phase must end")
	flags.StringArrayVar(&f.failIf, "fail-if", nil, "fail if this `CONDITION` in CEL holds, such as 'growth(NodePublishVolume) > 1.2'; may be repeated")
	flags.StringVar(&f.baseline, "baseline", "", "compare with the result in `FILE`, written by --json")
	flags.StringVar(&f.against, "against", "", "compare with the build that `COMMAND` starts; its runs alternate with those of the driver. COMMAND is quoted as in a shell")
	flags.StringVar(&f.json, "json", "", "write the result as JSON to `FILE`, for --baseline")
	flags.StringVar(&f.junit, "junit", "", "write a JUnit report to `FILE`")
	flags.StringVar(&f.summary, "summary", "", "write a summary in Markdown to `FILE`")
	flags.StringVar(&f.report, "report", "", "write the curves as a page for a browser to `FILE`")
	f.shardFlags.addTo(flags)
	isolationFlag(flags, &f.isolation)
	rootlessFlag(flags, &f.isolation, &f.rootless)
	runNetworkFlag(command, &f.network)
	flags.StringVar(&f.workDir, "work-dir", "", "`DIR` for the files of runs (default the system's temporary directory)")
	hostPathFlag(command, &f.hostPaths)
	var shapes []string
	for _, s := range load.Shapes {
		shapes = append(shapes, string(s))
	}
	complete(command, "shape", cobra.FixedCompletions(shapes, cobra.ShellCompDirectiveNoFileComp))
	complete(command, "clock", cobra.FixedCompletions([]string{"virtual", "real"}, cobra.ShellCompDirectiveNoFileComp))
	complete(command, "isolation", cobra.FixedCompletions(isolations, cobra.ShellCompDirectiveNoFileComp))
	for _, flag := range []string{"json", "baseline"} {
		complete(command, flag, cobra.FixedCompletions([]string{"json"}, cobra.ShellCompDirectiveFilterFileExt))
	}
	complete(command, "work-dir", cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs))
}

// plan returns the load that the flags describe.
// asRun returns the flags that commands of runs share.
func (f *loadFlags) asRun() runFlags {
	return runFlags{patience: usualPatience, isolation: f.isolation, rootless: f.rootless, network: f.network, workDir: f.workDir, hostPaths: f.hostPaths}
}

func (f *loadFlags) plan() (load.Plan, error) {
	plan := load.Plan{
		Shape: load.Shape(f.shape), Volumes: f.volumes, Nodes: f.nodes, Runs: f.runs, Clock: load.Clock(f.clock),
		Duration: f.duration, Rate: f.rate, Sidecars: f.sidecars, Limit: f.limit, Latencies: map[string]string{},
	}
	if f.podsPerNode < 0 || f.podsPerNode > 0 && f.nodes > 0 {
		return plan, usage("--pods-per-node %d: a number from 1, without --nodes", f.podsPerNode)
	}
	for _, given := range f.latencies {
		call, text, ok := strings.Cut(given, "=")
		if !ok || call == "" {
			return plan, usage("--latency %s: want CALL=TIME, such as CreateVolume=2s±20%%", given)
		}
		if !load.Changes(call) {
			return plan, usage("--latency %s: %w", given, unknown("call", call, load.Kinds))
		}
		if _, err := sim.ParseLatency(text); err != nil {
			return plan, usage("--latency %s: %w", given, err)
		}
		plan.Latencies[call] = text
	}
	for _, condition := range f.failIf {
		if err := loadreport.CheckCondition(condition); err != nil {
			return plan, usage("--fail-if %s: %w", condition, err)
		}
		if strings.Contains(condition, "slower") && f.baseline == "" && f.against == "" {
			return plan, usage("--fail-if %s: it needs --baseline or --against", condition)
		}
	}
	if plan.Runs == 0 && (f.baseline != "" || f.against != "") {
		plan.Runs = comparedRuns
	}
	plan = plan.WithDefaults()
	if f.podsPerNode > 0 {
		most := plan.Volumes[len(plan.Volumes)-1]
		plan.Nodes = (most + f.podsPerNode - 1) / f.podsPerNode
	}
	if err := plan.Check(); err != nil {
		return plan, usage("%w", err)
	}
	if f.shard == "" {
		return plan, nil
	}
	index, shards, err := shardOf(f.shard)
	if err != nil {
		return plan, err
	}
	return plan.Share(index, shards), nil
}

// comparedRuns is the number of runs of each build that suffices to compare a dozen calls.
const comparedRuns = 6

// other returns the other build of the comparison; nil without --against. All other flags apply to
// both.
func (f *loadFlags) other() (*check.Subject, error) {
	if f.against == "" {
		return nil, nil
	}
	if f.endpoint != "" || f.baseline != "" {
		return nil, usage("--against and --endpoint or --baseline: csisim starts both builds")
	}
	args, err := shlex.Split(f.against)
	if err != nil || len(args) == 0 {
		return nil, usage("--against %q: want a command with its arguments, quoted as in a shell", f.against)
	}
	own := f.subjectFlags
	own.profile, own.binary, own.save = "", "", ""
	other, _, err := own.subject(args, 0)
	if err != nil {
		return nil, usage("--against: %w", err)
	}
	return &other, nil
}

// readBaseline reads the result of --baseline; nil without it.
func (f *loadFlags) readBaseline(plan load.Plan) (*load.Result, error) {
	if f.baseline == "" {
		return nil, nil
	}
	baseline, err := readResult(f.baseline)
	if err == nil {
		err = loadreport.Comparable(baseline.Plan, plan)
	}
	if err != nil {
		return nil, usage("--baseline %s: %w", f.baseline, err)
	}
	return baseline, nil
}
