package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/csisim/csisim/cmd/internal/check"
	"github.com/csisim/csisim/cmd/internal/report"
	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/cmd/internal/scenario/profile"
	"github.com/csisim/csisim/internal/driver/unfinished"
	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/view"
	"github.com/csisim/csisim/internal/world/namespaces"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/sim"
)

// checking is one check of a driver.
type checking struct {
	env      environment
	flags    checkFlags
	terminal report.Terminal
	progress *progress
	// experience is shared by all trials with the driver.
	experience unfinished.Experience
	replay     func(*check.Trial) string
	// described is the profile that --save writes.
	described *profile.Profile
	// release removes the report files that were created but not written.
	release func()
}

// run checks a driver or, with an old release, the upgrade from that release.
func (c *checking) run(ctx context.Context, subject check.Subject, old *check.Subject) error {
	began := time.Now()
	known, err := c.baseline()
	if err != nil {
		return err
	}
	c.progress.queryingDriver()
	facts, err := check.Ask(ctx, subject, c.options(subject))
	c.progress.erase()
	if err != nil {
		return notAsked(ctx, err)
	}
	if err := c.save(facts); err != nil {
		return err
	}
	var upgrade *check.Upgrade
	if old != nil {
		if upgrade, err = c.askBoth(ctx, *old, facts); err != nil {
			return err
		}
	}
	trials, err := c.plan(facts, upgrade)
	if err == nil {
		err = errors.Join(c.flags.checkAllowed(trials), isOf(known, facts))
	}
	if err == nil {
		trials, err = c.chosen(trials)
	}
	switch {
	case err != nil:
		return err
	case c.flags.print != "":
		return c.print(trials)
	}
	if c.flags.out != "" {
		if err := c.keepScenarios(trials); err != nil {
			return err
		}
	}
	card := &check.Card{Facts: facts, Upgrade: upgrade, Known: known, Replay: c.replay, Verbose: c.flags.verbose}
	timeline := c.timeline(trials)
	options := c.options(subject)
	if c.flags.reports != "" {
		options.KeepStates = view.MaxStates
	}
	if facts.NoMounts != "" {
		options.Isolation = sim.None // trials without mounts are possible
	}
	if timeline != nil {
		options.Sinks = []trace.Sink{timeline.Add}
	}
	if c.flags.keep {
		options.Logs = keptLogsOfAll(c.flags.workDir)
	}
	options.Progress = c.progress.show
	options.Disturbed = func(s *check.Shared) {
		card.Shared = s
		c.progress.say(fmt.Sprintf("%s; one runs at a time from here on, %d again", s, s.Again))
	}
	plain, deep := check.Searches(trials)
	card.Outcomes, err = check.Run(ctx, plain, options)
	if err == nil {
		err = c.search(ctx, deep, card, options.Isolation)
	}
	if err == nil && upgrade != nil {
		if slices.ContainsFunc(card.Outcomes, check.Outcome.Failed) {
			c.progress.say("trials that failed are run again: with one release in the place of both, and with both")
		}
		err = upgrade.Repeat(ctx, card.Outcomes, options)
	}
	card.Took, card.Waits = time.Since(began), c.experience.Waits()
	c.progress.erase()
	if timeline != nil {
		err = errors.Join(err, timeline.Close())
	}
	return c.end(ctx, card, err)
}

// plan builds the scenarios that apply to the driver, or to its upgrade.
func (c *checking) plan(facts *check.Facts, upgrade *check.Upgrade) ([]*check.Trial, error) {
	if upgrade != nil {
		return upgrade.Plan()
	}
	trials, err := check.Plan(facts)
	if err != nil || c.flags.deep == (depth{}) {
		return trials, err
	}
	deep, err := check.PlanDeep(facts)
	return append(trials, deep...), err
}

// save writes the profile that results from the flags and from the driver's answers.
func (c *checking) save(facts *check.Facts) error {
	if c.flags.save == "" {
		return nil
	}
	p := c.described
	p.Driver = facts.Name
	if c.flags.binary != "" {
		p.Binary.Name = located(c.flags.binary)
	}
	if p.CSIDriver != nil && p.CSIDriver.AttachRequired == nil {
		attaches := facts.Attaches()
		p.CSIDriver.AttachRequired = &attaches
	}
	return writeFile(c.flags.save, "driver profile", func(w io.Writer) error { return p.Write(w, c.flags.save) })
}

