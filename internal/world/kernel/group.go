package kernel

import "time"

// Group has the processes of one component, such as one kubelet: they share its memory and crash
// together.
type Group struct {
	Name string
	// Apart means that its processes share only two things with other groups: the things that they
	// name in Kernel.Touch, and the node in its Place.
	Apart bool
	Place string

	first, last *Process // of its members, in the order of their start
	running     int
}

// NewGroup returns an empty group.
func NewGroup(name string) *Group { return &Group{Name: name} }

// add makes a process the last of the group.
func (g *Group) add(p *Process) {
	if g == nil {
		return
	}
	if p.before = g.last; p.before == nil {
		g.first = p
	} else {
		p.before.after = p
	}
	g.last = p
	g.running++
}

// remove takes constant time, even in a group of a hundred thousand processes.
func (g *Group) remove(p *Process) {
	if g == nil {
		return
	}
	if p.before == nil {
		g.first = p.after
	} else {
		p.before.after = p.after
	}
	if p.after == nil {
		g.last = p.before
	} else {
		p.after.before = p.before
	}
	p.before, p.after = nil, nil
	g.running--
}

// Crash ends all processes of the group immediately, and their memory is lost. The calling process
// must not belong to the group.
func (g *Group) Crash() {
	for g.first != nil { // the end of a process may start other processes
		for _, p := range g.members() {
			p.kill()
		}
	}
}

func (g *Group) members() []*Process {
	all := make([]*Process, 0, g.running)
	for p := g.first; p != nil; p = p.after {
		all = append(all, p)
	}
	return all
}

// Running returns the number of processes that have not ended.
func (g *Group) Running() int { return g.running }

// After runs f as a process of the group after d of virtual time.
func (k *Kernel) After(g *Group, name string, d time.Duration, f func(*Process)) *Process {
	return k.Spawn(g, name, func(p *Process) {
		p.Sleep(d)
		f(p)
	})
}
