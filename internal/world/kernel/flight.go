package kernel

import (
	"sync"
	"time"
)

// Flight is a call that is under way outside the kernel: a driver works on it on
// a thread of its own. The clock stands still for it until patience runs out.
type Flight struct {
	label    string
	proc     *Process
	launched time.Time // wall time, for patience only
	cancel   func()
	landed   bool // the answer is there and the kernel has taken notice
	arrived  bool // guarded by flights.mu
	overdue  bool
	dropped  bool
}

// flights is the only place where other goroutines meet the kernel.
type flights struct {
	open   []*Flight
	mu     *sync.Mutex
	posts  []func()
	notify chan struct{}
	wait   *sync.WaitGroup
}

func newFlights() flights {
	return flights{mu: &sync.Mutex{}, notify: make(chan struct{}, 1), wait: &sync.WaitGroup{}}
}

// Post runs f between two steps of the kernel. It may be called from any
// goroutine: a signal handler, a file watcher, a late answer.
func (k *Kernel) Post(f func()) {
	k.flights.mu.Lock()
	k.flights.posts = append(k.flights.posts, f)
	k.flights.mu.Unlock()
	k.flights.wake()
}

// Interrupt makes the current Run return Failed with err. It may be called from
// any goroutine.
func (k *Kernel) Interrupt(err error) { k.Post(func() { k.fail(err) }) }

func (f *flights) wake() {
	select {
	case f.notify <- struct{}{}:
	default:
	}
}

func (f *flights) drainPosts() bool {
	f.mu.Lock()
	posts := f.posts
	f.posts = nil
	f.mu.Unlock()
	for _, post := range posts {
		post()
	}
	return len(posts) > 0
}

func (k *Kernel) launch(p *Process, label string, run, cancel func()) *Flight {
	f := &Flight{label: label, proc: p, launched: time.Now(), cancel: cancel}
	k.flights.open = append(k.flights.open, f)
	k.flights.wait.Add(1)
	go func() {
		defer k.flights.wait.Done()
		run()
		k.flights.mu.Lock()
		f.arrived = true
		k.flights.mu.Unlock()
		k.flights.wake()
	}()
	return f
}

// Fly starts run on a thread of its own and gives way until it has returned, or
// until the given virtual time since the beginning of the run. On false the call
// was given up: cancel has been called, run may still be going on, and what it
// returns must not be used. Other processes run meanwhile, so several calls can
// be under way at once; their answers are taken in the order of the calls.
func (p *Process) Fly(label string, at time.Duration, run, cancel func()) bool {
	f := p.k.launch(p, label, run, cancel)
	p.calls = append(p.calls, f)
	defer p.forget(f)
	return p.await(f, at)
}

// FlyAlone is Fly for code in this process whose calls must not overlap by the
// chance of real threads: the kernel stands still until run returns or patience
// runs out.
func (p *Process) FlyAlone(label string, at time.Duration, run, cancel func()) bool {
	f := p.k.launch(p, label, run, cancel)
	p.calls = append(p.calls, f)
	defer p.forget(f)
	for p.k.flights.waiting(f) {
		p.k.awaitNews()
	}
	p.k.take(f)
	return p.await(f, at)
}

func (p *Process) await(f *Flight, at time.Duration) bool {
	if !f.landed {
		p.WaitUntil("answer to "+f.label, at, func() bool { return f.landed })
	}
	if !f.landed {
		f.abandon()
	}
	return f.landed
}

func (p *Process) forget(f *Flight) {
	for i, c := range p.calls {
		if c == f {
			p.calls = append(p.calls[:i], p.calls[i+1:]...)
			return
		}
	}
}

// abandon gives a call up: its caller crashed or its virtual deadline passed.
func (f *Flight) abandon() {
	if f.landed || f.dropped {
		return
	}
	f.dropped = true
	if f.cancel != nil {
		f.cancel()
	}
}

// any reports whether a call is under way for which the clock must stand still.
func (f *flights) any() bool {
	for _, o := range f.open {
		if !o.overdue && !o.dropped {
			return true
		}
	}
	return false
}

func (f *flights) waiting(o *Flight) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !o.arrived && !o.overdue
}

// landFlights waits until every call under way has answered or is overdue, then
// wakes the callers in the order in which they called.
func (k *Kernel) landFlights() bool {
	for k.flights.unanswered() {
		if k.awaitNews() {
			return true
		}
	}
	return k.takeArrived()
}

// unanswered reports whether some call that is still waited for has no answer yet.
func (f *flights) unanswered() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, o := range f.open {
		if !o.arrived && !o.overdue && !o.dropped {
			return true
		}
	}
	return false
}

// takeArrived hands every answer that has come to its caller.
func (k *Kernel) takeArrived() bool {
	if len(k.flights.open) == 0 {
		return false
	}
	var arrived []*Flight
	k.flights.mu.Lock()
	rest := k.flights.open[:0]
	for _, o := range k.flights.open {
		if o.arrived {
			arrived = append(arrived, o)
		} else {
			rest = append(rest, o)
		}
	}
	k.flights.open = rest
	k.flights.mu.Unlock()
	woke := false
	for _, o := range arrived {
		o.landed = !o.dropped
		if o.landed {
			o.proc.Wake()
			woke = true
		}
	}
	return woke
}

// take removes one call that has arrived from the open ones.
func (k *Kernel) take(f *Flight) {
	k.flights.mu.Lock()
	defer k.flights.mu.Unlock()
	if !f.arrived {
		return
	}
	f.landed = true
	for i, o := range k.flights.open {
		if o == f {
			k.flights.open = append(k.flights.open[:i], k.flights.open[i+1:]...)
			return
		}
	}
}

// awaitNews blocks, in wall time, until an answer or a post comes or the oldest
// call under way becomes overdue. It reports whether posts were run.
func (k *Kernel) awaitNews() bool {
	oldest := k.oldestWaiting()
	if oldest == nil {
		return false
	}
	left := k.opts.Patience - time.Since(oldest.launched)
	if left <= 0 {
		oldest.overdue = true
		if k.opts.OnOverdue != nil {
			k.opts.OnOverdue(oldest.label)
		}
		return false
	}
	timeout := time.NewTimer(left)
	defer timeout.Stop()
	select {
	case <-k.flights.notify:
	case <-timeout.C:
	}
	return k.flights.drainPosts() || k.failure != nil
}

func (k *Kernel) oldestWaiting() *Flight {
	k.flights.mu.Lock()
	defer k.flights.mu.Unlock()
	for _, o := range k.flights.open {
		if !o.arrived && !o.overdue && !o.dropped {
			return o
		}
	}
	return nil
}

// awaitOverdue gives a call that outlived patience the rest of the time it needs
// when nothing else can happen any more.
func (k *Kernel) awaitOverdue() bool { return k.takeArrived() }

func (f *flights) close() {
	for _, o := range f.open {
		o.abandon()
	}
	f.open = nil
}
