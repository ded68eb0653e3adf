package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/csisim/csisim/cmd/internal/check"
	"github.com/csisim/csisim/cmd/internal/explore"
	"github.com/csisim/csisim/cmd/internal/report"
	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/drivers/fault"
	exploration "github.com/csisim/csisim/internal/explore"
	"github.com/csisim/csisim/internal/world/plural"
	"github.com/csisim/csisim/sim"
)

// usualBudget is the default limit of faults in each run of a search.
const usualBudget = 3

// depth bounds the search of a check, either by time or by runs per scenario. The zero value
// disables the search.
type depth struct {
	time time.Duration
	runs int
}

func (d *depth) Set(text string) error {
	if runs, err := strconv.Atoi(text); err == nil && runs > 0 {
		*d = depth{runs: runs}
		return nil
	}
	if t, err := time.ParseDuration(text); err == nil && t > 0 {
		*d = depth{time: t}
		return nil
	}
	return errors.New("it must be a duration of more than 0, such as 5m, or a number of runs from 1")
}

func (d *depth) String() string {
	switch {
	case d.runs > 0:
		return strconv.Itoa(d.runs)
	case d.time > 0:
		return d.time.String()
	}
	return ""
}

func (*depth) Type() string { return "depth" }

// search searches the runs of the trials and adds the outcomes to the card. The trials share the
// available time.
func (c *checking) search(ctx context.Context, trials []*check.Trial, card *check.Card, isolation sim.Isolation) error {
	run := scenario.RunOptions{Patience: c.flags.patience, WaitForDriver: waitOf(c.flags.waitForDriver), Experience: &c.experience, WorkDir: c.flags.workDir, Isolation: isolation, HostPaths: c.flags.hostPaths, Strict: c.flags.strict}
	searched := 0
	for _, t := range trials {
		if t.Runs() {
			searched++
		}
	}
	end := time.Now().Add(c.flags.deep.time)
	for _, t := range trials {
		o := check.Outcome{Trial: t}
		if t.Runs() && ctx.Err() == nil {
			var err error
			var limit time.Duration
			if c.flags.deep.runs == 0 {
				limit = max(time.Until(end)/time.Duration(searched), time.Second)
			}
			if o, err = c.searchOne(ctx, t, card.Shared, limit, run); err != nil {
				return err
			}
			searched--
		}
		card.Outcomes = append(card.Outcomes, o)
	}
	return nil
}

// searchOne searches the runs of one trial.
func (c *checking) searchOne(ctx context.Context, t *check.Trial, shared *check.Shared, limit time.Duration, run scenario.RunOptions) (check.Outcome, error) {
	o := check.Outcome{Trial: t}
	if shared != nil {
		return check.Outcome{Trial: t.Shared()}, nil
	}
	file := filepath.Join(cmp.Or(c.flags.out, "."), t.File())
	found, err := explore.Of(ctx, file, []byte(t.Text), explore.Options{
		Strategy: exploration.Strategies()[0], Pairs: true, Seed: c.flags.seed, Time: limit, Runs: c.flags.deep.runs, Jobs: c.flags.parallel,
		Space: fault.Space{Kinds: append(fault.Usual(), fault.Overlaps), Budget: usualBudget}, Run: run, Processes: true,
		Progress: func(at *explore.Search) { c.progress.searching(t.Name(), at) },
	})
	c.progress.erase()
	switch {
	case ctx.Err() != nil && (found == nil || found.Calm == nil || found.Runs == 0):
		return check.Outcome{Trial: t.Interrupted()}, nil
	case err != nil:
		o.Err = err
		return o, nil
	}
	o.Result = found.Calm
	if found.Calm.Exit != scenario.Passed {
		if untried := t.BeyondMachine(found.Calm); untried != nil {
			return check.Outcome{Trial: untried}, nil
		}
		return o, nil // the file system trials, such as life/filesystem, already show it
	}
	o.Search = &check.Searched{Runs: found.Runs, Elapsed: found.Elapsed, Usage: found.Usage()}
	for _, f := range found.Findings {
		replay, err := c.keepFinding(found, t, f)
		if err != nil {
			return o, err
		}
		o.Search.Found = append(o.Search.Found, check.Found{
			Finding: f.OfRun(), Blame: f.Blame, Result: f.Result(), Choices: inWords(f.Choices), Replay: replay, Repeated: f.Repeated, Repeats: f.Repeats, Known: reasonsOf(f),
		})
	}
	if first := o.Search.OfDriver(); first != nil {
		o.Result = first.Result
	}
	return o, nil
}

// keepFinding writes the file of a finding next to its scenario, and returns the command that
// replays it.
func (c *checking) keepFinding(s *explore.Search, t *check.Trial, f *explore.Finding) (string, error) {
	dir := cmp.Or(c.flags.out, ".")
	if err := os.WriteFile(filepath.Join(dir, t.File()), []byte(t.Text), t.Mode()); err != nil {
		return "", fmt.Errorf("keep the scenario of a finding: %w", err)
	}
	name, err := keepFinding(s, f, dir)
	if err != nil {
		return "", err
	}
	words := []string{self(), "replay", report.Quoted(name)}
	for _, flag := range c.flags.forReplay() {
		words = append(words, report.Quoted(flag))
	}
	return strings.Join(words, " "), nil
}

// forReplay returns the flags that affect the run of a kept scenario.
func (f *checkFlags) forReplay() []string {
	return f.asRun().forReplay()
}

// asRun returns the flags that commands of runs share.
func (f *checkFlags) asRun() runFlags {
	return runFlags{patience: f.patience, waitForDriver: f.waitForDriver, isolation: f.isolation, rootless: f.rootless, network: f.network, workDir: f.workDir, hostPaths: f.hostPaths, strict: f.strict}
}

// inWords formats choices for readers.
func inWords(choices []exploration.Choice) (words []string) {
	for i, c := range choices {
		if i == mostShown {
			return append(words, fmt.Sprintf("and %d more", len(choices)-i))
		}
		words = append(words, c.String())
	}
	return words
}

// searching shows the progress of a search.
func (p *progress) searching(name string, at *explore.Search) {
	line := fmt.Sprintf("%s  %s, %.0f a second, %s", name, plural.Of(at.Runs, "run"), rate(at), plural.Of(len(at.Findings), "finding"))
	if p.terminal.Live {
		p.rewrite("• " + line)
		return
	}
	p.sometimes(line)
}
