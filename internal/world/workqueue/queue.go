// Package workqueue is client-go's rate-limited work queue in virtual time. One worker at a time
// handles a key, a key that is added several times is queued once, and failed keys are retried with
// exponential backoff. C-GEN-1, C-GEN-2
package workqueue

import (
	"errors"
	"maps"
	"time"

	"golang.org/x/time/rate"

	"github.com/csisim/csisim/internal/world/kernel"
)

// Options of a queue. FirstDelay and MaxDelay bound the delay of a key that fails: FirstDelay, then
// doubling. With RetriesPerSecond all keys together have at most that rate of retries on average,
// and at most Burst at once.
type Options struct {
	Workers              int
	FirstDelay, MaxDelay time.Duration
	RetriesPerSecond     float64
	Burst                int
	// OneEntry keeps one entry for each key, with the earliest of its times, like the priority
	// queue of controller-runtime. A further request replaces the key's delay. A key that is queued
	// while a worker handles it has no delay. Default: delays and queued keys are separate, as in
	// client-go.
	OneEntry bool
}

// Default is client-go's default controller rate limiter. C-GEN-1
var Default = Options{Workers: 1, FirstDelay: 5 * time.Millisecond, MaxDelay: 1000 * time.Second, RetriesPerSecond: 10, Burst: 100}

// Workers returns Default with n workers.
func Workers(n int) Options {
	o := Default
	o.Workers = n
	return o
}

// Rest is the error of a handler that requests its key again after a specific delay. The key's
// failures still count, unless they are forgotten.
type Rest struct {
	Why    string
	For    time.Duration
	Forget bool
	// Idle marks periodic housekeeping without an end. It keeps no run busy.
	Idle bool
}

func (r Rest) Error() string { return r.Why }

// Queue passes keys to a handler, on separate processes.
type Queue[K comparable] struct {
	opts     Options
	name     string
	spawn    func(string, func(*kernel.Process)) *kernel.Process
	handle   func(*kernel.Process, K) error
	next     string // the description of a worker between keys
	waiting  []K
	taken    int         // number of waiting keys that were removed
	places   map[K]place // of keys that are not at rest
	failures map[K]int
	later    map[K]time.Duration // when a delayed key is due
	onDelay  func()
	running  int
	bucket   *rate.Limiter // of all retries; nil before the first one, and without a limit
}

// place is the state of a key in the queue.
type place uint8

const (
	atRest place = iota
	queued
	working
	again // a worker handles the key, which is queued again afterwards
)

// New returns a queue; spawn starts its workers. A key is queued again after the backoff if the
// handler returns an error.
func New[K comparable](name string, o Options, spawn func(string, func(*kernel.Process)) *kernel.Process, handle func(*kernel.Process, K) error) *Queue[K] {
	return &Queue[K]{opts: o, name: name, spawn: spawn, handle: handle}
}

// open prepares a queue for its first key, because many queues never get one.
func (q *Queue[K]) open() {
	if q.places == nil {
		q.places, q.next = map[K]place{}, "take the next key of "+q.name
	}
}

// put creates a map for its first key, because few keys fail.
func put[K comparable, V any](in *map[K]V, key K, value V) {
	if *in == nil {
		*in = map[K]V{}
	}
	(*in)[key] = value
}

// Add queues a key now.
func (q *Queue[K]) Add(key K) {
	q.open()
	at := q.places[key]
	if at == queued {
		return
	}
	if q.opts.OneEntry {
		delete(q.later, key)
	}
	if at != atRest {
		q.places[key] = again
		return
	}
	q.places[key] = queued
	q.waiting = append(q.waiting, key)
	if q.running < q.opts.Workers {
		q.running++
		q.spawn(q.name, q.work)
	}
}

// work takes keys until none is left.
func (q *Queue[K]) work(p *kernel.Process) {
	defer func() { q.running-- }()
	for q.taken < len(q.waiting) {
		key := q.take()
		q.places[key] = working
		if err := q.handle(p, key); err != nil {
			q.failed(p, key, err)
		} else {
			delete(q.failures, key)
		}
		isNews := q.places[key] == again
		delete(q.places, key)
		if isNews {
			q.Add(key)
		}
		// The handler's writes may reach the program's cache before or after a worker takes the
		// next key: real workers and informers race.
		p.Yield(q.next)
	}
}

// failed queues a key again.
func (q *Queue[K]) failed(p *kernel.Process, key K, err error) {
	var rest Rest
	if !errors.As(err, &rest) {
		q.retry(p, key)
		return
	}
	if rest.Forget {
		delete(q.failures, key)
	}
	q.addAfter(key, rest.For, rest.Idle)
}

// take returns the key that has waited longest. An emptied queue reuses its memory from the start,
// because most queues briefly hold a few keys, again and again.
func (q *Queue[K]) take() K {
	key := q.waiting[q.taken]
	q.taken++
	if q.taken == len(q.waiting) {
		q.rewind()
	}
	return key
}

// maxKept is the number of keys for which an empty queue keeps its memory.
const maxKept = 1024

func (q *Queue[K]) rewind() {
	if cap(q.waiting) > maxKept {
		few := map[K]place{} // a map does not shrink
		maps.Copy(few, q.places)
		q.waiting, q.places = nil, few
	}
	q.waiting, q.taken = q.waiting[:0], 0
}

func (q *Queue[K]) retry(p *kernel.Process, key K) {
	delay := q.opts.FirstDelay
	for range q.failures[key] {
		if delay *= 2; delay >= q.opts.MaxDelay {
			delay = q.opts.MaxDelay
			break
		}
	}
	put(&q.failures, key, q.failures[key]+1)
	if q.bucket == nil && q.opts.RetriesPerSecond > 0 {
		q.bucket = rate.NewLimiter(rate.Limit(q.opts.RetriesPerSecond), q.opts.Burst)
	}
	if q.bucket != nil {
		now := p.Now()
		delay = max(delay, q.bucket.ReserveN(now, 1).DelayFrom(now))
	}
	q.AddAfter(key, delay)
}

// AddAfter queues a key once d has passed. If a key has several pending delays, only the one that
// ends first counts.
func (q *Queue[K]) AddAfter(key K, d time.Duration) { q.addAfter(key, d, false) }

func (q *Queue[K]) addAfter(key K, d time.Duration, idle bool) {
	if q.opts.OneEntry && q.places[key] == again {
		return
	}
	q.spawn(q.name+" retry", func(p *kernel.Process) {
		if q.opts.OneEntry && q.places[key] == queued {
			return
		}
		due := p.Elapsed() + d
		if earlier, ok := q.later[key]; ok && earlier <= due {
			return
		}
		put(&q.later, key, due)
		if q.onDelay != nil {
			q.onDelay()
		}
		if idle {
			p.Idle(d)
		} else {
			p.Sleep(d)
		}
		if q.later[key] == due {
			delete(q.later, key)
			q.Add(key)
		}
	})
}

// OnDelay registers f to be called when a key begins to wait for a delay.
func (q *Queue[K]) OnDelay(f func()) { q.onDelay = f }

// Delayed returns the delayed keys with the ends of their delays. Callers must not modify it.
func (q *Queue[K]) Delayed() map[K]time.Duration { return q.later }

// Failures returns the number of consecutive failures of the key.
func (q *Queue[K]) Failures(key K) int { return q.failures[key] }
