package store

import (
	"strconv"
	"time"
)

// EventLife is how long the API server keeps an Event after its last write (its flag
// --event-ttl).
const EventLife = time.Hour

// lease is the time that is left to an Event, as of one of its writes.
type lease struct {
	ends     int64 // in nanoseconds of Unix time
	key      Key
	revision uint64
}

// leases are in the order of their ends, in blocks: there may be a million of them.
type leases [][]lease

const leaseBlock = 512

func (l *leases) push(granted lease) {
	last := len(*l) - 1
	if last < 0 || len((*l)[last]) == leaseBlock {
		*l = append(*l, nil)
		last++
	}
	(*l)[last] = append((*l)[last], granted)
}

// over takes the lease that ends first if it is over.
func (l *leases) over(now int64) (first lease, ok bool) {
	if len(*l) == 0 || (*l)[0][0].ends > now {
		return lease{}, false
	}
	first, (*l)[0] = (*l)[0][0], (*l)[0][1:]
	if len((*l)[0]) == 0 {
		*l = (*l)[1:]
	}
	return first, true
}

// grant gives an Event that was written its time.
func (s *Store) grant(key Key, revision uint64) {
	s.leases.push(lease{s.options.Now().Add(EventLife).UnixNano(), key, revision})
}

// Expire removes the Events whose time is over by the store's clock. Whoever moves that
// clock calls it.
func (s *Store) Expire() {
	if len(s.leases) == 0 {
		return
	}
	now := s.options.Now().UnixNano()
	for l, over := s.leases.over(now); over; l, over = s.leases.over(now) {
		event, ok := s.head.GetObject(events, l.key)
		if ok && event.GetResourceVersion() == strconv.FormatUint(l.revision, 10) {
			s.commit(events, l.key, event, nil)
		}
	}
}
