package cluster

import "sync"

// Gate admits API clients between two steps of the simulation, and while the simulation stands
// still.
type Gate struct {
	lock    sync.Mutex
	running bool
	waiting []func()
	// Post schedules a function to be called between two steps of the simulation.
	Post func(func())
}

// Enter runs use with exclusive access to the cluster.
func (g *Gate) Enter(use func()) {
	g.lock.Lock()
	if !g.running {
		defer g.lock.Unlock()
		use()
		return
	}
	done := make(chan struct{})
	g.waiting = append(g.waiting, func() {
		defer close(done)
		use()
	})
	g.lock.Unlock()
	g.Post(g.admit)
	<-done
}

// admit admits the waiting uses.
func (g *Gate) admit() {
	g.lock.Lock()
	waiting := g.waiting
	g.waiting = nil
	g.lock.Unlock()
	for _, use := range waiting {
		use()
	}
}

// While runs the simulation. admit handles the clients that arrive meanwhile, at the latest when
// the simulation is idle again.
func (g *Gate) While(run func()) {
	g.lock.Lock()
	g.running = true
	g.lock.Unlock()
	run()
	g.lock.Lock()
	defer g.lock.Unlock()
	g.running = false
	for _, use := range g.waiting {
		use()
	}
	g.waiting = nil
}
