package check

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/csisim/csisim/cmd/internal/scenario"
)

// Upgrade is a pair of releases of a driver, one of which replaces the other.
type Upgrade struct {
	Old, New *Facts

	// shown has the findings of trials in which a release replaced itself: those of the old release
	// and those of the new one, by trial.
	old, new map[string][]string
}

// Same reports whether both releases are started by the same arguments and, as equal reports, the
// same program.
func (u *Upgrade) Same(equal func(program, other string) bool) bool {
	a, b := u.Old.subject.Driver, u.New.subject.Driver
	if a.Program == nil || b.Program == nil {
		return a.Profile == b.Profile && equal(a.Binary, b.Binary)
	}
	x, y := a.Program.Command, b.Program.Command
	return len(x) > 0 && len(y) > 0 && slices.Equal(x[1:], y[1:]) && equal(x[0], y[0]) && slices.Equal(a.Program.ControllerCommand, b.Program.ControllerCommand)
}

// first is the release that is installed first.
func (u *Upgrade) first(w way) *Facts {
	if w.rollback {
		return u.New
	}
	return u.Old
}

// other is the release that replaces the first one.
func (u *Upgrade) other(w way) *Facts {
	if w.rollback {
		return u.Old
	}
	return u.New
}

// factsOf returns the facts for the scenarios of a way: those of its first release, with the other
// release as a version of its driver.
func (u *Upgrade) factsOf(w way) *Facts {
	f := *u.first(w)
	f.subject.Driver.Versions = map[string]scenario.DriverVersion{w.to(): u.other(w).subject.Driver.AsVersion()}
	return &f
}

// Plan composes the scenarios of an upgrade, of a rollback, and of the time between.
func (u *Upgrade) Plan() ([]*Trial, error) {
	var all []*Trial
	for _, w := range ways() {
		p := &plan{facts: u.factsOf(w)}
		u.states(p, w)
		if !w.skewed() {
			u.rolling(p, w)
			u.atCalls(p, w)
		}
		if p.err != nil {
			return nil, p.err
		}
		all = append(all, p.trials...)
	}
	return all, nil
}

// Alone runs the trials that failed with one release in the place of both. A failure that the old
// release shows when it replaces itself is not one of the upgrade.
func (u *Upgrade) Alone(ctx context.Context, outcomes []Outcome, o RunOptions) error {
	var err error
	if u.old, err = shownAlone(ctx, u.Old, outcomes, o); err == nil {
		u.new, err = shownAlone(ctx, u.New, outcomes, o)
	}
	return err
}

// shownAlone returns the findings of failed trials, by trial, if a release replaces itself.
func shownAlone(ctx context.Context, release *Facts, outcomes []Outcome, o RunOptions) (map[string][]string, error) {
	var patterns []string
	for _, outcome := range outcomes {
		if outcome.Tried() && outcome.Failed() {
			patterns = append(patterns, outcome.Name())
		}
	}
	if len(patterns) == 0 {
		return nil, nil
	}
	trials, err := (&Upgrade{Old: release, New: release}).Plan()
	if err == nil {
		trials, err = Chosen(trials, patterns)
	}
	if err != nil {
		return nil, fmt.Errorf("compose the trials of one release: %w", err)
	}
	o.Progress, o.Budget = nil, 0
	alone, err := Run(ctx, trials, o)
	found := make([][]Finding, len(alone))
	for i, outcome := range alone {
		found[i] = shownBy(outcome)
	}
	unite(found)
	shown := map[string][]string{}
	for i, outcome := range alone {
		for _, f := range found[i] {
			shown[outcome.Name()] = append(shown[outcome.Name()], f.Name)
		}
	}
	return shown, err
}

// ofRelease reports whether a release shows a finding by itself in each of its trials.
func ofRelease(shown map[string][]string, f Finding) bool {
	return !slices.ContainsFunc(f.Shown, func(o Outcome) bool { return !slices.Contains(shown[o.Name()], f.Name) })
}

// mark marks the findings that a release shows by itself.
func (u *Upgrade) mark(found []Finding) {
	for i := range found {
		switch {
		case u == nil:
		case ofRelease(u.old, found[i]):
			found[i].Known, found[i].Release = true, OldRelease
		case ofRelease(u.new, found[i]):
			found[i].Release = NewRelease
		}
	}
}

// rollsBack reports whether the trial is one of a rollback, which matters less than an upgrade.
func (o Outcome) rollsBack() bool { return strings.HasPrefix(o.Group, rollback) }

// Release says which release of a pair shows a finding if it replaces itself.
type Release string

// The releases of a pair.
const (
	OldRelease Release = "old"
	NewRelease Release = "new"
)
