package kernel

import (
	"fmt"
	"time"
)

// Epoch is the virtual time at the start of a run, unless Options.Start is set. It is fixed so that
// object timestamps do not depend on the day.
var Epoch = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// Options configure a Kernel. The zero value is a calm, virtual-time kernel.
type Options struct {
	// Strategy takes every decision. Default: Calm.
	Strategy Strategy
	// Start is the virtual time of the first instant. Default: Epoch.
	Start time.Time
	// Pace determines how virtual time passes during calls. Default: they take none.
	Pace Pace
	// Patience is the wall time for which the virtual clock stops for a call outside the kernel, if
	// calls take no virtual time. Default: 2 s.
	Patience time.Duration
	// MaxStepsPerInstant bounds how often processes may be resumed at one instant of virtual time.
	// Beyond this number, the run fails as a livelock. Default: 5,000,000.
	MaxStepsPerInstant int
	// OnChoice is called for every decision that differs from the calm one.
	OnChoice func(Choice, int)
	// OnOverdue is called when the patience of a call is used up. The called program may have been
	// stopped on purpose.
	OnOverdue func(label string, held bool)
	// Hold is called before the clock moves to a time. It may block until something outside the
	// kernel has happened. It must return as soon as wake has a value, and reports whether any wall
	// time has passed. Default: the clock moves at once.
	Hold func(to time.Duration, wake <-chan struct{}) bool
	// Recorder records or compares the sequence of scheduling events. Default: none.
	Recorder *Recorder
	// Stacks are the stacks of the processes, which Close does not end. Default: the kernel's own
	// stacks, which it closes.
	Stacks *Stacks
}

// Kernel schedules processes. It is not safe for concurrent use. Other goroutines may only use
// calls in progress, Arrive and Post.
type Kernel struct {
	opts     Options
	now      time.Duration
	ready    queue
	next     *Process // a ready process that has been chosen already
	timers   timerHeap
	busy     int // pending timers for work, not housekeeping
	flights  flights
	procs    []*Process // in the order of their start; some have ended
	over     int        // number of ended processes in procs
	nextID   int
	seq      uint64
	choices  uint64
	hash     hash
	steps    int
	running  *Process
	outside  uint64 // the last event that was marked outside any process
	failure  error
	own      *Stacks  // nil if Options.Stacks is set
	calm     bool     // the strategy is Calm, and is not called
	follower Follower // the strategy, if it is a Follower
	live     bool     // calls under way do not stop the clock
	speed    float64  // the speed relative to the real clock; 0 if it is not live
	clock    pacer    // the clock of Options.Pace; nil if calls take no virtual time
	onClock  []func()
	instant  func() // called before the clock moves
	waits    *waits // nil without OnWaits
	closing  bool   // nothing runs any more
}

// New returns a kernel at the first instant with no process.
func New(opts Options) *Kernel {
	if opts.Strategy == nil {
		opts.Strategy = Calm{}
	}
	if opts.Start.IsZero() {
		opts.Start = Epoch
	}
	// Containers use UTC, too. Otherwise schedules would use the machine's time zone.
	opts.Start = opts.Start.UTC()
	if opts.Patience == 0 {
		opts.Patience = 2 * time.Second
	}
	if opts.MaxStepsPerInstant == 0 {
		opts.MaxStepsPerInstant = 5_000_000
	}
	var own *Stacks
	if opts.Stacks == nil {
		own = &Stacks{}
		opts.Stacks = own
	}
	_, calm := opts.Strategy.(Calm)
	follower, _ := opts.Strategy.(Follower)
	k := &Kernel{
		opts: opts, own: own, calm: calm, follower: follower, hash: newHash(), flights: newFlights(),
		procs: make([]*Process, 0, 128), // enough for a small cluster
	}
	k.setPace(opts.Pace)
	return k
}

// Now returns the current virtual time.
func (k *Kernel) Now() time.Time { return k.opts.Start.Add(k.now) }

// Elapsed returns the virtual time since the run began.
func (k *Kernel) Elapsed() time.Duration { return k.now }

// Patience returns how long, in wall time, the clock stops for a call.
func (k *Kernel) Patience() time.Duration { return k.opts.Patience }

// Hash returns the running hash over all scheduling events so far. It is equal for equal runs, and
// differs as soon as two runs differ.
func (k *Kernel) Hash() uint64 { return uint64(k.hash) }

// Note adds an event of the simulated world to the hash, to distinguish runs with equal schedules
// but different writes. The words are joined only if they are recorded.
func (k *Kernel) Note(words ...string) { k.record(eventNote, 0, words...) }

// Reason is the reason why Run returned.
type Reason int

const (
	// Done: the condition is true.
	Done Reason = iota
	// Deadline: virtual time reached the limit first.
	Deadline
	// Quiet: the condition is false, and only housekeeping timers are left, which cannot change the
	// condition (only with StopWhenQuiet).
	Quiet
	// Stuck: no process can ever run again.
	Stuck
	// Failed: Err returns a livelock, a panic in a process or a divergence.
	Failed
)

func (r Reason) String() string {
	return [...]string{"done", "deadline", "quiet", "stuck", "failed"}[r]
}

// Until limits a Run.
type Until struct {
	// Cond ends the run when it returns true. It is evaluated whenever no process is ready, before
	// virtual time moves. A nil function never ends the run.
	Cond func() bool
	// At is the virtual time, since the start of the run, at which the run ends. 0: no limit.
	At time.Duration
	// StopWhenQuiet ends the run as soon as only housekeeping is left.
	StopWhenQuiet bool
}

