package check

import (
	"slices"
	"time"
)

// Card is the report on one driver.
type Card struct {
	Facts    *Facts
	Outcomes []Outcome
	// Took is the wall time of all trials together.
	Took time.Duration
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
			if o.Trial.Group == g.Name {
				line.Outcomes = append(line.Outcomes, o)
			}
		}
		if len(line.Outcomes) > 0 {
			lines = append(lines, line)
		}
	}
	return lines
}

// Totals count outcomes.
type Totals struct {
	Passed, Failed, NotTried, Calls int
	ClusterTime                     time.Duration
}

// Totals are those of the card.
func (c *Card) Totals() Totals {
	var t Totals
	for _, o := range c.Outcomes {
		switch {
		case !o.Tried():
			t.NotTried++
		case o.Failed():
			t.Failed++
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

// Reason is why some trials were not tried.
type Reason struct {
	Why    string
	Trials []*Trial
}

// NotTried are the trials that were not tried, by reason.
func (c *Card) NotTried() []Reason {
	var all []Reason
	for _, o := range c.Outcomes {
		if o.Tried() {
			continue
		}
		i := slices.IndexFunc(all, func(r Reason) bool { return r.Why == o.NotTried })
		if i < 0 {
			all = append(all, Reason{Why: o.NotTried})
			i = len(all) - 1
		}
		all[i].Trials = append(all[i].Trials, o.Trial)
	}
	return all
}