func (c *checking) options(subject check.Subject) check.RunOptions {
	parallel := c.flags.parallel
	if subject.Driver.Socket != nil {
		parallel = 1 // all runs share the driver
	}
	return check.RunOptions{
		Budget: c.flags.budget, Parallel: parallel, Strategy: strategyMaker(c.flags.strategy, c.flags.seed),
		Names: c.flags.names, Patience: c.flags.patience, WaitForDriver: waitOf(c.flags.waitForDriver), Experience: &c.experience, WorkDir: c.flags.workDir, Isolation: sim.Isolation(c.flags.isolation), HostPaths: c.flags.hostPaths, Strict: c.flags.strict,
	}
}

// notAsked converts an error from querying the driver into the failure of the command.
func notAsked(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return wasInterrupted(ctx)
	}
	var refusal *check.RefusedError
	if errors.As(err, &refusal) {
		return &failure{code: exitFailed, err: err}
	}
	return &failure{code: codeOf(err), err: err}
}

func wasInterrupted(ctx context.Context) error {
	return &failure{code: namespaces.InterruptedCode(ctx), err: errors.New("interrupted; everything of the run is cleaned up")}
}

// chosen returns the trials that --only and --print select.
func (c *checking) chosen(trials []*check.Trial) ([]*check.Trial, error) {
	wanted := c.flags.only
	if c.flags.print != "" {
		wanted = []string{c.flags.print}
	}
	if len(wanted) == 0 {
		return trials, nil
	}
	if err := areTrials(wanted, trials); err != nil {
		return nil, usage("%w", err)
	}
	return check.Chosen(trials, wanted)
}

// areTrials rejects patterns that match no trial.
func areTrials(patterns []string, trials []*check.Trial) error {
	for _, pattern := range patterns {
		switch {
		case slices.ContainsFunc(trials, func(t *check.Trial) bool { return t.Fits(pattern) }):
		case slices.ContainsFunc(trials, func(t *check.Trial) bool { return t.Group == pattern }):
			return fmt.Errorf("unknown scenario %q; did you mean %q?", pattern, pattern+"/*")
		default:
			return unknown("scenario", pattern, namesNear(pattern, trials))
		}
	}
	return nil
}

// namesNear returns the names of all trials if one is similar to a pattern, otherwise a pattern for
// each group. A list of a few hundred names would hide the mistake.
func namesNear(pattern string, trials []*check.Trial) (names []string) {
	names = check.Names(trials)
	if strict.Nearest(pattern, names) != "" {
		return names
	}
	names = nil
	for _, t := range trials {
		if group := t.Group + "/*"; !slices.Contains(names, group) {
			names = append(names, group)
		}
	}
	return names
}

func (c *checking) print(trials []*check.Trial) error {
	for i, t := range trials {
		if i > 0 {
			fmt.Fprintln(c.env.stdout, "---")
		}
		text := t.Text
		switch {
		case t.NotOffered != "":
			text = fmt.Sprintf("# %s is not tried: %s\n", t.Name(), t.NotOffered)
		case t.NotTried != "":
			text = fmt.Sprintf("# %s is not tried here: %s\n%s", t.Name(), t.NotTried, t.Text)
		}
		if _, err := fmt.Fprint(c.env.stdout, text); err != nil {
			return &failure{code: exitEnvironment, err: err}
		}
	}
	return nil
}

// keepScenarios writes the scenarios to files, which the replay commands of failures then use.
func (c *checking) keepScenarios(trials []*check.Trial) error {
	if err := os.MkdirAll(c.flags.out, 0o755); err != nil {
		return &failure{code: exitEnvironment, err: fmt.Errorf("keep the scenarios: %w", err)}
	}
	var all []*check.Trial
	for _, t := range trials {
		if t.NotOffered != "" {
			continue
		}
		parts, err := t.Parts()
		if err != nil {
			return err
		}
		all = append(append(all, t), parts...)
	}
	for _, t := range all {
		if err := os.WriteFile(c.kept(t), []byte(t.Text), t.Mode()); err != nil {
			return &failure{code: exitEnvironment, err: fmt.Errorf("keep the scenarios: %w", err)}
		}
	}
	c.replay = func(t *check.Trial) string {
		run := report.Run{Program: self(), File: c.kept(t), Strategy: c.flags.strategy, Seed: c.flags.seed}
		run.Flags = c.flags.forReplay()
		return run.Replay()
	}
	return nil
}

