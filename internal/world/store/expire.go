package store

import (
	"strconv"
)

// lease is the end of an object's TTL, counted from one of its writes.
type lease struct {
	ends     int64 // in nanoseconds of Unix time
	place    *leasePlace
	name     string
	revision uint64
}

// leasePlace is shared by very many leases.
type leasePlace struct {
	res       *Resource
	namespace string
}

// leases are sorted by their ends, in blocks, because there may be a million of them.
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

// over removes the lease with the earliest end, if it has ended.
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

// grant starts the TTL of an object that was written.
func (s *Store) grant(res *Resource, key Key, revision uint64) {
	at := leasePlace{res, key.Namespace}
	if s.leased == nil || *s.leased != at {
		s.leased = &at
	}
	s.leases.push(lease{s.options.Now().Add(res.TTL).UnixNano(), s.leased, key.Name, revision})
}

// Expire removes the objects with a TTL that has expired by the store's clock. It must be called
// when that clock moves.
func (s *Store) Expire() {
	if len(s.leases) == 0 {
		return
	}
	now := s.options.Now().UnixNano()
	for l, over := s.leases.over(now); over; l, over = s.leases.over(now) {
		key := Key{l.place.namespace, l.name}
		obj, ok := s.head.GetObject(l.place.res, key)
		if ok && obj.GetResourceVersion() == strconv.FormatUint(l.revision, 10) {
			s.Commit(l.place.res, key, obj, nil)
		}
	}
}
