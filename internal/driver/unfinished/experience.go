package unfinished

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// Experience records how long work of each kind takes, over all runs of the same drivers. Only the
// first work of a kind that is never finished gets the whole limit. Later work of that kind gets a
// fraction of the limit, or twice the longest time after which such work was finished. The zero
// value is empty.
type Experience struct {
	lock  sync.Mutex
	kinds map[string]kindOfWork
	waits []Wait
}

type kindOfWork struct {
	longest time.Duration // longest time of finished work
	inVain  bool          // csisim waited for some of it until the limit
}

// fraction is the part of the limit that work of a kind gets after an unsuccessful wait.
const fraction = 100

// limit returns the maximum wait for work of a kind.
func (e *Experience) limit(kind string, limit time.Duration) time.Duration {
	e.lock.Lock()
	defer e.lock.Unlock()
	if known := e.kinds[kind]; known.inVain {
		return min(limit, max(limit/fraction, 2*known.longest))
	}
	return limit
}

func (e *Experience) finished(kind string, took time.Duration) {
	e.change(kind, func(k *kindOfWork) { k.longest = max(k.longest, took) })
}

func (e *Experience) inVain(kind string) { e.change(kind, func(k *kindOfWork) { k.inVain = true }) }

func (e *Experience) change(kind string, change func(*kindOfWork)) {
	e.lock.Lock()
	defer e.lock.Unlock()
	if e.kinds == nil {
		e.kinds = map[string]kindOfWork{}
	}
	known := e.kinds[kind]
	change(&known)
	e.kinds[kind] = known
}

func (e *Experience) waited(w Wait) {
	e.lock.Lock()
	defer e.lock.Unlock()
	e.waits = add(e.waits, w)
}

// Waits returns the waits of all runs, added up by kind, the longest first. Short ones are left
// out.
func (e *Experience) Waits() []Wait {
	e.lock.Lock()
	defer e.lock.Unlock()
	waits := worthMentioning(e.waits)
	slices.SortStableFunc(waits, func(a, b Wait) int { return cmp.Compare(b.Took, a.Took) })
	return waits
}