// timeline prints the events of a single scenario; the events of several scenarios would mix.
func (c *checking) timeline(trials []*check.Trial) *trace.Timeline {
	if !c.flags.verbose || len(trials) != 1 || !trials[0].Runs() {
		return nil
	}
	c.terminal.Live, c.progress.terminal.Live = false, false // the timeline shows the progress
	return trace.NewTimeline(c.env.stdout, trace.TimelineOptions{Color: c.terminal.Color, Width: c.terminal.Width})
}

// end writes the reports. After an interrupt they contain only the trials that have ended.
func (c *checking) end(ctx context.Context, card *check.Card, err error) error {
	defer endsSoon(ctx, c.env, nil, c.release)() // only reports are left to write
	if ctx.Err() != nil {
		err = nil // the interrupt caused the error
	}
	if err == nil && ctx.Err() == nil {
		err = c.writeKnown(card)
	}
	if err == nil {
		err = c.printCard(card)
	}
	if err == nil {
		err = writeFile(c.flags.json, "report card", card.JSON)
	}
	if err == nil {
		err = writeFile(c.flags.junit, "JUnit report", func(w io.Writer) error { return report.JUnit(w, c.runs(card)) })
	}
	if err == nil {
		err = c.writeSummary(ctx, card)
	}
	if err == nil {
		err = c.writePages(ctx, card)
	}
	switch {
	case ctx.Err() != nil:
		return wasInterrupted(ctx)
	case err != nil:
		return &failure{code: exitEnvironment, err: err}
	}
	code := c.flags.codeOfCard(card)
	if code == exitEnvironment {
		if what := c.flags.untried(card); what != "" {
			return &failure{code: code, err: errors.New(untriedHint(what))}
		}
	}
	return reported(code)
}

// printCard prints the card; for a single scenario it prints the report of csisim run.
func (c *checking) printCard(card *check.Card) error {
	single := len(card.Outcomes) == 1 && card.Outcomes[0].Tried() && card.Outcomes[0].Search == nil && card.Known == nil
	if single || c.flags.verbose {
		printer := report.NewPrinter(c.env.stdout, report.Options{
			Terminal: c.terminal, Verbose: c.flags.verbose, Workspace: workspaceOf(c.env), Began: time.Now().Add(-card.Took),
		})
		for _, run := range c.runs(card) {
			if single || !run.Passed() && run.NotTried == "" && run.Known == "" {
				printer.Finished(run)
			}
		}
		if single {
			return printer.Summary()
		}
	}
	return card.Text(c.env.stdout, c.terminal)
}

// runs returns the trials as the runs of a report.
func (c *checking) runs(card *check.Card) []report.Run {
	var runs []report.Run
	found := card.Findings()
	for _, o := range card.Outcomes {
		if o.NotOffered != "" {
			continue
		}
		runs = append(runs, report.Run{
			Name: o.Name(), File: c.kept(o.Trial), Result: placed(o.Result, c.kept(o.Trial)), Err: o.Err, Logs: withLogs(o.Logs), Again: c.replay(o.Trial), NotTried: o.NotTried,
			Known: knownOf(found, o), Versions: versionsOf(nil).String(),
		})
	}
	return runs
}

// knownOf names the findings of a trial if all of them are known. Otherwise it returns "".
func knownOf(found []check.Finding, o check.Outcome) string {
	if !o.Failed() || !check.OnlyKnown(found, o.Trial) {
		return ""
	}
	var names []string
	for _, f := range check.FindingsOf(found, o.Trial) {
		names = append(names, f.Name)
	}
	return "known: " + strings.Join(names, "; ")
}

// placed returns a result with failures that point into the file of the scenario. Without a file,
// the failures have no place.
func placed(r *scenario.Result, file string) *scenario.Result {
	if r == nil {
		return nil
	}
	own := *r
	own.Failures = slices.Clone(r.Failures)
	for i := range own.Failures {
		own.Failures[i].File = file
	}
	return &own
}

// kept returns the name of the file that holds a trial's scenario; "" if none does.
func (c *checking) kept(t *check.Trial) string {
	if c.flags.out == "" {
		return ""
	}
	return filepath.Join(c.flags.out, t.File())
}
