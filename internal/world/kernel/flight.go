package kernel

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Flight is a call outside the kernel: a driver handles it on its own thread. The clock stops until
// the patience of the call is used up.
type Flight struct {
	label    string
	number   int // in the order of the calls
	proc     *Process
	matter   Matter
	run      func()
	launched bool
	departed time.Duration // the virtual time of its launch
	began    time.Time     // the same in wall time
	took     time.Duration // wall time until its answer; guarded by flights.mu
	lands    time.Duration // the virtual time of its answer, if calls take virtual time
	seen     time.Time     // wall time up to which its patience has been counted
	spent    time.Duration // of the patience
	cancel   func()
	landed   bool // the kernel has received the answer
	arrived  bool // guarded by flights.mu
	overdue  bool
	dropped  bool
}

// flights is the only state that other goroutines share with the kernel.
type flights struct {
	calls int       // the total number of calls
	made  []*Flight // not launched yet, in the order of the calls
	open  []*Flight
	// Answered calls with an answer that is due at a later virtual time. The next one is last.
	landing []*Flight
	mu      *sync.Mutex
	posts   []func()
	// Whether there are posts. It is checked without a lock, because there are none between most
	// steps.
	posted atomic.Bool
	news   []arrival
	notify chan struct{}
	flying atomic.Int64 // calls that have been launched and are not answered
}

func newFlights() flights {
	return flights{mu: &sync.Mutex{}, notify: make(chan struct{}, 1)}
}

// Post runs f between two steps of the kernel, as soon as possible. It may be called from any
// goroutine: a signal handler, a client of the API. Events of drivers and their programs use
// Arrive.
func (k *Kernel) Post(f func()) {
	k.flights.mu.Lock()
	k.flights.posts = append(k.flights.posts, f)
	k.flights.posted.Store(true)
	k.flights.mu.Unlock()
	k.flights.wake()
}

// Interrupt makes the current Run return Failed with err. It may be called from any goroutine.
func (k *Kernel) Interrupt(err error) { k.Post(func() { k.fail(err) }) }

func (f *flights) wake() {
	select {
	case f.notify <- struct{}{}:
	default:
	}
}

func (f *flights) drainPosts() bool {
	if !f.posted.Load() {
		return false
	}
	f.mu.Lock()
	posts := f.posts
	f.posts = nil
	f.posted.Store(false)
	f.mu.Unlock()
	for _, post := range posts {
		post()
	}
	return len(posts) > 0
}

// UnderWay returns how many calls are not answered yet. It may be called from any goroutine.
func (k *Kernel) UnderWay() int { return int(k.flights.flying.Load()) }

// newFlight returns a call that is not launched yet.
func (p *Process) newFlight(label string, matter Matter, run, cancel func()) *Flight {
	p.k.flights.calls++
	f := &Flight{label: label, number: p.k.flights.calls, proc: p, matter: matter, run: run, cancel: cancel}
	p.calls = append(p.calls, f)
	return f
}

func (k *Kernel) launch(f *Flight) {
	f.launched, f.departed, f.began = true, k.now, time.Now()
	f.seen = f.began
	k.flights.open = append(k.flights.open, f)
	k.flights.flying.Add(1)
	go func() {
		f.run()
		k.flights.flying.Add(-1)
		k.flights.mu.Lock()
		f.arrived, f.took = true, time.Since(f.began)
		k.flights.mu.Unlock()
		k.flights.wake()
	}()
}

// Fly starts run on a separate thread and yields until it has returned, or until the given virtual
// time since the start of the run. It returns false if the call was abandoned. Then cancel has been
// called, run may still be in progress, and its results must not be used.
//
// The calls of an instant are launched together when no other work is left. Therefore they are
// concurrent only with each other, and no process races with them. Calls with conflicting matters
// run one after the other. When all calls are answered or overdue, the answers are delivered, in an
// order that the strategy chooses.
func (p *Process) Fly(label string, matter Matter, at time.Duration, run, cancel func()) bool {
	f := p.newFlight(label, matter, run, cancel)
	p.k.Changes("calls to be launched")
	p.k.flights.made = append(p.k.flights.made, f)
	defer p.forget(f)
	return p.await(f, at)
}

