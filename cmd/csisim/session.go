package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/csisim/csisim/cmd/internal/report"
	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/driver/program"
	"github.com/csisim/csisim/internal/driver/unfinished"
	"github.com/csisim/csisim/internal/view"
	"github.com/csisim/csisim/internal/world/namespaces"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/sim"
)

// session runs scenarios and reports on them in their order.
type session struct {
	env        environment
	flags      runFlags
	terminal   report.Terminal
	printer    *report.Printer
	traces     map[string]string // by scenario file
	pages      map[string]string // the reports, by scenario file
	runs       []report.Run
	apart      bool // the isolation of the nodes has been printed
	planned    int
	code       int
	left       error                  // programs that could not be ended
	replayed   *replayed              // the finding to replay; nil for none
	experience *unfinished.Experience // with the drivers of the scenarios
	// world makes the cluster of a scenario; nil for a simulation.
	world func(context.Context, *scenario.Scenario, scenario.RunOptions) (scenario.World, error)
	// turn waits until a scenario may run on the cluster, and done releases it. Both are nil for
	// simulations, which share nothing.
	turn func(*scenario.Scenario) (done func())
}

func newSession(env environment, f runFlags, scenarios []*scenario.Scenario) *session {
	terminal := report.TerminalOf(env.stdout, env.getenv)
	options := report.Options{Terminal: terminal, Workspace: workspaceOf(env), Planned: len(scenarios), Verbose: f.verbose > 0}
	options.Live = terminal.Live && f.verbose == 0 // the timeline shows the progress
	return &session{
		env: env, flags: f, terminal: terminal, printer: report.NewPrinter(env.stdout, options),
		traces: traceFiles(f.trace, ".jsonl", scenarios), pages: traceFiles(f.report, ".html", scenarios), planned: len(scenarios), experience: &unfinished.Experience{},
	}
}

// runAll runs scenarios, up to the number of parallel runs that the flags allow.
func (s *session) runAll(ctx context.Context, scenarios []*scenario.Scenario) {
	if s.flags.parallel > 1 && (s.world != nil || !sharesDriver(scenarios)) {
		s.runParallel(ctx, scenarios)
		s.left = killOrphans()
		return
	}
	for _, next := range scenarios {
		if ctx.Err() != nil {
			return
		}
		s.printer.Started(next.Name)
		run := s.attempt(ctx, next, s.env.stdout, s.printer.Progress)
		if s.replayed != nil && s.replayed.misses(run) {
			s.runs = append(s.runs, run) // this run deviated from the finding
			continue
		}
		s.finished(ctx, run)
	}
}

// finished reports on a scenario. A run that an interrupt ended has no result.
func (s *session) finished(ctx context.Context, run report.Run) {
	if ctx.Err() != nil {
		return
	}
	s.warnOfNodesTogether(run.Result)
	s.code = max(s.code, exitOf(run))
	s.runs = append(s.runs, run)
	s.printer.Finished(run)
}

// attempt runs one scenario and writes its timeline to out.
func (s *session) attempt(ctx context.Context, sc *scenario.Scenario, out io.Writer, progress func(scenario.StepResult)) report.Run {
	run := report.Run{
		Program: self(),
		File:    sc.File, Strategy: s.flags.strategy, Seed: s.flags.seed, Flags: s.flags.forReplay(), Trace: s.traces[sc.File], Page: s.pages[sc.File], Blame: s.flags.blame,
	}
	var made trace.Versions
	if s.world == nil {
		made = versionsOf(sc)
		run.Versions = made.String()
	}
	outputs, err := s.openOutputs(run, made, out)
	if err != nil {
		run.Err = err
		return run
	}
	if s.turn != nil {
		defer s.turn(sc)()
	}
	options := s.options(outputs)
	options.Progress, options.World = progress, s.world
	if s.replayed != nil {
		s.replayed.into(&options)
		run.Again = self() + " replay " + report.Quoted(s.replayed.file)
	}
	if s.flags.keep {
		options.DriverLogs = keptLogs(s.flags.workDir, sc)
	}
	run.Result, err = scenario.Run(ctx, sc, options)
	// During parallel runs, the programs of other runs are still alive.
	if sc.HasPrograms() && s.flags.parallel <= 1 {
		err = errors.Join(err, killOrphans())
	}
	run.Err = errors.Join(err, outputs.close())
	run.Logs = withLogs(options.DriverLogs)
	if sc.MayLack(run.Err) {
		reason := run.Err.Error()
		run.Name, run.NotTried, run.Err, run.Result = sc.Name, reason[max(0, strings.Index(reason, program.ErrNotFound.Error())):], nil, nil
		return run
	}
	run.Err = errors.Join(run.Err, outputs.writePage(run))
	return run
}

