package kernel

import (
	"fmt"
	"iter"
	"runtime/debug"
)

// coroutine is a stack on which processes run, one after the other: most
// processes are short, and a stack that has grown is worth keeping.
type coroutine struct {
	process *Process
	next    func() (struct{}, bool)
	stop    func()
	yield   func(struct{}) bool
}

// crashed unwinds a process that was crashed where it stood.
type crashed struct{}

// maxIdle is the number of stacks that are kept: thousands are in use at once only
// when everything happens everywhere.
const maxIdle = 256

// coroutineFor is a stack that waits for work, or a new one.
func (k *Kernel) coroutineFor(p *Process) *coroutine {
	if n := len(k.idle); n > 0 {
		co := k.idle[n-1]
		k.idle = k.idle[:n-1]
		co.process = p
		return co
	}
	co := &coroutine{process: p}
	co.next, co.stop = iter.Pull(func(yield func(struct{}) bool) {
		co.yield = yield
		for co.run() && len(k.idle) < maxIdle {
			k.idle = append(k.idle, co)
			if !yield(struct{}{}) {
				return
			}
		}
	})
	return co
}

// run runs the process to its end, or until it rests; false means that it was
// crashed and the stack ends with it.
func (co *coroutine) run() (reusable bool) {
	p := co.process
	rests := false
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(crashed); !ok {
				p.k.fail(fmt.Errorf("process %s panicked: %v\n%s", p.name, r, debug.Stack()))
			}
		}
		co.process, p.co = nil, nil
		if !rests {
			p.end()
		}
	}()
	for again := true; again; again = rests && p.state == executing {
		rests = false
		p.body(p)
		rests = p.rests()
	}
	return true
}

// endIdle ends the stacks that wait for work.
func (k *Kernel) endIdle() {
	for _, co := range k.idle {
		co.stop()
	}
	k.idle = nil
}
