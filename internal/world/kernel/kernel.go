package kernel

import (
	"fmt"
	"time"
)

// Epoch is the virtual time at which a run begins unless Options.Start says
// otherwise. It is fixed so that object timestamps do not depend on the day.
var Epoch = time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC)

// Options configure a Kernel. The zero value is a calm, virtual-time kernel.
type Options struct {
	// Strategy takes every decision. Default: Calm.
	Strategy Strategy
	// Start is the virtual time of the first instant. Default: Epoch.
	Start time.Time
	// Patience is how long, in wall time, the virtual clock stands still for a
	// call that is under way outside the kernel. Default: 2 s.
	Patience time.Duration
	// MaxStepsPerInstant is how many times processes may be resumed without
	// virtual time moving before the run is declared a livelock. Default: 5,000,000.
	MaxStepsPerInstant int
	// OnChoice is called for every decision that is not the calm one.
	OnChoice func(Choice, int)
	// OnOverdue is called when patience ran out for a call under way.
	OnOverdue func(label string)
	// Hold is called before the clock moves to a time, and blocks while something outside has to be
	// done before. It returns as soon as wake has a value, and reports whether any wall time has
	// passed. Default: the clock moves at once.
	Hold func(to time.Duration, wake <-chan struct{}) bool
	// Recorder compares or keeps the sequence of scheduling events. Default: none.
	Recorder *Recorder
	// Stacks are those of the processes, which Close does not end. Default: the kernel's own, which it does.
	Stacks *Stacks
}

// Kernel schedules processes. It is not safe for concurrent use; the only doors
// for other goroutines are calls under way, Arrive and Post.
type Kernel struct {
	opts     Options
	now      time.Duration
	ready    queue
	next     *Process // of those that were ready; it has been chosen already
	timers   timerHeap
	busy     int // pending timers that are work, not housekeeping
	flights  flights
	procs    []*Process // in the order of their start; some have ended
	over     int        // how many of procs have
	nextID   int
	seq      uint64
	choices  uint64
	hash     hash
	steps    int
	running  *Process
	outside  uint64 // last event marked from outside any process
	failure  error
	own      *Stacks  // nil if they are somebody else's
	calm     bool     // the strategy is Calm: nothing to ask
	follower Follower // the strategy, if it is one
	live     bool     // time is that of the real clock
	speed    float64  // how many times as fast as that it is; 0 if it is not
	onClock  []func()
	instant  func() // called before the clock moves
	waits    *waits // nil if nobody follows
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
	opts.Start = opts.Start.UTC() // as containers have it: schedules would be those of the machine's time zone
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
	return &Kernel{
		opts: opts, own: own, calm: calm, follower: follower, hash: newHash(), flights: newFlights(),
		procs: make([]*Process, 0, 128), // as a small cluster has
	}
}

// Now is the current virtual time.
func (k *Kernel) Now() time.Time { return k.opts.Start.Add(k.now) }

// Elapsed is the virtual time since the run began.
func (k *Kernel) Elapsed() time.Duration { return k.now }

// Patience is how long, in wall time, the clock stands still for a call under way.
func (k *Kernel) Patience() time.Duration { return k.opts.Patience }

// Hash is the running hash over all scheduling events so far: equal for equal
// runs, different as soon as two runs part.
func (k *Kernel) Hash() uint64 { return uint64(k.hash) }

// Note mixes what happened in the simulated world into the hash, so that two
// runs that schedule alike but write differently are distinguished. The words are
// put together only if somebody wants to read them.
func (k *Kernel) Note(words ...string) { k.record(eventNote, 0, words...) }

// Reason says why Run returned.
type Reason int

const (
	// Done: the condition holds.
	Done Reason = iota
	// Deadline: virtual time reached the limit first.
	Deadline
	// Quiet: the condition does not hold and nothing is left that could change
	// it but housekeeping timers (only with StopWhenQuiet).
	Quiet
	// Stuck: no process can ever run again.
	Stuck
	// Failed: Err says why; a livelock, a panic in a process or a divergence.
	Failed
)

func (r Reason) String() string {
	return [...]string{"done", "deadline", "quiet", "stuck", "failed"}[r]
}

// Until bounds a Run.
type Until struct {
	// Cond ends the run when it returns true. It is looked at whenever no process
	// is ready, before virtual time moves. nil never ends it.
	Cond func() bool
	// At is the virtual time, since the beginning, at which the run ends. 0: no limit.
	At time.Duration
	// StopWhenQuiet ends the run as soon as only housekeeping is left.
	StopWhenQuiet bool
}

// Run schedules processes until Until says stop. Virtual time moves only when no
// process is ready and no call under way is still being waited for.
func (k *Kernel) Run(u Until) Reason {
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

// Explores reports whether the strategy may choose other than calmly.
func (k *Kernel) Explores() bool { return !k.calm }

// Err is the failure that ended the last Run, if any.
func (k *Kernel) Err() error { return k.failure }

// holds lets wall time pass, if it has to before the clock moves, and reports whether it did.
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

// OnClock calls moved, too, whenever the clock has moved, before anything happens at the
// new time. It must not give way.
func (k *Kernel) OnClock(moved func()) { k.onClock = append(k.onClock, moved) }

// EachInstant calls look before the clock moves, when all that happens at an instant has happened. It must change nothing.
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

// pick takes the next process off the ready queue, as the strategy decides.
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

// Choose draws one of n alternatives for a decision outside scheduling: how far
// a view is brought up to date, whether a fault fires, what a random suffix is.
// 0 is always what a calm, fault-free world would do.
func (k *Kernel) Choose(kind ChoiceKind, n int, label string) int {
	if n <= 1 {
		return 0
	}
	return k.choose(Choice{Kind: kind, N: n, Label: label})
}

// ChooseNamed is Choose among alternatives that have names.
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

// Close ends all processes and waits for the calls under way to be given up. There may
// be very many, of which very many are ready.
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

// Closing reports whether Close has begun: what ends now ends with the run.
func (k *Kernel) Closing() bool { return k.closing }
