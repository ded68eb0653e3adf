package store

import "time"

// EventLife is how long the API server keeps an Event after its last write (its flag
// --event-ttl).
const EventLife = time.Hour

// lease is the time that is left to an Event, as of one of its writes.
type lease struct {
	ends     time.Time
	key      Key
	revision string
}

// grant gives an Event that was written its time.
func (s *Store) grant(key Key, event Object) {
	s.leases = append(s.leases, lease{s.options.Now().Add(EventLife), key, event.GetResourceVersion()})
}

// Expire removes the Events whose time is over by the store's clock. Whoever moves that
// clock calls it.
func (s *Store) Expire() {
	if len(s.leases) == 0 {
		return
	}
	for now := s.options.Now(); len(s.leases) > 0 && !now.Before(s.leases[0].ends); {
		l := s.leases[0]
		s.leases = s.leases[1:]
		if event, ok := s.head.GetObject(events, l.key); ok && event.GetResourceVersion() == l.revision {
			s.commit(events, l.key, event, nil)
		}
	}
}
