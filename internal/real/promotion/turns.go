package promotion

import "sync"

// turns say which subjects run at once. Who touches the nodes runs alone, as does who cannot have names of its own; of
// those with a driver that is there once in a cluster one runs at a time.
type turns struct {
	nodes   sync.RWMutex
	mu      sync.Mutex
	drivers map[string]*sync.Mutex
}

func newTurns() *turns { return &turns{drivers: map[string]*sync.Mutex{}} }

// Turn waits until a subject may run. done lets others.
func (t *Target) Turn(s Subject) (done func()) {
	var held []func()
	for _, name := range s.Owned { // sorted; the nodes come last: nobody waits for another who waits for him
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
