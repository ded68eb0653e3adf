package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/csisim/csisim/cmd/internal/check"
	"github.com/csisim/csisim/cmd/internal/report"
	"github.com/csisim/csisim/internal/input/partial"
	"github.com/csisim/csisim/internal/world/plural"
)

// anyTrial is the value of --allow-untried without a pattern.
const anyTrial = "*"

// codeOfCard returns the exit code of a check. It is 1 if a trial failed. Otherwise it is the code
// of the trials that could not run, or 3 if a required trial was not tried.
func (f *checkFlags) codeOfCard(card *check.Card) int {
	code := exitPassed
	found := card.Findings()
	for _, o := range card.Outcomes {
		if !o.Tried() || !o.Failed() || check.OnlyKnown(found, o.Trial) {
			continue
		}
		failed := exitOf(report.Run{Result: o.Result, Err: o.Err})
		if failed == exitFailed {
			return exitFailed
		}
		code = max(code, failed)
	}
	if code == exitPassed && f.untried(card) != "" {
		return exitEnvironment
	}
	return code
}

// untried names the required trials that were not tried; "" if all were tried.
func (f *checkFlags) untried(card *check.Card) string {
	var names []string
	for _, reason := range card.NotTried() {
		for _, t := range reason.Trials {
			if !f.mayStayUntried(t) {
				names = append(names, t.Name())
			}
		}
	}
	totals := card.Totals()
	switch {
	case len(names) > 0:
		return plural.Of(len(names), "scenario") + " not tried"
	case totals.Passed+totals.Failed+totals.Known+totals.NotTried == 0 && !slices.Contains(f.allowUntried, anyTrial):
		return "nothing was tried"
	}
	return ""
}

// mayStayUntried reports whether --allow-untried names a trial.
func (f *checkFlags) mayStayUntried(t *check.Trial) bool {
	return slices.ContainsFunc(f.allowUntried, func(pattern string) bool { return partial.Wildcard(pattern, t.Name()) })
}

// checkAllowed rejects the names of trials that do not exist.
func (f *checkFlags) checkAllowed(trials []*check.Trial) error {
	if err := areTrials(f.allowUntried, trials); err != nil {
		return usage("--allow-untried: %w", err)
	}
	return nil
}

// untriedHint explains how to let a check pass although some trials could not run.
func untriedHint(what string) string {
	return fmt.Sprintf("%s: that is not passed, and ends with exit code %d; --allow-untried[=NAME,NAME] permits it", strings.ToLower(what), exitEnvironment)
}
