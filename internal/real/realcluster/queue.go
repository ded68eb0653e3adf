package realcluster

import (
	"slices"
	"sync"
	"time"
)

// queue passes arrivals from watches and readers of records to the scenario's goroutine.
type queue struct {
	mu      sync.Mutex
	waiting []arrival
	news    chan struct{}
}

// arrival is an event in the cluster.
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

// late is the time that an arrival waits for earlier events that arrive later: calls arrive through
// a file and a stream, and changes of objects through a watch.
const late = 60 * time.Millisecond

// due removes and returns the events before a time, in order.
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

// pump processes all arrivals, and then the actions that they have requested.
func (c *Cluster) pump() {
	c.takeIn()
	for len(c.toDo) > 0 {
		next := c.toDo[0]
		c.toDo = c.toDo[1:]
		next()
	}
}

// takeIn processes all arrivals.
func (c *Cluster) takeIn() {
	for _, a := range c.queue.due(time.Now().Add(-late)) {
		c.clock.at(a.at, a.take)
	}
}

// after makes pump call a function when it has processed the arrivals.
func (c *Cluster) after(do func()) { c.toDo = append(c.toDo, do) }
