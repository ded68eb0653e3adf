package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/csisim/csisim/cmd/internal/comparison"
	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/driver/unfinished"
	"github.com/csisim/csisim/internal/real/promotion"
	"github.com/csisim/csisim/internal/world/plural"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/internal/world/workdir"
	"github.com/csisim/csisim/sim"
)

// compareFlags holds the flags of csisim compare.
type compareFlags struct {
	onFlags
	times                   int
	traces, report, workDir string
	keep, all               bool
}

func newCompare(env environment) *cobra.Command {
	var f compareFlags
	command := &cobra.Command{
		Use:   "compare FILE --on CLUSTER",
		Short: "Compare the simulation of a scenario with runs on a real cluster",
		Long: `Simulate a scenario, run it on a real cluster, and compare the traces on all levels,
as csisim diff does. A difference that two real runs also have is noise. A difference
between the simulation and all real runs is a mistake of the simulation.

Exit codes: 0 all runs passed and the simulation equals them, except for noise;
1 it differs, or a run failed; 2 bad input; 3 the cluster cannot run it.`,
		Example: `  csisim compare scenarios/rwo-filesystem.yaml --on kind --times 2
  csisim compare scenarios/stage-errors.yaml --on kind:mine --report difference.md`,
		Args: cobra.MatchAll(needs("a scenario FILE"), atMost(1)),
		RunE: func(command *cobra.Command, args []string) error {
			switch {
			case f.on == "":
				return usage("csisim compare needs --on: kind, kind:NAME, or PATH[@CONTEXT] of a kubeconfig")
			case f.times < 1:
				return usage("--times %d: it must be at least 1", f.times)
			case f.report != "" && filepath.Ext(f.report) != ".md" && filepath.Ext(f.report) != ".html":
				return usage("--report %s: it must end in .md or .html", f.report)
			}
			return compareWithReal(command.Context(), env, f, args[0])
		},
		ValidArgsFunction: completeScenarios,
	}
	flags := command.Flags()
	flags.SortFlags = false
	f.addCluster(command)
	flags.IntVar(&f.times, "times", 2, "number of real runs; with one, noise is unknown")
	flags.BoolVar(&f.all, "all", false, "show every difference")
	flags.StringVar(&f.report, "report", "", "write a report to `FILE`: .md for an issue, .html with both traces for a browser")
	flags.StringVar(&f.traces, "trace", "", "keep the traces in `DIR`: simulated.jsonl, real-1.jsonl, …")
	flags.BoolVar(&f.keep, "keep", false, "with --on kind: keep the cluster")
	flags.StringVar(&f.workDir, "work-dir", "", "`DIR` for temporary files (default the system's temporary directory)")
	complete(command, "report", cobra.FixedCompletions([]string{"md", "html"}, cobra.ShellCompDirectiveFilterFileExt))
	for _, flag := range []string{"trace", "work-dir"} {
		complete(command, flag, cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs))
	}
	complete(command, "times", cobra.NoFileCompletions)
	return command
}

// compareWithReal makes all runs and compares them.
func compareWithReal(ctx context.Context, env environment, f compareFlags, file string) (err error) {
	scenarios, err := loadScenarios(env, []string{file})
	if err == nil {
		err = refusal(scenarios[0], f.onFlags)
	}
	if err != nil {
		return err
	}
	release, err := outputFiles{"report": f.report}.reserve()
	if err != nil {
		return err
	}
	defer release()
	remove, err := f.makeTraces()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, remove()) }()
	c := &comparing{env: env, flags: f, scenario: scenarios[0]}
	if err := c.simulate(ctx); err != nil {
		return err
	}
	if err := c.runReal(ctx); err != nil {
		return err
	}
	return c.compare(ctx)
}

// makeTraces creates the directory of the traces. Without --trace it is temporary, and remove
// deletes it.
func (f *compareFlags) makeTraces() (remove func() error, err error) {
	if f.traces != "" {
		if err := os.MkdirAll(f.traces, 0o755); err != nil {
			return nil, &sim.EnvironmentError{Doing: "make a directory for the traces", Err: err}
		}
		return func() error { return nil }, nil
	}
	work, err := workdir.New(f.workDir) // the next run removes it if this run is killed
	if err != nil {
		return nil, err
	}
	f.traces = work.Path()
	return work.Close, nil
}

