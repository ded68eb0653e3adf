package kernel

import (
	"container/heap"
	"time"
)

type timer struct {
	at    time.Duration
	seq   uint64
	proc  *Process
	idle  bool
	index int
}

func (t *timer) fired(now time.Duration) bool { return t.index < 0 && now >= t.at }

// timerHeap sorts by time, then by the order in which the timers were set.
type timerHeap struct{ items timerItems }

func (h *timerHeap) peek() (*timer, bool) {
	if len(h.items) == 0 {
		return nil, false
	}
	return h.items[0], true
}

func (h *timerHeap) pop()            { heap.Pop(&h.items) }
func (h *timerHeap) push(t *timer)   { heap.Push(&h.items, t) }
func (h *timerHeap) remove(t *timer) { heap.Remove(&h.items, t.index) }

type timerItems []*timer

func (h timerItems) Len() int { return len(h) }
func (h timerItems) Less(i, j int) bool {
	if h[i].at != h[j].at {
		return h[i].at < h[j].at
	}
	return h[i].seq < h[j].seq
}
func (h timerItems) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}
func (h *timerItems) Push(x any) {
	t := x.(*timer)
	t.index = len(*h)
	*h = append(*h, t)
}
func (h *timerItems) Pop() any {
	old := *h
	t := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	t.index = -1
	return t
}

func (k *Kernel) schedule(p *Process, at time.Duration, idle bool) *timer {
	k.seq++
	if k.follower != nil {
		// Equal timers end in the order in which they were set.
		k.Changes("timers of " + at.String())
	}
	p.own = timer{at: at, seq: k.seq, proc: p, idle: idle}
	t := &p.own
	p.timer = t
	k.timers.push(t)
	if !idle {
		k.busy++
	}
	return t
}

func (k *Kernel) cancel(p *Process) {
	t := p.timer
	p.timer = nil
	k.timers.remove(t)
	t.index = -2 // cancelled, not fired
	t.at = 1<<63 - 1
	if !t.idle {
		k.busy--
	}
}