// FlyAlone is Fly for code in this process. Its caller continues as soon as run has returned.
func (p *Process) FlyAlone(label string, at time.Duration, run, cancel func()) bool {
	f := p.newFlight(label, Matter{}, run, cancel)
	p.k.launch(f)
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

// abandon gives up a call after its caller's crash or its virtual deadline. Unless the call is
// overdue, it first waits for its end, so that the call does not race with later steps.
func (f *Flight) abandon() {
	if f.landed || f.dropped {
		return
	}
	f.dropped = true
	if f.overdue || !f.launched || f.proc.k.live {
		f.stop()
	}
}

func (f *Flight) stop() {
	if f.cancel != nil {
		f.cancel()
		f.cancel = nil
	}
}

// any reports whether the clock must stop for some call.
func (f *flights) any() bool {
	return slices.ContainsFunc(f.open, func(o *Flight) bool { return !o.overdue })
}

func (f *flights) waiting(o *Flight) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !o.arrived && !o.overdue
}

// awaitAnswers launches the new calls and blocks, in wall time, until every call is answered or
// overdue. It reports whether another event arrived that must be handled first, such as a driver's
// request to the cluster before its answer.
func (k *Kernel) awaitAnswers() bool {
	for {
		k.depart()
		if k.oldestWaiting() == nil {
			return false
		}
		if k.awaitNews() {
			return true
		}
	}
}

// depart launches the new calls that need not wait for another call with a conflicting matter. On a
// live cluster none waits.
func (k *Kernel) depart() {
	made := k.flights.made
	k.flights.made = nil
	for _, f := range made {
		switch {
		case f.dropped: // its caller ended before the call was sent
		case !k.live && k.flights.waitsForAnother(f):
			k.flights.made = append(k.flights.made, f)
		default:
			k.launch(f)
		}
	}
}

// waitsForAnother reports whether an earlier call with a conflicting matter is not answered yet. An
// overdue call blocks no other.
func (f *flights) waitsForAnother(one *Flight) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.ContainsFunc(f.made, one.conflicts) ||
		slices.ContainsFunc(f.open, func(o *Flight) bool { return !o.arrived && !o.overdue && one.conflicts(o) })
}

func (f *Flight) conflicts(other *Flight) bool { return f.matter.conflicts(other.matter) }

// takeAnswered removes and returns the answered calls, in the order in which they were made. It
// drops answers without a waiting caller.
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
	slices.SortFunc(answered, func(a, b *Flight) int { return a.number - b.number })
	return answered
}

// take removes an answered call from the open ones.
func (k *Kernel) take(f *Flight) {
	k.flights.mu.Lock()
	defer k.flights.mu.Unlock()
	if !f.arrived {
		return
	}
	for i, o := range k.flights.open {
		if o == f {
			k.flights.open = append(k.flights.open[:i], k.flights.open[i+1:]...)
			break
		}
	}
	if k.opts.Pace == Measured {
		k.flights.delay(f)
	} else {
		f.landed = true
	}
}

// awaitNews blocks, in wall time, until an answer or a post arrives or the oldest open call becomes
// overdue. It reports whether posts were run.
func (k *Kernel) awaitNews() bool {
	oldest := k.oldestWaiting()
	if oldest == nil {
		return false
	}
	k.spendPatience()
	left := k.patience(oldest) - oldest.spent
	if left <= 0 {
		oldest.overdue = true
		if oldest.dropped {
			oldest.stop()
			return false
		}
		if k.opts.OnOverdue != nil {
			k.opts.OnOverdue(oldest.label, oldest.matter.held())
		}
		return false
	}
	if oldest.matter.Spent != nil {
		left = min(left, k.lookPeriod())
	}
	timeout := time.NewTimer(left)
	defer timeout.Stop()
	select {
	case <-k.flights.notify:
	case <-timeout.C:
	}
	return k.flights.drainPosts() || k.failure != nil
}

// heldShare divides the patience of a call to a stopped program. Such a call probably waits for the
// call in which the program was stopped.
const heldShare = 4

// patience returns the wall time for which the clock stands still for a call.
func (k *Kernel) patience(f *Flight) time.Duration {
	if f.matter.held() {
		return k.opts.Patience / heldShare
	}
	return k.opts.Patience
}

// lookPeriod returns the wall time between two checks of the open calls.
func (k *Kernel) lookPeriod() time.Duration { return min(100*time.Millisecond, k.opts.Patience/4) }

// spendPatience counts the wall time since the last check of the open calls. A longer gap means
// that csisim itself was not running, so the driver may have waited for csisim.
func (k *Kernel) spendPatience() {
	period := k.lookPeriod()
	for _, f := range k.flights.open {
		now := time.Now()
		switch passed := now.Sub(f.seen); {
		case f.matter.Spent == nil:
			f.spent += passed
		case f.overdue || passed < period:
			continue
		default:
			f.spent += f.matter.Spent(min(passed, 2*period))
		}
		f.seen = now
	}
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
	for _, o := range append(f.open, f.made...) {
		o.dropped = true
		o.stop()
	}
	f.open, f.made = nil, nil
}
