package kernel

import (
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Flight is a call that is under way outside the kernel: a driver works on it on
// a thread of its own. The clock stands still for it until patience runs out.
type Flight struct {
	label    string
	number   int // in the order of the calls
	proc     *Process
	matter   Matter
	run      func()
	launched bool
	seen     time.Time     // wall time up to which its patience is accounted for
	spent    time.Duration // of the patience
	cancel   func()
	landed   bool // the answer is there and the kernel has taken notice
	arrived  bool // guarded by flights.mu
	overdue  bool
	dropped  bool
}

// flights is the only place where other goroutines meet the kernel.
type flights struct {
	calls  int       // how many there ever were
	made   []*Flight // in the order of the calls; they wait to be launched
	open   []*Flight
	mu     *sync.Mutex
	posts  []func()
	posted atomic.Bool // there are posts: between most steps there are none, which takes no lock
	news   []arrival
	notify chan struct{}
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
	k.flights.posted.Store(true)
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

// newFlight is a call that is made and not yet launched.
func (p *Process) newFlight(label string, matter Matter, run, cancel func()) *Flight {
	p.k.flights.calls++
	f := &Flight{label: label, number: p.k.flights.calls, proc: p, matter: matter, run: run, cancel: cancel}
	p.calls = append(p.calls, f)
	return f
}

func (k *Kernel) launch(f *Flight) {
	f.launched, f.seen = true, time.Now()
	k.flights.open = append(k.flights.open, f)
	go func() {
		f.run()
		k.flights.mu.Lock()
		f.arrived = true
		k.flights.mu.Unlock()
		k.flights.wake()
	}()
}

// Fly starts run on a thread of its own and gives way until it has returned, or
// until the given virtual time since the beginning of the run. On false the call
// was given up: cancel has been called, run may still be going on, and what it
// returns must not be used.
//
// The calls that processes make at an instant are launched together when nothing else
// is left to do, so that they are under way at once with each other and with nothing
// else: what no process does meanwhile cannot race with them. Calls about one matter
// follow each other. When all are answered or overdue the answers are handed over, in
// an order that the strategy chooses.
func (p *Process) Fly(label string, matter Matter, at time.Duration, run, cancel func()) bool {
	f := p.newFlight(label, matter, run, cancel)
	p.k.Changes("calls to be launched")
	p.k.flights.made = append(p.k.flights.made, f)
	defer p.forget(f)
	return p.await(f, at)
}

// FlyAlone is Fly for code in this process: its caller goes on as soon as run has
// returned.
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

// abandon gives a call up: its caller crashed or its virtual deadline passed. One
// that is not overdue is let end first, so that it does not race with what follows.
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

// any reports whether a call is under way for which the clock must stand still.
func (f *flights) any() bool {
	return slices.ContainsFunc(f.open, func(o *Flight) bool { return !o.overdue })
}

func (f *flights) waiting(o *Flight) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return !o.arrived && !o.overdue
}

// awaitAnswers launches the calls that were made and blocks, in wall time, until every
// call is answered or overdue. It reports whether something else came that must be seen
// to first: a driver that asks the cluster before it answers.
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

// depart launches the calls that were made and need not wait for another one, which is
// about the same matter. On a live cluster none waits.
func (k *Kernel) depart() {
	made := k.flights.made
	k.flights.made = nil
	for _, f := range made {
		switch {
		case f.dropped: // its caller was gone before it was sent
		case !k.live && k.flights.waitsForAnother(f):
			k.flights.made = append(k.flights.made, f)
		default:
			k.launch(f)
		}
	}
}

// waitsForAnother reports whether a call about the same matter was made before and is
// not answered yet. For one that is overdue nobody waits.
func (f *flights) waitsForAnother(one *Flight) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.ContainsFunc(f.made, one.conflicts) ||
		slices.ContainsFunc(f.open, func(o *Flight) bool { return !o.arrived && !o.overdue && one.conflicts(o) })
}

func (f *Flight) conflicts(other *Flight) bool { return f.matter.conflicts(other.matter) }

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
	slices.SortFunc(answered, func(a, b *Flight) int { return a.number - b.number })
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
	k.spendPatience()
	left := k.opts.Patience - oldest.spent
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

// lookPeriod is the time between two looks at the calls under way, in wall time.
func (k *Kernel) lookPeriod() time.Duration { return min(100*time.Millisecond, k.opts.Patience/4) }

// spendPatience accounts for the wall time that has passed since the calls under way were looked
// at. Of a longer time csisim itself did not run: the driver may have waited
// for that.
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
