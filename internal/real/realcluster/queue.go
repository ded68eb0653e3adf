package realcluster

import (
	"slices"
	"sync"
	"time"
)

// queue is where watches and readers of records meet the scenario's goroutine.
type queue struct {
	mu      sync.Mutex
	waiting []arrival
	news    chan struct{}
}

// arrival is something that happened in the cluster.
type arrival struct {
	at   time.Time
	take func()
}

func newQueue() *queue { return &queue{news: make(chan struct{}, 1)} }

// put may be called from any goroutine.
func (q *queue) put(at time.Time, take func()) {
	q.mu.Lock()
	q.waiting = append(q.waiting, arrival{at, take})
	q.mu.Unlock()
	select {
	case q.news <- struct{}{}:
	default:
	}
}

// late is how long an arrival waits for others that happened before it and come after it: a call is known by a file and
// a stream, a change of an object by a watch.
const late = 60 * time.Millisecond

// due takes what happened before a time, in its order.
func (q *queue) due(before time.Time) []arrival {
	q.mu.Lock()
	defer q.mu.Unlock()
	slices.SortStableFunc(q.waiting, func(a, b arrival) int { return a.at.Compare(b.at) })
	n := 0
	for n < len(q.waiting) && q.waiting[n].at.Before(before) {
		n++
	}
	all := slices.Clone(q.waiting[:n])
	q.waiting = slices.Delete(q.waiting, 0, n)
	return all
}

// pump takes in what has happened, and then does what follows from it.
func (c *Cluster) pump() {
	c.takeIn()
	for len(c.toDo) > 0 {
		next := c.toDo[0]
		c.toDo = c.toDo[1:]
		next()
	}
}

// takeIn takes in what has happened.
func (c *Cluster) takeIn() {
	for _, a := range c.queue.due(time.Now().Add(-late)) {
		c.clock.at(a.at, a.take)
	}
}

// after has pump do something when it has taken in what there is.
func (c *Cluster) after(do func()) { c.toDo = append(c.toDo, do) }
