package kernel

import "strconv"

// A step of a process is what it does from where it is resumed to where it gives way. Two steps that touch nothing in common come to
// the same in either order.

// Follower is a strategy that sees what the steps of a run do, as far as the order of steps depends on it.
type Follower interface {
	Strategy
	// Follow takes notice of the next thing that happens.
	Follow(Incident)
}

// Incident is one thing that happens in a step, or between steps.
type Incident struct {
	Kind IncidentKind
	// Process is the one that is resumed, woken, or spawned.
	Process *Process
	// Pending says of a process that is woken that it notices only when it waits the next time.
	Pending bool
	// Touch is what is touched.
	Touch
}

// IncidentKind says what happens.
type IncidentKind uint8

const (
	// Resumed: a step begins.
	Resumed IncidentKind = iota
	// Yielded: the process could give way here.
	Yielded
	// Woken: a process becomes ready if it waits.
	Woken
	// Spawned: a process begins, ready to run.
	Spawned
	// Touched: the step touches something.
	Touched
	// Paused: no process is ready. What happens until the next step happens outside of them.
	Paused
)

// Touch is one thing that a step touches, and how.
type Touch struct {
	What string
	How  How
}

// How something is touched.
type How uint8

// What touches a thing in the first or second way commutes with what touches it in the same way.
const (
	Reading How = 1 << iota
	Adding
	Changing
)

// Everything is what a step touches of which nothing else is known: it commutes with no other.
const Everything = "everything"

// Follows reports whether the strategy wants to see what steps touch.
func (k *Kernel) Follows() bool { return k.follower != nil }

// Reads says that the running step reads something.
func (k *Kernel) Reads(what string) { k.touch(what, Reading) }

// Adds says that it adds to something, in an order that nobody sees.
func (k *Kernel) Adds(what string) { k.touch(what, Adding) }

// Changes says that it changes something.
func (k *Kernel) Changes(what string) { k.touch(what, Changing) }

func (k *Kernel) touch(what string, how How) {
	if k.follower != nil {
		k.follower.Follow(Incident{Kind: Touched, Touch: Touch{what, how}})
	}
}

// follow hands on that something happens to a process.
func (k *Kernel) follow(kind IncidentKind, p *Process) {
	if k.follower != nil {
		k.follower.Follow(Incident{Kind: kind, Process: p, Pending: kind == Woken && (p.state == executing || p.deaf)})
	}
}

// followStep says that a step begins, and what each step of its process touches.
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

// followWake says that a process is woken.
func (k *Kernel) followWake(p *Process) {
	if k.follower != nil {
		if p.state == parked || p.state == ready || p.state == executing {
			k.follow(Woken, p)
		}
		k.Adds("process " + p.numbered())
	}
}

// numbered is a name that no other process has.
func (p *Process) numbered() string { return p.name + " " + strconv.Itoa(p.id) }
