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

	// old and new have, by trial, the names of the findings when the old or the new release
	// replaces itself. again has the findings of a second run with both releases. Repeat fills
	// them.
	old, new, again map[string][]string
}

// Same reports whether both releases start with the same arguments and the same program. equal
// compares the programs.
func (u *Upgrade) Same(equal func(program, other string) bool) bool {
	a, b := u.Old.subject.Driver, u.New.subject.Driver
	if !slices.Equal(a.Deploy, b.Deploy) {
		return false
	}
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

// factsOf returns the facts for the scenarios of a way. They are the facts of its first release,
// with the other release as a version of its driver.
func (u *Upgrade) factsOf(w way) *Facts {
	f := *u.first(w)
	f.subject.Driver.Versions = map[string]scenario.DriverVersion{w.to(): u.other(w).subject.Driver.AsVersion()}
	return &f
}

// Plan composes the scenarios of an upgrade, of a rollback, and of the time when plugins of both
// releases run.
func (u *Upgrade) Plan() ([]*Trial, error) {
	var all []*Trial
	for _, w := range ways() {
		p := &plan{facts: u.factsOf(w)}
		u.states(p, w)
		if !w.skewed() {
			u.rolling(p, w)
			u.atCalls(p, w)
			u.atInlineCalls(p, w)
		}
		if p.err != nil {
			return nil, p.err
		}
		all = append(all, p.trials...)
	}
	return all, nil
}

// Repeat runs the failed trials with only one of the releases, and once more with both. A failure
// that the old release shows when it replaces itself is not a failure of the upgrade.
func (u *Upgrade) Repeat(ctx context.Context, outcomes []Outcome, o RunOptions) error {
	var err error
	if u.old, err = shownAgain(ctx, &Upgrade{Old: u.Old, New: u.Old}, outcomes, o); err != nil {
		return err
	}
	if u.new, err = shownAgain(ctx, &Upgrade{Old: u.New, New: u.New}, outcomes, o); err != nil {
		return err
	}
	again, err := shownAgain(ctx, u, outcomes, o)
	if err == nil { // an interrupted run proves nothing
		u.again = again
	}
	return err
}

// shownAgain returns, by trial, the findings of failed trials when a pair of releases repeats them.
func shownAgain(ctx context.Context, pair *Upgrade, outcomes []Outcome, o RunOptions) (map[string][]string, error) {
	var patterns []string
	for _, outcome := range outcomes {
		if outcome.Tried() && outcome.Failed() {
			patterns = append(patterns, outcome.Name())
		}
	}
	if len(patterns) == 0 {
		return nil, nil
	}
	trials, err := pair.Plan()
	if err == nil {
		trials, err = Chosen(trials, patterns)
	}
	if err != nil {
		return nil, fmt.Errorf("compose the trials that failed: %w", err)
	}
	o.Budget = 0
	o.Sinks, o.Logs, o.KeepStates = nil, "", 0 // reports show only the upgrade itself
	again, err := Run(ctx, trials, o)
	found := make([][]Finding, len(again))
	for i, outcome := range again {
		found[i] = shownBy(outcome)
	}
	unite(found)
	pair.explain(found)
	shown := map[string][]string{}
	for i, outcome := range again {
		for _, f := range found[i] {
			shown[outcome.Name()] = append(shown[outcome.Name()], f.Name)
		}
	}
	return shown, err
}

// releaseOf returns the release that shows a finding of a trial without the other release. It
// returns "" if only a second run with both releases shows the finding.
func (u *Upgrade) releaseOf(trial, finding string) Release {
	old, new := slices.Contains(u.old[trial], finding), slices.Contains(u.new[trial], finding)
	switch {
	case old && new:
		return EachRelease
	case old:
		return OldRelease
	case new:
		return NewRelease
	case u.again != nil && !slices.Contains(u.again[trial], finding):
		return UnknownRelease
	}
	return ""
}

// split makes a finding for each release that shows the defect alone. If neither release shows it
// alone in some trials, these trials are one more finding: a defect of the upgrade.
func (u *Upgrade) split(found []Finding) (all []Finding) {
	for _, f := range found {
		for _, release := range []Release{"", NewRelease, EachRelease, UnknownRelease, OldRelease} {
			own := f
			own.Shown = nil
			for _, o := range f.Shown {
				if u.releaseOf(o.Name(), f.Name) == release {
					own.Shown = append(own.Shown, o)
				}
			}
			if len(own.Shown) == 0 {
				continue
			}
			own.Release, own.Known = release, f.Known || release == OldRelease
			all = append(all, own.toldBy(own.Shown[0]))
		}
	}
	return all
}

// toldBy returns the finding in the form in which one of its trials shows it.
func (f Finding) toldBy(o Outcome) Finding {
	for _, own := range shownBy(o) {
		if own.Name == f.Name {
			f.Text, f.Failure = own.Text, own.Failure
		}
	}
	return f
}

// rollsBack reports whether the trial is a rollback, which matters less than an upgrade.
func (o Outcome) rollsBack() bool { return strings.HasPrefix(o.Group, rollback) }

// Release names the release of a pair that shows a finding when it replaces itself.
type Release string

// The releases of a pair.
const (
	OldRelease Release = "old"
	NewRelease Release = "new"
	// EachRelease is for findings of both releases: the new release has not fixed them.
	EachRelease Release = "each"
	// UnknownRelease is for findings that no second run shows. They depend on a race, possibly a
	// race within one release.
	UnknownRelease Release = "unknown"
)
