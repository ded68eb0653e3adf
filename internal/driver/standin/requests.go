package standin

import (
	"path"
	"slices"
	"strings"
	"sync"
)

// Service is a stand-in that reports the HTTP requests of a machine's programs, and fails those
// that a watch selects.
type Service interface {
	StandIn
	// URL returns the address at which programs of a machine reach the service.
	URL(machine string) string
	// Watch makes a watch receive the requests of a machine's programs from now on. If a machine
	// has several watches, the latest counts.
	Watch(machine string, w *Watch)
}

// Access is the access of one machine's programs to a service.
type Access struct {
	Service
	Machine string
}

// Request is one HTTP request that a stand-in received.
type Request struct {
	// Method and Path come from the request. Route is the path without names of objects:
	// "/volumes/*".
	Method, Path, Route string
	// Status is the status of the answer; 0 if the connection was reset.
	Status int
	// Lists means that the answer is a list that may be stale.
	Lists bool
	// Failed means that the watch interfered.
	Failed bool
}

// Interference selects requests and sets how they fail. The zero value only watches.
type Interference struct {
	// Pattern selects requests: "DELETE /volumes/*", "DELETE *", or * for each.
	Pattern string
	// Nth selects the n-th of them, counted from 1; 0 selects each.
	Nth int
	// Times bounds the number of requests that fail; 0 means no limit.
	Times int
	// Status is the HTTP status of their answers; 0 for none.
	Status int
	// Reset, Slow and Stale are the other failures.
	Reset, Slow, Stale bool
}

// Watch receives requests until its end.
type Watch struct {
	// Reached is closed when the first slow request waits for the end of the watch.
	Reached <-chan struct{}

	interference    Interference
	lock            sync.Mutex
	seen            []Request
	matched, failed int
	reached, ended  chan struct{}
}

// NewWatch returns a watch that sees nothing yet.
func NewWatch(i Interference) *Watch {
	w := &Watch{interference: i, reached: make(chan struct{}), ended: make(chan struct{})}
	w.Reached = w.reached
	return w
}

// End ends the watch, and answers slow requests. It may be called more than once.
func (w *Watch) End() {
	w.lock.Lock()
	defer w.lock.Unlock()
	select {
	case <-w.ended:
	default:
		close(w.ended)
	}
}

// Seen lists the requests so far.
func (w *Watch) Seen() []Request {
	w.lock.Lock()
	defer w.lock.Unlock()
	return slices.Clone(w.seen)
}

// Decide reports whether the interference applies to a request. An interference that makes lists
// stale skips lists that cannot be stale.
func (w *Watch) Decide(r Request) (Interference, bool) {
	w.lock.Lock()
	defer w.lock.Unlock()
	i := w.interference
	if i == (Interference{}) || w.isOver() || !i.fits(r) || i.Stale && !r.Lists {
		return Interference{}, false
	}
	w.matched++
	if i.Nth != 0 && i.Nth != w.matched || i.Times > 0 && w.failed >= i.Times {
		return Interference{}, false
	}
	w.failed++
	return i, true
}

// Record adds a request, answered or not.
func (w *Watch) Record(r Request) {
	w.lock.Lock()
	defer w.lock.Unlock()
	if !w.isOver() {
		w.seen = append(w.seen, r)
	}
}

// Hold waits for the end of the watch.
func (w *Watch) Hold() {
	w.lock.Lock()
	select {
	case <-w.reached:
	default:
		close(w.reached)
	}
	w.lock.Unlock()
	<-w.ended
}

func (w *Watch) isOver() bool {
	select {
	case <-w.ended:
		return true
	default:
		return false
	}
}

// fits reports whether the interference applies to such a request.
func (i Interference) fits(r Request) bool {
	if i.Pattern == "*" {
		return true
	}
	method, pattern, _ := strings.Cut(i.Pattern, " ")
	fits, err := path.Match(pattern, r.Path)
	return method == r.Method && (pattern == "*" || fits && err == nil)
}
