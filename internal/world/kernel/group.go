package kernel

import (
	"slices"
	"time"
)

// Group is the processes of one component, such as one kubelet: they share its
// memory and crash together.
type Group struct {
	Name    string
	members []*Process // by id, which is the order of their start
}

// NewGroup returns an empty group.
func NewGroup(name string) *Group { return &Group{Name: name} }

func (g *Group) add(p *Process) {
	if g != nil {
		g.members = append(g.members, p)
	}
}

func (g *Group) remove(p *Process) {
	if g == nil {
		return
	}
	if at, ok := slices.BinarySearchFunc(g.members, p.id, func(p *Process, id int) int { return p.id - id }); ok {
		g.members = slices.Delete(g.members, at, at+1)
	}
}

// Crash ends all processes of the group where they stand. What they held in
// memory is gone. The process that calls it must not be one of them.
func (g *Group) Crash() {
	for len(g.members) > 0 { // ends may start others
		for _, p := range slices.Clone(g.members) {
			p.kill()
		}
	}
}

// Running is the number of processes that have not ended.
func (g *Group) Running() int { return len(g.members) }

// After runs f as a process of the group once d of virtual time has passed.
func (k *Kernel) After(g *Group, name string, d time.Duration, f func(*Process)) *Process {
	return k.Spawn(g, name, func(p *Process) {
		p.Sleep(d)
		f(p)
	})
}
