package sim

import (
	"slices"
	"time"

	"github.com/csisim/csisim/internal/cluster"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/kernel"
)

// ConfigError means that a cluster cannot be created from its options.
type ConfigError = cluster.ConfigError

// EnvironmentError means that this machine cannot provide a thing that the cluster needs, or that a
// driver program does not start.
type EnvironmentError = cluster.EnvironmentError

// UpgradeError means that another release of a driver does not start.
type UpgradeError = cluster.UpgradeError

// StuckError means that the awaited condition did not come true. It lists the waiting processes.
type StuckError struct {
	// What describes the awaited condition.
	What string
	// Reason is Deadline if the virtual time ran out, Stuck if no event can happen any more.
	Reason kernel.Reason
	// After is the virtual time that was given.
	After time.Duration
	// Waiting has a line for each group of processes that waits.
	Waiting []string
	// Changing has a line for each object that components kept changing instead of settling.
	Changing []string
	// Refused has a line for each driver that a kubelet has refused to register.
	Refused []string
}

// The forms of a verdict on a wait.
const (
	timedOut verdict.Form = "timed out waiting for the condition"
	stuck    verdict.Form = "can never come true"
)

// Verdict returns the verdict on the wait. It names the condition and the limit of the wait.
func (e *StuckError) Verdict() verdict.Verdict {
	v := verdict.Verdict{Breaks: verdict.Progress, Form: timedOut, Found: []string{e.What, e.After.String()}}
	s := verdict.Say("%s: %s", verdict.Kept(timedOut), verdict.Quoted(e.What)).Aside(" (after %v of cluster time)", e.After.Round(time.Millisecond))
	if e.Reason == kernel.Stuck {
		v.Form, v.Found = stuck, v.Found[:1]
		s = verdict.Say("%s %s: nothing is left to happen", verdict.Quoted(e.What), verdict.Kept(stuck))
	}
	return v.Worded(s)
}

func (e *StuckError) Error() string {
	text := e.Verdict().Text
	for _, line := range slices.Concat(e.Changing, e.Waiting) {
		text += "\n  " + line
	}
	return text
}
