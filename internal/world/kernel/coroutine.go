package kernel

import "iter"

// coroutine is a stack for processes that run one after the other. Most processes are short, and
// reusing a grown stack saves work.
type coroutine struct {
	process *Process
	next    func() (struct{}, bool)
	stop    func()
	yield   func(struct{}) bool
}

// crashed is the panic that unwinds a crashed process.
type crashed struct{}

// coroutineFor returns an idle stack, or a new one.
func (k *Kernel) coroutineFor(p *Process) *coroutine {
	stacks := k.opts.Stacks
	if co := stacks.take(); co != nil {
		co.process = p
		return co
	}
	co := &coroutine{process: p}
	co.next, co.stop = iter.Pull(func(yield func(struct{}) bool) {
		co.yield = yield
		for co.run(); stacks.keep(co) && yield(struct{}{}); co.run() {
		}
	})
	return co
}

// run runs the process until it ends, rests or crashes.
func (co *coroutine) run() {
	co.process.run()
	co.process = nil
}
