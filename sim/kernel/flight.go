package kernel

import (
	"slices"
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
	open    []*Flight
	visited bool // somebody came by Post while calls were under way
	mu      *sync.Mutex
	posts   []func()
	news    []arrival
	notify  chan struct{}
}

func newFlights() flights {
	return flights{mu: &sync.Mutex{}, notify: make(chan struct{}, 1)}
}

// Post runs f between two steps of the kernel, as soon as it can. It may be called
// from any goroutine: a signal handler, a client of the API. What drivers and their
// programs do comes by Arrive.
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
	go func() {
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
// returns must not be used.
//
// No process runs before the call is answered or overdue, so that what it does
// outside does not race with what others do; but the answer is handed over only when
// nothing else is left to do at this instant, with those of other calls, in an order
// that the strategy chooses. Only beside a call that is overdue, and in a live run,
// several calls are under way at once.
func (p *Process) Fly(label string, at time.Duration, run, cancel func()) bool {
	f := p.k.launch(p, label, run, cancel)
	p.calls = append(p.calls, f)
	defer p.forget(f)
	return p.await(f, at)
}

// FlyAlone is Fly for code in this process: its caller goes on as soon as run has
// returned.
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

// abandon gives a call up: its caller crashed or its virtual deadline passed. One
// that is not overdue is let end first, so that it does not race with what follows.
func (f *Flight) abandon() {
	if f.landed || f.dropped {
		return
	}
	f.dropped = true
	if f.overdue || f.proc.k.live {
		f.stop()
	}
}

func (f *Flight) stop() {
	if f.cancel != nil {
		f.cancel()
		f.cancel = nil
	}
}

// any reports whether a call is under way for which the clock must stand still.
func (f *flights) any() bool {
	return slices.ContainsFunc(f.open, func(o *Flight) bool { return !o.overdue })
}

func (f *flights) waiting(o *Flight) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !o.arrived && !o.overdue
}

// awaitAnswers blocks, in wall time, until every call under way is answered or
// overdue. It reports whether something else came that must be seen to first.
func (k *Kernel) awaitAnswers() bool {
	if len(k.flights.open) == 0 || len(k.ready) > 0 && k.flights.overlap() {
		return false
	}
	for k.oldestWaiting() != nil {
		if k.awaitNews() {
			k.flights.visited = true
			return true
		}
	}
	k.flights.visited = false
	return false
}

// overlap reports whether others may run beside the calls under way: one is overdue,
// or the driver asks the cluster something before it answers.
func (f *flights) overlap() bool {
	return f.visited || slices.ContainsFunc(f.open, func(o *Flight) bool { return o.overdue })
}

// takeAnswered takes the calls that are answered off the open ones, in the order in
// which they were made. An answer that nobody waits for is dropped.
func (f *flights) takeAnswered() (answered []*Flight) {
	if len(f.open) == 0 {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	rest := f.open[:0]
	for _, o := range f.open {
		switch {
		case !o.arrived:
			rest = append(rest, o)
		case !o.dropped:
			answered = append(answered, o)
		}
	}
	clear(f.open[len(rest):])
	f.open = rest
	return answered
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
		if oldest.dropped {
			oldest.stop()
			return false
		}
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
		if !o.arrived && !o.overdue {
			return o
		}
	}
	return nil
}

func (f *flights) close() {
	for _, o := range f.open {
		o.dropped = true
		o.stop()
	}
	f.open = nil
}
