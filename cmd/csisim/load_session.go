package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/csisim/csisim/cmd/internal/check"
	loadreport "github.com/csisim/csisim/cmd/internal/load"
	"github.com/csisim/csisim/cmd/internal/report"
	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/load"
	"github.com/csisim/csisim/internal/world/namespaces"
	"github.com/csisim/csisim/sim"
)

// loading is one load.
type loading struct {
	env      environment
	flags    loadFlags
	terminal report.Terminal
	progress *progress
	baseline *load.Result
	notes    []string // about the way in which the load ran
}

// reserved creates the files of the reports, and then calls play.
func (l *loading) reserved(play func() error) error {
	f := l.flags
	release, err := outputFiles{"json": f.json, "junit": f.junit, "summary": f.summary, "report": f.report}.reserve()
	if err != nil {
		return err
	}
	defer release()
	return play()
}

// ofScenario plays the load that a scenario describes.
func (l *loading) ofScenario(command *cobra.Command, file string, plan load.Plan) error {
	f := l.flags
	if f.against != "" || len(f.sidecars) > 0 {
		return usage("--against or --sidecar with %s: the scenario has the driver and its sidecars", file)
	}
	scenarios, err := loadScenarios(l.env, []string{file})
	if err != nil {
		return err
	}
	s := scenarios[0]
	if !namespaces.Entered() {
		cleanBefore(l.env, f.workDir)
	}
	if done, err := f.asRun().isolate(command.Context(), l.env, scenarios); done {
		return err
	}
	loaded, copies, notes, err := s.Load(command.Context(), scenario.RunOptions{WorkDir: f.workDir, Isolation: sim.Isolation(f.isolation), HostPaths: f.hostPaths})
	if err != nil {
		return &failure{code: codeOf(err), err: err}
	}
	if !command.Flags().Changed("volumes") {
		plan.Volumes = []int{1, max(1, copies/10), copies}
		plan.Nodes = f.nodes
		plan = plan.WithDefaults()
	}
	if f.nodes == 0 {
		plan.Nodes = len(s.NodeNames())
	}
	if err := plan.Check(); err != nil {
		return usage("%w", err)
	}
	if plan.Shape == load.Snapshot || plan.Shape == load.Block {
		return usage("--shape %s with %s: the scenario has the objects", plan.Shape, file)
	}
	if l.baseline, err = f.readBaseline(plan); err != nil {
		return err
	}
	loaded.Plan, l.notes = plan, notes
	return l.reserved(func() error { return l.play(command.Context(), []sim.LoadOptions{loaded}) })
}

// play runs the load, and reports it. The second build is compared to the first one.
func (l *loading) play(ctx context.Context, builds []sim.LoadOptions) error {
	runs := builds[0].Plan.Runs
	builds[0].Progress = func(volumes, run int, phase string) {
		l.say(fmt.Sprintf("%d volumes, run %d of %d: %s", volumes, run, runs, phase))
	}
	results, failed := sim.LoadInTurns(ctx, builds...)
	l.progress.erase()
	if len(results) == 0 || failed != nil && results[0].Largest() == nil {
		return &failure{code: codeOf(failed), err: failed}
	}
	if len(builds) > 1 {
		l.baseline = results[1]
	}
	results[0].Notes = append(results[0].Notes, l.notes...)
	r := &loadreport.Report{Result: results[0], Findings: results[0].Findings()}
	if err := l.judge(r); err != nil {
		return err
	}
	switch err := l.write(r); {
	case err != nil:
		return err
	case ctx.Err() != nil:
		return wasInterrupted(ctx)
	case failed != nil:
		return &failure{code: codeOf(failed), err: failed}
	case r.Failed():
		return reported(exitFailed)
	}
	return nil
}

// builds queries the driver and the build to which it is compared, and composes their loads.
func (l *loading) builds(ctx context.Context, subject check.Subject, against *check.Subject, plan load.Plan) (builds []sim.LoadOptions, err error) {
	subjects := []check.Subject{subject}
	if against != nil {
		subjects = append(subjects, *against)
	}
	options := check.RunOptions{WorkDir: l.flags.workDir, Isolation: sim.Isolation(l.flags.isolation), HostPaths: l.flags.hostPaths, Parallel: 1, Names: strconv.FormatInt(time.Now().UnixNano(), 36)}
	for _, s := range subjects {
		l.progress.queryingDriver()
		facts, err := check.Ask(ctx, s, options)
		l.progress.erase()
		if err != nil {
			return nil, notAsked(ctx, err)
		}
		if facts.OneNode() && l.flags.nodes == 0 {
			plan.Nodes = 1
		}
		var note string
		if plan.Volumes, note = facts.Fits(plan); note != "" {
			l.notes = append(l.notes, note)
		}
		if note := facts.Existing(); note != "" {
			l.notes = append(l.notes, note)
		}
		build, err := facts.Load(ctx, plan, strings.Join(plan.Sidecars, "\n"), options)
		if err != nil {
			return nil, &failure{code: codeOf(err), err: err}
		}
		builds = append(builds, build)
	}
	return builds, nil
}

// judge compares the result and evaluates the conditions.
func (l *loading) judge(r *loadreport.Report) (err error) {
	if r.Largest() == nil {
		return nil
	}
	if l.baseline != nil {
		if r.Compared, err = loadreport.Compare(l.baseline, r.Result); err != nil {
			r.Notes = append(r.Notes, "not compared: "+err.Error())
		}
	}
	if err := r.Judge(l.flags.failIf); err != nil {
		return usage("--fail-if: %w", err)
	}
	return nil
}

func (l *loading) say(text string) {
	if l.terminal.Live {
		l.progress.rewrite("• " + text)
		return
	}
	l.progress.sometimes(text)
}

func (l *loading) write(r *loadreport.Report) error {
	if err := r.Text(l.env.stdout, l.terminal); err != nil {
		return &failure{code: exitEnvironment, err: err}
	}
	err := errors.Join(
		writeFile(l.flags.json, "result", func(w io.Writer) error { return json.NewEncoder(w).Encode(r) }),
		writeFile(l.flags.junit, "JUnit report", r.JUnit),
		writeFile(l.flags.summary, "summary", r.Summary),
		writeFile(l.flags.report, "page", func(w io.Writer) error { return r.Page(w, l.baseline) }),
	)
	if err != nil {
		return &failure{code: exitEnvironment, err: err}
	}
	return nil
}
