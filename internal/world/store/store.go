package store

import (
	"fmt"
	"time"
)

// Store is the database of one simulated cluster.
type Store struct {
	options     Options
	head        *head
	past        []*Snapshot // oldest first, at most options.History
	latest      *commit
	moment      *moment // of the latest commit, while views may lag
	versioned   bool    // views may lag
	sinceKept   int     // moments since the last one with a kept state
	subscribers byResource[audience]
	observers   []func(Commit)
	guard       guard
	defined     map[string]*Resource // by name with group
	everDefined int
	admission   Admission
	sheet       sheet
	leases      leases      // of objects with a TTL
	leased      *leasePlace // that of the newest lease
	shared      Shared
}

// Now returns the store's time.
func (s *Store) Now() time.Time { return s.options.Now() }

// New returns an empty store.
func New(options Options) *Store {
	s := &Store{
		options:     options.withDefaults(),
		head:        newHead(),
		latest:      &commit{},
		moment:      &moment{},
		subscribers: audiences(),
		defined:     map[string]*Resource{},
		admission:   admitAll{},
	}
	if options.Guard {
		s.guard = guard{}
	}
	return s
}

// Admit sets the admission of all writes. It must be called before the first write.
func (s *Store) Admit(admission Admission) { s.admission = admission }

// Admission returns the admission of all writes; nil if there is none.
func (s *Store) Admission() Admission {
	if s.admission == (admitAll{}) {
		return nil
	}
	return s.admission
}

// Revision returns the number of the last write.
func (s *Store) Revision() uint64 { return s.head.revision }

// Snapshot returns the current head.
func (s *Store) Snapshot() *Snapshot { return s.head.snapshot() }

// At returns the state at a past revision, within Options.History.
func (s *Store) At(revision uint64) (*Snapshot, error) {
	if revision == s.head.revision {
		return s.Snapshot(), nil
	}
	if revision > s.head.revision {
		return nil, fmt.Errorf("revision %d is in the future: the store is at %d", revision, s.head.revision)
	}
	age := s.head.revision - revision
	if age > uint64(len(s.past)) {
		return nil, fmt.Errorf("revision %d is no longer kept: the oldest is %d, raise Options.History to keep more", revision, s.head.revision-uint64(len(s.past)))
	}
	return s.past[uint64(len(s.past))-age], nil
}

// remember saves the state before a write for At.
func (s *Store) remember(before *Snapshot) {
	if len(s.past) == s.options.History {
		s.past[0] = nil
		s.past = s.past[1:]
	}
	s.past = append(s.past, before)
}
