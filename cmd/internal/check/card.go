package check

import (
	"slices"
	"time"

	"github.com/csisim/csisim/internal/driver/unfinished"
)

// Card is the report on one driver.
type Card struct {
	Facts    *Facts
	Outcomes []Outcome
	// Took is the wall time of all trials together.
	Took time.Duration
	// Waits are the waits of all runs for work of the driver, in wall time.
	Waits []unfinished.Wait
	// Shared is evidence that parallel trials disturbed each other. Default: they did not.
	Shared *Shared
	// Known lists the driver's known findings. Default: none.
	Known *Known
	// Upgrade is the pair of releases of an upgrade check. Default: one release is checked.
	Upgrade *Upgrade
	// Verbose lists all names and shows findings in full. Default: the card is short.
	Verbose bool
	// Replay returns the command that runs a trial again. Default: none.
	Replay func(*Trial) string
}

// Line is one line of the card, which is a group with its trials.
type Line struct {
	Group
	Outcomes []Outcome
}

// Lines returns the groups that have trials, in the order of the card.
func (c *Card) Lines() []Line {
	var lines []Line
	for _, g := range groups {
		line := Line{Group: g}
		for _, o := range c.Outcomes {
			if o.Trial.Group == g.Name && o.NotOffered == "" {
				line.Outcomes = append(line.Outcomes, o)
			}
		}
		if len(line.Outcomes) > 0 {
			lines = append(lines, line)
		}
	}
	return lines
}

// Totals counts outcomes. Trials that the driver does not support are not counted.
type Totals struct {
	Passed, NotTried, Calls int
	// Failed is the number of trials with a new finding, Known the number of trials with only known
	// ones.
	Failed, Known int
	ClusterTime   time.Duration
	// Overdue is the number of calls that exceeded the patience, in trials and in earlier queries.
	Overdue int
}

// Totals counts the outcomes of the card.
func (c *Card) Totals() Totals {
	t := Totals{Overdue: c.Facts.Overdue}
	if c.Upgrade != nil {
		t.Overdue += c.Upgrade.Old.Overdue
	}
	found := c.Findings()
	for _, o := range c.Outcomes {
		switch {
		case o.NotOffered != "":
		case !o.Tried():
			t.NotTried++
		case o.Failed() && OnlyKnown(found, o.Trial):
			t.Known++
		case o.Failed():
			t.Failed++
		default:
			t.Passed++
		}
		if o.Result != nil {
			t.Calls += o.Result.Calls
			t.Overdue += len(o.Result.Overdue)
			t.ClusterTime += o.Result.VirtualTime
		}
	}
	return t
}

// Reason is the reason why some trials were not tried or do not apply.
type Reason struct {
	Why    string
	Trials []*Trial
}

// NotTried returns the trials that were not tried, grouped by reason.
func (c *Card) NotTried() []Reason {
	return c.reasons(func(t *Trial) string { return t.NotTried })
}

// NotOffered returns the trials that do not apply to this driver, grouped by reason.
func (c *Card) NotOffered() []Reason {
	return c.reasons(func(t *Trial) string { return t.NotOffered })
}

// reasons groups trials by the reason for which they were not run, and skips those with an empty
// one.
func (c *Card) reasons(why func(*Trial) string) []Reason {
	var all []Reason
	for _, o := range c.Outcomes {
		text := why(o.Trial)
		if text == "" {
			continue
		}
		i := slices.IndexFunc(all, func(r Reason) bool { return r.Why == text })
		if i < 0 {
			all = append(all, Reason{Why: text})
			i = len(all) - 1
		}
		all[i].Trials = append(all[i].Trials, o.Trial)
	}
	return all
}
