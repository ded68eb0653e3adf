package kernel

import (
	"sort"
	"time"
)

// Group is the processes of one component, such as one kubelet: they share its
// memory and crash together.
type Group struct {
	Name    string
	members map[int]*Process
}

// NewGroup returns an empty group.
func NewGroup(name string) *Group { return &Group{Name: name, members: map[int]*Process{}} }

func (g *Group) add(p *Process) {
	if g != nil {
		g.members[p.id] = p
	}
}

func (g *Group) remove(p *Process) {
	if g != nil {
		delete(g.members, p.id)
	}
}

// Crash ends all processes of the group where they stand. What they held in
// memory is gone. The process that calls it must not be one of them.
func (g *Group) Crash() {
	for len(g.members) > 0 {
		ids := make([]int, 0, len(g.members))
		for id := range g.members {
			ids = append(ids, id)
		}
		sort.Ints(ids)
		for _, id := range ids {
			if p, ok := g.members[id]; ok {
				p.kill()
			}
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
