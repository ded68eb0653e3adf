// Package operation runs volume operations like the kubelet and the attach/detach controller: one
// at a time per key, retried with exponential backoff.
package operation

import (
	"errors"
	"slices"
	"time"

	"github.com/csisim/csisim/internal/world/kernel"
)

// Backoff of a failed operation. C-GEN-6, K-OP-3
const (
	FirstDelay = 500 * time.Millisecond
	MaxDelay   = 2*time.Minute + 2*time.Second
)

// Refusals to start an operation.
var (
	ErrPending = errors.New("an operation with the given Volume ID already exists")
	ErrBackoff = errors.New("the operation failed a moment ago and is in backoff")
)

// Key identifies the subject of an operation. An empty Pod or Node matches any. K-OP-1, C-GEN-4
type Key struct {
	Volume string
	Pod    string
	Node   string
}

func (k Key) matches(o Key) bool {
	return k.Volume == o.Volume && (k.Pod == "" || o.Pod == "" || k.Pod == o.Pod) &&
		(k.Node == "" || o.Node == "" || k.Node == o.Node)
}

type entry struct {
	key      Key
	name     string
	pending  bool
	failedAt time.Duration
	delay    time.Duration
}

// Pending is the set of operations that are running, or that have failed and not yet succeeded.
type Pending struct {
	spawn func(name string, body func(*kernel.Process)) *kernel.Process
	clock *kernel.Kernel
	// onEnd is called for every operation that has ended.
	onEnd   func(Key)
	entries map[string][]*entry // by volume, in the order of their creation
}

// New returns an empty set. spawn starts a process of the component; onEnd may be nil.
func New(k *kernel.Kernel, spawn func(string, func(*kernel.Process)) *kernel.Process, onEnd func(Key)) *Pending {
	return &Pending{spawn: spawn, clock: k, onEnd: onEnd, entries: map[string][]*entry{}}
}

// Run starts an operation. It returns ErrPending if an operation with a matching key is running,
// and ErrBackoff if the same operation has failed and its backoff is not over. C-GEN-5
func (o *Pending) Run(key Key, name string, body func(*kernel.Process) error) error {
	e := o.find(key)
	switch {
	case e == nil:
		e = &entry{key: key, name: name}
		o.entries[key.Volume] = append(o.entries[key.Volume], e)
	case e.pending:
		return ErrPending
	case e.name == name && o.inBackoff(e):
		return ErrBackoff
	case o.inBackoff(e): // K-OP-4: another operation erases the backoff
		e.name, e.delay, e.failedAt = name, 0, 0
	}
	e.key = key // K-OP-5
	e.pending = true
	o.spawn(name+" "+key.Volume, func(p *kernel.Process) { o.end(e, body(p)) })
	return nil
}

func (o *Pending) end(e *entry, err error) {
	e.pending = false
	if err == nil {
		o.remove(e)
	} else {
		e.failedAt = o.clock.Elapsed()
		e.delay = min(max(2*e.delay, FirstDelay), MaxDelay)
	}
	if o.onEnd != nil {
		o.onEnd(e.key)
	}
}

// find prefers a pending entry, then one with exactly this key, then the oldest. K-OP-6
func (o *Pending) find(key Key) *entry {
	var found *entry
	for _, e := range o.entries[key.Volume] {
		if !e.key.matches(key) {
			continue
		}
		if e.pending {
			return e
		}
		if found == nil || (e.key == key && found.key != key) {
			found = e
		}
	}
	return found
}

func (o *Pending) remove(gone *entry) {
	volume := gone.key.Volume
	rest := slices.DeleteFunc(o.entries[volume], func(e *entry) bool { return e == gone })
	if len(rest) == 0 {
		delete(o.entries, volume)
	} else {
		o.entries[volume] = rest
	}
}

// inBackoff: a retry is refused while elapsed ≤ delay. C-GEN-6
func (o *Pending) inBackoff(e *entry) bool {
	return e.delay > 0 && o.clock.Elapsed()-e.failedAt <= e.delay
}

// IsPending reports whether an operation with a matching key runs. C-GEN-7
func (o *Pending) IsPending(key Key) bool {
	e := o.find(key)
	return e != nil && e.pending
}

// SafeToRetry reports whether Run would start the operation. C-GEN-7
func (o *Pending) SafeToRetry(key Key, name string) bool {
	e := o.find(key)
	return e == nil || (!e.pending && (e.name != name || !o.inBackoff(e)))
}

// RetryAt returns the earliest virtual time since the start of the run at which the operation may
// start again. It returns false if the operation is running, or if nothing delays it.
func (o *Pending) RetryAt(key Key, name string) (time.Duration, bool) {
	e := o.find(key)
	if e == nil || e.pending || e.name != name || !o.inBackoff(e) {
		return 0, false
	}
	return e.failedAt + e.delay + 1, true
}

// Idle reports whether no operation on the volume runs.
func (o *Pending) Idle(volume string) bool {
	for _, e := range o.entries[volume] {
		if e.pending {
			return false
		}
	}
	return true
}
