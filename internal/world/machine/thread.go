package machine

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
)

// thread is an OS thread that runs closures sequentially. Its special state, such as a mount
// namespace or programs that are killed with it, exists as long as the thread.
type thread struct {
	id       int // its number in the system
	work     chan func()
	quit     chan struct{}
	stopOnce sync.Once
}

var errStopped = errors.New("the machine is closed")

// startThread starts a thread that runs setup first; it ends if setup fails.
func startThread(setup func() error) (*thread, error) {
	t := &thread{work: make(chan func()), quit: make(chan struct{})}
	ready := make(chan error)
	go t.run(setup, ready)
	err := <-ready
	if err != nil {
		t.stop()
	}
	return t, err
}

// run never unlocks its OS thread: the Go runtime then ends the thread together with the goroutine,
// and no other goroutine inherits its namespace.
func (t *thread) run(setup func() error, ready chan<- error) {
	runtime.LockOSThread()
	if onMainThread() {
		// The main thread represents the process in /proc and never ends. While it is held here,
		// the next goroutine gets another thread.
		elsewhere := make(chan struct{})
		go func() {
			runtime.LockOSThread()
			close(elsewhere)
			t.run(setup, ready)
		}()
		<-elsewhere
		runtime.UnlockOSThread()
		return
	}
	t.id = threadID()
	err := setup()
	ready <- err
	if err != nil {
		return
	}
	for {
		select {
		case do := <-t.work:
			do()
		case <-t.quit:
			return
		}
	}
}

// do runs f on the thread and returns its error. f must not call do.
func (t *thread) do(f func() error) error {
	answer := make(chan error, 1)
	select {
	case t.work <- func() { answer <- f() }:
		return <-answer
	case <-t.quit:
		return errStopped
	}
}

// file returns a file about the thread. Only threads with csisim's own root find it there.
func (t *thread) file(name string) string { return fmt.Sprintf("/proc/self/task/%d/%s", t.id, name) }

// hasStopped reports whether the thread has stopped running closures.
func (t *thread) hasStopped() bool {
	select {
	case <-t.quit:
		return true
	default:
		return false
	}
}

func (t *thread) stop() { t.stopOnce.Do(func() { close(t.quit) }) }
