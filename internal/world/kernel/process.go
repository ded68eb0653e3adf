package kernel

import (
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

type processState uint8

const (
	parked processState = iota
	ready
	executing
	ended
)

// Process is one sequential activity of a simulated component. Its methods may be called only from
// its own body, except for Wake, Name and Ended.
type Process struct {
	k             *Kernel
	id            int
	name          string
	group         *Group
	before, after *Process // in the group
	state         processState
	woken         bool
	resting       bool // its body returns without ending the process
	reacts        bool // its body never yields, and needs no coroutine
	defersWakes   bool // it sleeps or gives way: wake-ups are kept for the next Park
	killed        bool // to be unwound
	cause         uint64
	why           string
	known         string // the last reported reason of its wait
	stirred       bool   // to be checked before the clock moves
	timer         *timer // nil if none is set
	own           timer  // the target of timer
	body          func(*Process)
	co            *coroutine // nil before the first step and at rest
	onEnd         []func()
	calls         []*Flight
}

// Spawn adds a process to the end of the ready queue. group may be nil.
func (k *Kernel) Spawn(group *Group, name string, body func(*Process)) *Process {
	k.nextID++
	p := &Process{k: k, id: k.nextID, name: name, group: group, body: body}
	k.procs = append(k.procs, p)
	k.because(p)
	group.add(p)
	k.makeReady(p)
	k.follow(Spawned, p)
	k.record(eventSpawn, p.id, name)
	return p
}

// end processes the return, crash or panic of the process.
func (p *Process) end() {
	p.state = ended
	p.k.waits.note(p)
	if p.timer != nil {
		p.k.cancel(p)
	}
	p.k.forget()
	p.group.remove(p)
	for _, f := range p.calls {
		f.abandon()
	}
	for _, f := range p.onEnd {
		f()
	}
}

func (k *Kernel) resume(p *Process) {
	if p.state == ended {
		return
	}
	k.steps++
	if k.steps > k.opts.MaxStepsPerInstant {
		k.fail(k.livelock(p))
		return
	}
	k.record(eventResume, p.id, p.name)
	k.followStep(p)
	k.waits.note(p)
	p.state = executing
	p.why = ""
	before := k.running
	k.running = p
	p.goOn()
	k.running = before
}

// goOn runs the process until it yields.
func (p *Process) goOn() {
	if p.co == nil {
		p.defersWakes = false
		if p.reacts {
			p.run()
		}
		if p.reacts || p.state != executing {
			return
		}
		p.co = p.k.coroutineFor(p)
	}
	p.co.next()
}

// run runs the body until it ends, rests or crashes.
func (p *Process) run() {
	rests := false
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(crashed); !ok {
				p.k.fail(fmt.Errorf("process %s panicked: %v\n%s", p.name, r, debug.Stack()))
			}
		}
		p.co = nil
		if !rests {
			p.end()
		}
	}()
	for again := true; again; again = rests && p.state == executing && (p.reacts || p.co != nil) {
		rests = false
		p.body(p)
		rests = p.rests()
	}
}

// kill crashes the process: its body unwinds at its current call.
func (p *Process) kill() {
	if p.state == ended {
		return
	}
	p.k.record(eventCrash, p.id, p.name)
	p.k.Changes(Everything)
	if p.k.next == p {
		p.k.next = nil
	} else if p.state == ready {
		p.k.ready.drop(p)
	}
	if p.co == nil { // it never ran, or rests: there is nothing to unwind
		p.end()
		return
	}
	p.killed = true
	p.co.next()
}

// giveWay returns control to the kernel until the process is resumed.
func (p *Process) giveWay() {
	if p.co == nil && p.state != ended {
		panic("gives way, although it reacts: see React and GoOn")
	}
	if p.state != ended && !p.killed {
		p.co.yield(struct{}{})
	}
	if p.killed || p.state == ended {
		panic(crashed{})
	}
}

// Name returns the process's name, such as "kubelet/node-a/reconciler".
func (p *Process) Name() string { return p.name }

// ID returns the process's number, in order of its start.
func (p *Process) ID() int { return p.id }

// Kernel returns the kernel that runs the process.
func (p *Process) Kernel() *Kernel { return p.k }

// Group returns the component of the process; nil for none.
func (p *Process) Group() *Group { return p.group }

// Ended reports whether the process has returned or crashed.
func (p *Process) Ended() bool { return p.state == ended }

// OnEnd registers f to run when the process returns or crashes. f must not yield.
func (p *Process) OnEnd(f func()) { p.onEnd = append(p.onEnd, f) }

// Now returns the current virtual time.
func (p *Process) Now() time.Time { return p.k.Now() }

// Elapsed returns the virtual time since the run began.
func (p *Process) Elapsed() time.Duration { return p.k.now }

// Go starts another process of the same component.
func (p *Process) Go(name string, body func(*Process)) *Process {
	return p.k.Spawn(p.group, name, body)
}

// Yield is a point at which the strategy may let another ready process run first: just before an
// API write, a driver call or a change on disk. The words name the action. They are joined only if
// there is a choice.
func (p *Process) Yield(words ...string) {
	if p.standsBack(words) {
		p.giveWay()
		p.defersWakes = false
	}
}

// standsBack yields to another ready process if the strategy chooses one to run first.
func (p *Process) standsBack(words []string) bool {
	k := p.k
	k.follow(Yielded, p)
	if k.calm || k.ready.len() == 0 {
		return false
	}
	at := strings.Join(words, "")
	i := k.choose(Choice{Kind: GiveWay, N: 1 + k.ready.len(), Label: at, first: p, ready: &k.ready})
	if i == 0 {
		return false
	}
	k.next = k.ready.take(i - 1)
	p.why = at
	p.state = ready
	k.ready.push(p)
	p.defersWakes = true
	return true
}

// forget counts an ended process, and shrinks procs when most have ended.
func (k *Kernel) forget() {
	if k.over++; k.over > len(k.procs)/2 {
		k.procs, k.over = slices.DeleteFunc(k.procs, (*Process).Ended), 0
	}
}

// alive returns the processes that have not ended, in the order of their start.
func (k *Kernel) alive() []*Process {
	return slices.DeleteFunc(slices.Clone(k.procs), (*Process).Ended)
}
