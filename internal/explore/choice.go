package explore

import (
	"fmt"
	"strings"
	"time"

	"github.com/csisim/csisim/internal/world/kernel"
)

// Choice is a decision of a run that differs from the calm one. Its name is its subject, so that
// the choice is found again in a run that differs elsewhere. The choice of the next process occurs
// so often that it is counted separately for each instant.
type Choice struct {
	Kind  string `json:"kind" want:"required" example:"fault" doc:"The kind of decision."`
	Of    string `json:"of,omitempty" example:"NodeStageVolume of vol-0001 on node-a by mock.csi.csisim.dev" doc:"The subject of the decision: a driver call, or the process that would run."`
	At    string `json:"at,omitempty" example:"30.4s" doc:"The virtual time since the beginning; of choices of a process alone."`
	Nth   int    `json:"nth" want:"required" doc:"Which of the decisions of this kind about the same, and of this instant if there is one, from 1."`
	Takes string `json:"takes" want:"required" example:"answer lost" doc:"The alternative that is taken: a fault, the process that runs instead, or a number."`
}

// String renders the choice as a line for people.
func (c Choice) String() string {
	switch c.Kind {
	case kernel.Fault.String(), kernel.Outcome.String(), kernel.Relist.String():
		return fmt.Sprintf("%s%s: %s", c.Of, c.times(), c.Takes)
	case kernel.RunNext.String(), kernel.GiveWay.String():
		return fmt.Sprintf("at %s %s%s: %s runs first", c.At, c.Of, c.times(), c.Takes)
	}
	return fmt.Sprintf("%s of %s%s: %s", c.Kind, c.Of, c.times(), c.Takes)
}

func (c Choice) times() string {
	if c.Nth == 1 {
		return ""
	}
	return fmt.Sprintf(", time %d", c.Nth)
}

// schedules reports whether the choice only affects the order of processes.
func (c Choice) schedules() bool {
	return c.Kind == kernel.RunNext.String() || c.Kind == kernel.GiveWay.String()
}

// IsFault reports whether the choice is a fault at a call or a write.
func (c Choice) IsFault() bool {
	return c.Kind == kernel.Fault.String() || c.Kind == kernel.Outcome.String()
}

// decision is the subject of a kernel choice.
type decision struct {
	kind           kernel.ChoiceKind
	process, label string
	at             time.Duration // time of the decision; set only if there is a process
}

func (d decision) instant() string {
	if d.process == "" {
		return ""
	}
	return d.at.String()
}

func (d decision) String() string {
	switch {
	case d.process == "":
		return d.label
	case d.label == "":
		return d.process
	}
	return d.process + " at " + d.label
}

// named numbers decisions about the same subject in the order in which they occur.
type named struct{ seen map[decision]int }

func newNamed() *named { return &named{seen: map[decision]int{}} }

// ownUID is the middle part of all uids that a run itself generates. They are the same in a
// repetition of the run.
const ownUID = "-0000-4000-8000-"

// steady replaces the ids that a driver generates for volumes and snapshots in a name, because they
// differ in each run.
func steady(name string) string {
	const dashes = 4 // of a uid
	if strings.Count(name, "-") < dashes*(1+strings.Count(name, ownUID)) {
		return name
	}
	return replaceUIDs(name, func(id string) string {
		if strings.Contains(id, ownUID) {
			return id
		}
		return "…"
	})
}

// next names the decision and counts how often it has occurred.
func (n *named) next(c kernel.Choice) (decision, int) {
	d := decision{kind: c.Kind, label: steady(c.Label)}
	if p := c.Process(0); p != nil {
		d.process, d.at = steady(p.Name()), c.At
	}
	n.seen[d]++
	return d, n.seen[d]
}

// alternative returns the name of one of the alternatives. Alternatives of the same name are equal.
func alternative(c kernel.Choice, i int) string {
	switch {
	case c.Process(i) != nil:
		name, before := steady(c.Process(i).Name()), 0
		for j := range i {
			if steady(c.Process(j).Name()) == name {
				before++
			}
		}
		if before > 0 {
			return fmt.Sprintf("%s (%d)", name, before+1)
		}
		return name
	case c.Alternatives != nil:
		return c.Alternatives[i]
	case c.Kind == kernel.Relist && i == c.N-1:
		return "its watches break down, it lists anew"
	case c.Kind == kernel.Relist:
		return "its watches go on"
	}
	return fmt.Sprint(i)
}

// find returns the index of the alternative with a name; false if there is none.
func find(c kernel.Choice, name string) (int, bool) {
	for i := range c.N {
		if alternative(c, i) == name {
			return i, true
		}
	}
	return 0, false
}