// Run schedules processes until one of the conditions of Until. Virtual time moves only when no
// process is ready and no call holds the clock.
func (k *Kernel) Run(u Until) Reason {
	if k.clock != nil {
		return k.runPaced(u, k.clock, nil)
	}
	for {
		if k.flights.drainPosts() {
			k.follow(Paused, nil)
		}
		if k.failure != nil {
			return Failed
		}
		if p := k.pick(); p != nil {
			k.resume(p)
			continue
		}
		k.follow(Paused, nil)
		if k.awaitAnswers() {
			continue
		}
		if u.Cond != nil && u.Cond() {
			return Done
		}
		if k.enter() {
			continue
		}
		if u.StopWhenQuiet && k.busy == 0 && !k.flights.any() {
			return Quiet
		}
		if k.holds(u) {
			continue
		}
		if reason, ok := k.advance(u); !ok {
			return reason
		}
	}
}

// Explores reports whether the strategy may take decisions that are not calm.
func (k *Kernel) Explores() bool { return !k.calm }

// Err returns the failure that ended the last Run, if any.
func (k *Kernel) Err() error { return k.failure }

// holds waits for some wall time if the clock must not move yet, and reports whether it waited.
func (k *Kernel) holds(u Until) bool {
	if k.opts.Hold == nil {
		return false
	}
	next, ok := k.timers.peek()
	switch {
	case u.At > 0 && (!ok || next.at > u.At):
		return k.opts.Hold(u.At, k.flights.notify)
	case ok:
		return k.opts.Hold(next.at, k.flights.notify)
	}
	return false
}

// advance moves the clock to the next timer, or to the limit.
func (k *Kernel) advance(u Until) (Reason, bool) {
	next, ok := k.timers.peek()
	if u.At > 0 && (!ok || next.at > u.At) {
		k.moveTo(u.At)
		return Deadline, false
	}
	if !ok {
		return Stuck, false
	}
	k.moveTo(next.at)
	for ok && next.at <= k.now {
		k.timers.pop()
		k.fire(next)
		next, ok = k.timers.peek()
	}
	return 0, true
}

// OnClock calls moved whenever the clock has moved, before any event at the new time. moved must
// not yield.
func (k *Kernel) OnClock(moved func()) { k.onClock = append(k.onClock, moved) }

// EachInstant calls look before the clock moves, at the end of an instant. look must change
// nothing.
func (k *Kernel) EachInstant(look func()) { k.instant = look }

func (k *Kernel) moveTo(at time.Duration) {
	if at > k.now {
		k.ReportWaits()
		if k.instant != nil {
			k.instant()
		}
		k.now = at
		k.steps = 0
		for _, moved := range k.onClock {
			moved()
		}
	}
}

func (k *Kernel) fire(t *timer) {
	if !t.idle {
		k.busy--
	}
	t.proc.timer = nil
	k.makeReady(t.proc)
}

func (k *Kernel) makeReady(p *Process) {
	if p.state != parked {
		return
	}
	p.state = ready
	if p.timer != nil {
		k.cancel(p)
	}
	if !k.closing {
		k.ready.push(p)
	}
}

// pick removes the next process from the ready queue, chosen by the strategy.
func (k *Kernel) pick() *Process {
	if p := k.next; p != nil {
		k.next = nil
		return p
	}
	n, i := k.ready.len(), 0
	if n == 0 {
		return nil
	}
	if n > 1 && !k.calm {
		i = k.choose(Choice{Kind: RunNext, N: n, ready: &k.ready})
	}
	return k.ready.take(i)
}

// Choose takes one of n alternatives for a decision other than scheduling: how far a view advances,
// whether a fault fires, a random suffix. 0 is always the alternative of a calm, fault-free world.
func (k *Kernel) Choose(kind ChoiceKind, n int, label string) int {
	if n <= 1 {
		return 0
	}
	return k.choose(Choice{Kind: kind, N: n, Label: label})
}

// ChooseNamed is Choose among alternatives with names.
func (k *Kernel) ChooseNamed(kind ChoiceKind, label string, names []string) int {
	return k.choose(Choice{Kind: kind, N: len(names), Label: label, Alternatives: names})
}

func (k *Kernel) choose(c Choice) int {
	c.Index = k.choices
	c.At = k.now
	k.choices++
	i := k.opts.Strategy.Choose(c)
	if i < 0 || i >= c.N {
		k.fail(fmt.Errorf("strategy %v chose %d of %d alternatives (%s, choice %d)", k.opts.Strategy, i, c.N, c.Kind, c.Index))
		return 0
	}
	if i != 0 {
		k.record(eventChoice, i, "")
		if k.opts.OnChoice != nil {
			k.opts.OnChoice(c, i)
		}
	}
	return i
}

func (k *Kernel) fail(err error) {
	if k.failure == nil {
		k.failure = err
	}
}

// Close ends all processes and abandons the calls under way. There may be very many processes, most
// of them ready.
func (k *Kernel) Close() {
	k.closing, k.next, k.ready = true, nil, queue{}
	for _, p := range k.alive() {
		p.kill()
	}
	if k.own != nil {
		k.own.Close()
	}
	k.flights.close()
}

// Closing reports whether Close has begun. A process that ends now ends with the run.
func (k *Kernel) Closing() bool { return k.closing }
