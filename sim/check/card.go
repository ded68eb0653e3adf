package check

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/csisim/csisim/sim/scenario"
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

// Finding is one thing that is wrong, and the trials that show it.
type Finding struct {
	Verdict string
	// Failure is the first that was found; empty for a trial that could not be run.
	Failure scenario.Failure
	Shown   []Outcome
}

// Findings are what is wrong: first the breaches of the CSI spec, which say what the
// driver did, then what came of it; what most trials show first.
func (c *Card) Findings() []Finding {
	var all []Finding
	for _, o := range c.Outcomes {
		for _, f := range failuresOf(o) {
			i := slices.IndexFunc(all, func(other Finding) bool { return gist(other.Verdict) == gist(f.Verdict) })
			if i < 0 {
				all = append(all, Finding{Verdict: f.Verdict, Failure: f})
				i = len(all) - 1
			}
			if n := len(all[i].Shown); n == 0 || all[i].Shown[n-1].Trial != o.Trial {
				all[i].Shown = append(all[i].Shown, o)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(b.breach(), a.breach()), cmp.Compare(len(b.Shown), len(a.Shown)))
	})
	return all
}

// breach is 1 for a breach of the CSI spec, else 0.
func (f Finding) breach() int { return min(1, len(f.Failure.Spec)) }

// failuresOf are the failures of a trial with verdicts that are the same for the same
// defect in other trials.
func failuresOf(o Outcome) []scenario.Failure {
	if o.Err != nil {
		return []scenario.Failure{{Verdict: firstLine(o.Err.Error()), Got: o.Err.Error()}}
	}
	if !o.Failed() {
		return nil
	}
	var all []scenario.Failure
	for _, f := range o.Result.Failures {
		f.Verdict = strings.TrimPrefix(firstLine(f.Verdict), "CSI spec violated: ")
		all = append(all, f)
	}
	return all
}

// own are the parts of a verdict that are those of one run: ids, sizes of lists, and
// which of the pods and claims it was.
var own = regexp.MustCompile(`/tmp/[^ ]*|[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{12,}|[0-9]+|\b(pod|pvc|pv|va) [^ ]+`)

// gist is a verdict without what is one run's own.
func gist(verdict string) string {
	verdict, _, _ = strings.Cut(verdict, " (and ")
	return own.ReplaceAllString(verdict, "*")
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
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
