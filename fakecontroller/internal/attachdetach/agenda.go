package attachdetach

import (
	"container/heap"
	"time"
)

// agenda holds the times at which pairs must be processed without a change, because a backoff or a
// timeout ends. A pair has at most one entry.
type agenda struct {
	entries map[pair]*agendaEntry
	order   agendaHeap
}

type agendaEntry struct {
	pair  pair
	at    time.Duration
	index int
}

func newAgenda() agenda { return agenda{entries: map[pair]*agendaEntry{}} }

// set replaces the pair's entry.
func (a *agenda) set(at pair, when time.Duration) {
	a.cancel(at)
	e := &agendaEntry{pair: at, at: when}
	a.entries[at] = e
	heap.Push(&a.order, e)
}

func (a *agenda) cancel(at pair) {
	if e := a.entries[at]; e != nil {
		delete(a.entries, at)
		heap.Remove(&a.order, e.index)
	}
}

// next returns the due time of the first entry; false without entries.
func (a *agenda) next() (time.Duration, bool) {
	if len(a.order) == 0 {
		return 0, false
	}
	return a.order[0].at, true
}

// takeDue removes the entries that are due, earliest first.
func (a *agenda) takeDue(now time.Duration) []pair {
	var due []pair
	for len(a.order) > 0 && a.order[0].at <= now {
		due = append(due, a.order[0].pair)
		a.cancel(a.order[0].pair)
	}
	return due
}

type agendaHeap []*agendaEntry

func (h agendaHeap) Len() int { return len(h) }
func (h agendaHeap) Less(i, j int) bool {
	if h[i].at != h[j].at {
		return h[i].at < h[j].at
	}
	return h[i].pair.compare(h[j].pair) < 0
}
func (h agendaHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}
func (h *agendaHeap) Push(x any) {
	e := x.(*agendaEntry)
	e.index = len(*h)
	*h = append(*h, e)
}
func (h *agendaHeap) Pop() any {
	old := *h
	e := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return e
}
