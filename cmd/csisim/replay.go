package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/csisim/csisim/cmd/internal/explore"
	"github.com/csisim/csisim/cmd/internal/report"
	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/drivers/fault"
	exploration "github.com/csisim/csisim/internal/explore"
	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/workdir"
)

func newReplay(env environment) *cobra.Command {
	f := runFlags{parallel: 1}
	command := &cobra.Command{
		Use:   "replay FILE",
		Short: "Repeat the run of a finding",
		Long: `Repeat the run of a finding from a FILE that csisim explore has written.

The choices in it are named by their subjects, so they still fit after small changes
of the scenario. If a choice no longer fits, csisim prints it and the decisions
that occurred instead, and exits with code 2.`,
		Example: `  csisim replay lifecycle-createvolume-is-not-idempotent-8618ff.csisim.yaml -v`,
		Args: func(command *cobra.Command, args []string) error {
			if err := needs("a FILE")(command, args); err != nil {
				return err
			}
			return atMost(1)(command, args)
		},
		ValidArgsFunction: completeScenarios,
		RunE: func(command *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			return replay(command.Context(), env, f, args[0])
		},
	}
	flags := command.Flags()
	flags.SortFlags = false
	flags.StringVar(&f.trace, "trace", "", "write the trace as JSON Lines to `FILE`")
	reportFlag(command, &f.report)
	flags.CountVarP(&f.verbose, "verbose", "v", "print the events since the first step; -vv prints all since the start of the cluster")
	isolationFlag(flags, &f.isolation)
	rootlessFlag(flags, &f.isolation, &f.rootless)
	runNetworkFlag(command, &f.network)
	flags.StringVar(&f.workDir, "work-dir", "", "`DIR` for the files of the run (default the system's temporary directory)")
	flags.DurationVar(&f.patience, "patience", usualPatience, "wall time that virtual time waits for a driver's answer")
	waitFlag(command, &f.waitForDriver)
	hostPathFlag(command, &f.hostPaths)
	flags.BoolVar(&f.strict, "strict", false, "fail on requirements of the CSI spec that nothing in Kubernetes depends on (default a note)")
	complete(command, "isolation", cobra.FixedCompletions(isolations, cobra.ShellCompDirectiveNoFileComp))
	complete(command, "work-dir", cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs))
	complete(command, "patience", cobra.NoFileCompletions)
	complete(command, "trace", cobra.FixedCompletions([]string{"jsonl"}, cobra.ShellCompDirectiveFilterFileExt))
	return command
}

// replayed determines how the runs of a session repeat the choices of a finding.
type replayed struct {
	file     string
	finding  string
	space    fault.Space
	strategy *exploration.Replay
}

// replay repeats the run of a file and reports on it as csisim run does.
func replay(ctx context.Context, env environment, f runFlags, name string) error {
	file, err := explore.Load(name)
	if err != nil {
		reportMistakes(env, name, err)
		return reported(exitInput)
	}
	path, remove, err := scenarioOf(f.workDir, name, file)
	if err != nil {
		return err
	}
	defer remove()
	text, err := strict.ReadFile(path)
	if err != nil {
		return usage("%s: the scenario of the finding: %w", name, err)
	}
	scenarios, err := loadScenarios(env, []string{path})
	if err != nil {
		return err
	}
	if file.Text != "" {
		scenarios[0].File = filepath.Base(path) // the directory is removed when the run has ended
	}
	if done, err := f.isolate(ctx, env, scenarios); done {
		return err
	}
	changed := explore.Digest(text) != file.Digest
	strategy := exploration.NewReplay(file.Choices)
	if changed {
		strategy = exploration.NewLooseReplay(file.Choices)
	}
	s := newSession(env, f, scenarios)
	s.replayed = &replayed{file: name, finding: file.Finding, space: file.Space(), strategy: strategy}
	s.runAll(ctx, scenarios)
	if len(s.runs) > 0 && s.replayed.misses(s.runs[0]) && s.left == nil && ctx.Err() == nil {
		return verdictOf(env, s, file, strategy.Unfit(), changed)
	}
	if err := s.end(ctx); ctx.Err() != nil || (err != nil && codeOf(err) == exitEnvironment) {
		return err
	}
	return verdictOf(env, s, file, strategy.Unfit(), changed)
}

// scenarioOf returns the path of the scenario of a replay. If the replay contains the text of the
// scenario, it writes the text into a new directory.
func scenarioOf(workDir, name string, file *explore.File) (path string, remove func(), err error) {
	if file.Text == "" {
		return filepath.Join(filepath.Dir(name), filepath.FromSlash(file.Scenario)), func() {}, nil
	}
	dir, err := workdir.New(workDir) // a directory known to csisim clean
	if err != nil {
		return "", nil, &failure{code: exitEnvironment, err: fmt.Errorf("write the scenario of the finding: %w", err)}
	}
	remove = func() { _ = dir.Close() }
	if path, err = file.Unpack(dir.Path()); err != nil {
		remove()
		return "", nil, usage("%s: the scenario of the finding: %w", name, err)
	}
	return path, remove, nil
}

// verdictOf prints whether the run has shown the finding.
func verdictOf(env environment, s *session, file *explore.File, unfit string, changed bool) error {
	since := ""
	if changed {
		since = "; the scenario has changed since the finding was made"
	}
	result := s.runs[0].Result
	switch {
	case s.replayed.isShownBy(s.runs[0]):
		return reported(exitFailed)
	case unfit != "":
		return &failure{code: exitInput, err: fmt.Errorf("the replay does not fit any more: %s%s", unfit, since), hint: "csisim explore searches anew."}
	case result != nil && result.Exit != scenario.Passed:
		fmt.Fprintf(env.stderr, "csisim: the run fails, but it does not show the finding: %s%s\n", file.Finding, since)
		return reported(exitFailed)
	}
	fmt.Fprintf(env.stderr, "csisim: the run does not show the finding any more: %s%s\n", file.Finding, since)
	return reported(s.code)
}

func (r *replayed) into(o *scenario.RunOptions) {
	o.Strategy, o.FaultSpace = func() kernel.Strategy { return r.strategy }, r.space
}

// misses reports whether a run deviated from the finding's choices and does not show the finding.
func (r *replayed) misses(run report.Run) bool {
	return run.Err == nil && r.strategy.Unfit() != "" && !r.isShownBy(run)
}

func (r *replayed) isShownBy(run report.Run) bool {
	return run.Result != nil && explore.Shows(run.Result, r.finding) != nil
}
