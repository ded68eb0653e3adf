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
	// Shared says that trials which ran at once disturbed each other. Default: they did not.
	Shared *Shared
	// Known lists the driver's known findings. Default: none.
	Known *Known
	// Verbose lists all names and shows findings in full. Default: the card is short.
	Verbose bool
	// Replay is the command that runs a trial again, but for its name. Default: none.
	Replay func(*Trial) string
}

// Line is one line of the card: a group with its trials.
type Line struct {
	Group
	Outcomes []Outcome
}

// Lines are the groups that have trials, in the order of the card.
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

// Totals counts outcomes. Trials that the driver does not offer are not counted.
type Totals struct {
	Passed, Failed, NotTried, Calls int
	// Known of the failed trials have only known findings.
	Known       int
	ClusterTime time.Duration
}

// Totals are those of the card.
func (c *Card) Totals() Totals {
	var t Totals
	found := c.Findings()
	for _, o := range c.Outcomes {
		switch {
		case o.NotOffered != "":
		case !o.Tried():
			t.NotTried++
		case o.Failed():
			t.Failed++
			if OnlyKnown(found, o.Trial) {
				t.Known++
			}
		default:
			t.Passed++
		}
		if o.Result != nil {
			t.Calls += o.Result.Calls
			t.ClusterTime += o.Result.VirtualTime
		}
	}
	return t
}

// Reason is why some trials were not tried, or are none.
type Reason struct {
	Why    string
	Trials []*Trial
}

// NotTried are the trials that were not tried, by reason.
func (c *Card) NotTried() []Reason {
	return c.reasons(func(t *Trial) string { return t.NotTried })
}

// NotOffered are the trials that there are not for this driver, by reason.
func (c *Card) NotOffered() []Reason {
	return c.reasons(func(t *Trial) string { return t.NotOffered })
}

// reasons gathers trials by why they were not run; empty is none.
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
