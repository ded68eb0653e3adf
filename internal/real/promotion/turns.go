package promotion

import "sync"

// turns decide which subjects run concurrently. A subject that affects the nodes, or cannot have
// unique names, runs alone. Subjects with the same driver run sequentially if the driver can exist
// only once in a cluster.
type turns struct {
	nodes   sync.RWMutex
	mu      sync.Mutex
	drivers map[string]*sync.Mutex
}

func newTurns() *turns { return &turns{drivers: map[string]*sync.Mutex{}} }

// Turn waits until a subject may run. done ends its turn.
func (t *Target) Turn(s Subject) (done func()) {
	var held []func()
	// Locking in sorted order, the nodes last, avoids a deadlock.
	for _, name := range s.Owned {
		driver := t.turns.driver(name)
		driver.Lock()
		held = append(held, driver.Unlock)
	}
	if s.Alone {
		t.turns.nodes.Lock()
		held = append(held, t.turns.nodes.Unlock)
	} else {
		t.turns.nodes.RLock()
		held = append(held, t.turns.nodes.RUnlock)
	}
	return func() {
		for _, release := range held {
			release()
		}
	}
}

func (t *turns) driver(name string) *sync.Mutex {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.drivers[name] == nil {
		t.drivers[name] = &sync.Mutex{}
	}
	return t.drivers[name]
}