func (s *session) options(outputs *outputs) scenario.RunOptions {
	return scenario.RunOptions{
		Strategy: strategyMaker(s.flags.strategy, s.flags.seed), Seed: s.flags.seed,
		Patience: s.flags.patience, WaitForDriver: waitOf(s.flags.waitForDriver), Experience: s.experience, Until: s.flags.until,
		Sinks: outputs.sinks, CheckDeterminism: s.flags.checkDeterminism,
		WorkDir: s.flags.workDir, Isolation: sim.Isolation(s.flags.isolation), HostPaths: s.flags.hostPaths, Strict: s.flags.strict, SystemCalls: s.flags.systemCalls,
	}
}

// warnOfNodesTogether prints once, in verbose output, that nodes share more than necessary.
func (s *session) warnOfNodesTogether(result *scenario.Result) {
	if s.flags.verbose == 0 || s.apart || result == nil || result.Apart == "" {
		return
	}
	s.apart = true
	fmt.Fprintf(s.env.stderr, "csisim: nodes are kept apart %s\n", result.Apart)
}

// end writes the summary and the reports.
func (s *session) end(ctx context.Context) error {
	err := errors.Join(s.left, s.printer.Summary())
	err = errors.Join(err, writeFile(s.flags.json, "JSON report", func(w io.Writer) error { return report.JSON(w, s.runs, s.planned) }))
	if len(s.pages) > 0 && isDirectory(s.flags.report) {
		page := report.Index(s.runs)
		page.Interrupted = ctx.Err() != nil
		err = errors.Join(err, writeIndex(s.flags.report, page))
	}
	err = errors.Join(err, writeFile(s.flags.junit, "JUnit report", func(w io.Writer) error { return report.JUnit(w, s.runs) }))
	switch {
	case ctx.Err() != nil:
		return &failure{code: namespaces.InterruptedCode(ctx), err: errors.New("interrupted; everything of the run is cleaned up")}
	case err != nil:
		return &failure{code: exitEnvironment, err: err}
	case s.code == exitPassed && len(s.runs) > 0 && !slices.ContainsFunc(s.runs, func(r report.Run) bool { return r.NotTried == "" }):
		return &failure{code: exitEnvironment, err: errors.New("nothing was tried")}
	default:
		return reported(s.code)
	}
}

// exitOf returns the exit code of one run. The highest code of all runs counts.
func exitOf(run report.Run) int {
	if run.NotTried != "" {
		return exitPassed
	}
	if run.Err != nil {
		return codeOf(run.Err)
	}
	return run.Result.Exit.Code()
}

// forReplay returns the flags that a run depends on besides strategy and seed.
func (f runFlags) forReplay() []string {
	var flags []string
	if f.until != "" {
		flags = append(flags, "--until", f.until)
	}
	if f.patience != usualPatience {
		flags = append(flags, "--patience", f.patience.String())
	}
	if f.waitForDriver != unfinished.Default {
		flags = append(flags, "--wait-for-driver", f.waitForDriver.String())
	}
	switch {
	case f.rootless:
		flags = append(flags, "--rootless")
	case f.isolation != string(sim.Auto):
		flags = append(flags, "--isolation", f.isolation)
	}
	if f.network != "" {
		flags = append(flags, "--network", f.network)
	}
	if f.strict {
		flags = append(flags, "--strict")
	}
	for _, dir := range f.hostPaths {
		flags = append(flags, "--host-path", dir)
	}
	return append(flags, f.onFlags.forReplay()...)
}

// outputs are the destinations of a run's events.
type outputs struct {
	sinks   []trace.Sink
	closers []func() error
	page    *view.Encoder // nil if no browser report is requested
}

func (o *outputs) close() error {
	var errs []error
	for _, end := range o.closers {
		errs = append(errs, end())
	}
	return errors.Join(errs...)
}

func (s *session) openOutputs(run report.Run, made trace.Versions, out io.Writer) (*outputs, error) {
	o := &outputs{}
	if run.Page != "" {
		o.page = view.NewEncoder()
		o.sinks = append(o.sinks, o.page.Sink)
	}
	if run.Trace != "" {
		if err := o.traceTo(run.Trace, made); err != nil {
			return nil, &sim.EnvironmentError{Doing: "write trace", Err: err}
		}
	}
	if s.flags.verbose > 0 {
		timeline := trace.NewTimeline(out, trace.TimelineOptions{
			Color: s.terminal.Color, Width: s.terminal.Width, Verbose: s.flags.verbose > 1,
			FromStep: s.flags.verbose == 1, Legend: true,
		})
		o.sinks = append(o.sinks, timeline.Add)
		o.closers = append(o.closers, timeline.Close)
	}
	return o, nil
}

func (o *outputs) traceTo(name string, made trace.Versions) error {
	file, err := createWithParents(name)
	if err != nil {
		return err
	}
	if made != (trace.Versions{}) {
		if _, err := made.WriteTo(file); err != nil {
			return errors.Join(err, file.Close())
		}
	}
	sink, flush := trace.Writer(file)
	o.sinks = append(o.sinks, sink)
	o.closers = append(o.closers, flush, file.Close)
	return nil
}