// comparing is a comparison in progress.
type comparing struct {
	env      environment
	flags    compareFlags
	scenario *scenario.Scenario
	failed   []string
	took     []time.Duration // by each real run
}

func (c *comparing) simulated() string { return filepath.Join(c.flags.traces, "simulated.jsonl") }
func (c *comparing) real(n int) string {
	return filepath.Join(c.flags.traces, fmt.Sprintf("real-%d.jsonl", n))
}

// simulate runs the simulation as a separate process, in other namespaces than the real runs.
func (c *comparing) simulate(ctx context.Context) error {
	args := []string{"run", c.scenario.File, "--trace", c.simulated()}
	if c.flags.workDir != "" {
		args = append(args, "--work-dir", c.flags.workDir)
	}
	program, err := os.Executable()
	if err != nil {
		return &sim.EnvironmentError{Doing: "find this program", Err: err}
	}
	run := exec.CommandContext(ctx, program, args...)
	run.Cancel = func() error { return run.Process.Signal(syscall.SIGTERM) }
	run.Stdout, run.Stderr = c.env.stdout, c.env.stderr
	fmt.Fprintln(c.env.stdout, "Simulated:")
	err = run.Run()
	switch code := run.ProcessState.ExitCode(); {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err == nil:
	case code == exitFailed:
		c.failed = append(c.failed, "the simulation")
	case code > exitFailed:
		return reported(code)
	default:
		return &sim.EnvironmentError{Doing: "simulate", Err: err}
	}
	return nil
}

// runReal makes the real runs on one cluster, one after the other.
func (c *comparing) runReal(ctx context.Context) error {
	all := []*scenario.Scenario{c.scenario}
	return c.flags.onTarget(ctx, c.env, c.flags.keep, c.flags.workDir, all, func(target *promotion.Target) error {
		for n := 1; n <= c.flags.times; n++ {
			fmt.Fprintf(c.env.stdout, "\nReal run %d of %d:\n", n, c.flags.times)
			s := newSession(c.env, runFlags{trace: c.real(n), workDir: c.flags.workDir, strategy: "calm", patience: usualPatience, waitForDriver: unfinished.Default, isolation: string(sim.Auto), parallel: 1, onFlags: c.flags.onFlags}, all)
			s.world = worldOf(target)
			s.runAll(ctx, all)
			var unusable *failure
			if err := s.end(ctx); errors.As(err, &unusable) && unusable.code > exitFailed {
				return err
			}
			if s.code == exitFailed {
				c.failed = append(c.failed, fmt.Sprintf("real run %d", n))
			}
			c.took = append(c.took, s.runs[0].Result.WallTime)
		}
		return nil
	})
}

func (c *comparing) compare(ctx context.Context) error {
	simulated, err := openTrace(c.simulated())
	if err != nil {
		return err
	}
	var real [][]trace.Line
	for n := range c.flags.times {
		lines, err := openTrace(c.real(n + 1))
		if err != nil {
			return err
		}
		real = append(real, lines)
	}
	found := comparison.Of(simulated, real...)
	found.Failed = c.failed
	fmt.Fprintln(c.env.stdout)
	if err := found.Text(c.env.stdout, c.flags.all); err != nil {
		return err
	}
	switch filepath.Ext(c.flags.report) {
	case ".md":
		err = writeFile(c.flags.report, "report", func(w io.Writer) error { return found.Markdown(w, c.scenario.Name, c.about()) })
	case ".html":
		err = viewTrace(ctx, c.env, viewFlags{output: c.flags.report}, []string{c.simulated(), c.real(1)})
	}
	if err == nil && !found.Good() {
		return reported(exitFailed)
	}
	return err
}

// about returns lines that describe the comparison.
func (c *comparing) about() []string {
	var took []string
	for _, t := range c.took {
		took = append(took, t.Round(100*time.Millisecond).String())
	}
	return []string{
		fmt.Sprintf("A is the simulation of `%s`, B a run on `--on %s`; %s", c.scenario.File, c.flags.on, plural.Of(c.flags.times, "real run")),
		"Real runs took " + strings.Join(took, ", "),
		strings.ReplaceAll(strings.TrimSpace(versions()), "\n", ", "),
	}
}
