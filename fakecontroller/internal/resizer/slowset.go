package resizer

import (
	"time"

	"github.com/csisim/csisim/internal/world/store"
)

// slowSet holds the claims with an infeasible result, each for a limited time. C-LIB-8
type slowSet struct {
	ttl   time.Duration
	since map[store.Key]time.Duration
}

func newSlowSet(ttl time.Duration) slowSet { return slowSet{ttl, map[store.Key]time.Duration{}} }

// add adds a claim. The time of a claim in the set is not extended.
func (s slowSet) add(key store.Key, now time.Duration) {
	if _, in := s.rest(key, now); !in {
		s.since[key] = now
	}
}

// rest returns the time for which a claim stays in the set, and false if it is not in the set.
func (s slowSet) rest(key store.Key, now time.Duration) (time.Duration, bool) {
	since, ok := s.since[key]
	if ok && now-since >= s.ttl {
		delete(s.since, key)
		return 0, false
	}
	return since + s.ttl - now, ok
}

func (s slowSet) remove(key store.Key) { delete(s.since, key) }
