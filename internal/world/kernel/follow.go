package kernel

import "strconv"

// A step of a process is its execution from a resumption until it yields. Two steps that touch
// nothing in common commute.

// Follower is a strategy that observes the relevant order of the steps of a run.
type Follower interface {
	Strategy
	// Follow receives the next incident.
	Follow(Incident)
}

// Incident is something that happens in a step, or between steps.
type Incident struct {
	Kind IncidentKind
	// Process is the process that is resumed, woken, or spawned.
	Process *Process
	// Pending means that a woken process notices the wake-up only at its next wait.
	Pending bool
	// Touch is the touched thing.
	Touch
}

// IncidentKind is the kind of an incident.
type IncidentKind uint8

const (
	// Resumed: a step begins.
	Resumed IncidentKind = iota
	// Yielded: the process could yield here.
	Yielded
	// Woken: a process becomes ready if it waits.
	Woken
	// Spawned: a process begins, ready to run.
	Spawned
	// Touched: the step touches something.
	Touched
	// Paused: no process is ready. Until the next step, incidents happen outside of processes.
	Paused
)

// Touch is one thing that a step touches, and the kind of the touch.
type Touch struct {
	What string
	How  How
}

// How is the kind of a touch.
type How uint8

// Reading commutes with Reading, Adding with Adding.
const (
	Reading How = 1 << iota
	Adding
	Changing
)

// Everything is touched by a step with unknown effects. Such a step commutes with no other step.
const Everything = "everything"

// Follows reports whether the strategy observes the touches of steps.
func (k *Kernel) Follows() bool { return k.follower != nil }

// Reads reports that the running step reads something.
func (k *Kernel) Reads(what string) { k.touch(what, Reading) }

// Adds reports that it adds to something in which the order does not matter.
func (k *Kernel) Adds(what string) { k.touch(what, Adding) }

// Changes reports that it changes something.
func (k *Kernel) Changes(what string) { k.touch(what, Changing) }

func (k *Kernel) touch(what string, how How) {
	if k.follower != nil {
		k.follower.Follow(Incident{Kind: Touched, Touch: Touch{what, how}})
	}
}

// follow reports an incident of a process.
func (k *Kernel) follow(kind IncidentKind, p *Process) {
	if k.follower != nil {
		k.follower.Follow(Incident{Kind: kind, Process: p, Pending: kind == Woken && (p.state == executing || p.defersWakes)})
	}
}

// followStep reports the start of a step. After that, it reports the things that each step of the
// process touches.
func (k *Kernel) followStep(p *Process) {
	if k.follower == nil {
		return
	}
	k.follow(Resumed, p)
	k.Changes("process " + p.numbered())
	if p.group == nil || !p.group.Apart {
		k.Changes(Everything)
		return
	}
	k.Changes("memory of " + p.group.Name)
	if p.group.Place != "" {
		k.Changes("node " + p.group.Place)
	}
}

// followWake reports that a process is woken.
func (k *Kernel) followWake(p *Process) {
	if k.follower != nil {
		if p.state == parked || p.state == ready || p.state == executing {
			k.follow(Woken, p)
		}
		k.Adds("process " + p.numbered())
	}
}

// numbered returns a unique name.
func (p *Process) numbered() string { return p.name + " " + strconv.Itoa(p.id) }
