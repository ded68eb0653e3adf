package proxy

import (
	"errors"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// life ends and starts a driver.
type life interface {
	// kill ends it with SIGKILL, stop with SIGTERM. They return when it has exited.
	kill() error
	stop() error
	// start starts the driver. If another component must start the driver, start returns an error
	// until the driver serves.
	start() error
}

// program is the driver as a child of the proxy. If it exits by itself, it is restarted as by the
// kubelet: at once the first time, then after 10 s, doubling up to 5 min.
type program struct {
	command []string
	ended   func(how string)

	mu     sync.Mutex
	wanted bool
	child  *exec.Cmd
	gone   chan struct{} // closed when child has ended
	again  *time.Timer
	deaths int
}

func newProgram(command []string, ended func(string)) *program {
	return &program{command: command, ended: ended}
}

// firstPause and longestPause are the kubelet's pauses before restarts of a crashing container.
const (
	firstPause   = 10 * time.Second
	longestPause = 5 * time.Minute
	// stopTime bounds the time that the driver may take to end after SIGTERM.
	stopTime = 25 * time.Second
)

// start starts the driver unless it runs.
func (p *program) start() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wanted, p.deaths = true, 0
	p.launch()
	return nil
}

func (p *program) launch() {
	if p.child != nil || !p.wanted {
		return
	}
	child := exec.Command(p.command[0], p.command[1:]...)
	child.Stdout, child.Stderr = os.Stdout, os.Stderr
	child.SysProcAttr = endingWithParent()
	if err := child.Start(); err != nil {
		p.died(err)
		return
	}
	gone := make(chan struct{})
	p.child, p.gone = child, gone
	go func() {
		err := child.Wait()
		p.mu.Lock()
		defer p.mu.Unlock()
		p.child = nil
		close(gone)
		if p.wanted {
			p.died(err)
		}
	}()
}

// died schedules the next start.
func (p *program) died(err error) {
	how := "exit status 0"
	if err != nil {
		how = err.Error()
	}
	p.ended(how)
	pause := time.Duration(0)
	if p.deaths > 0 {
		pause = min(firstPause<<(p.deaths-1), longestPause)
	}
	p.deaths = min(p.deaths+1, 6)
	p.again = time.AfterFunc(pause, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.launch()
	})
}

// kill ends it with SIGKILL, and stop with SIGTERM. It stays down until start. They return when it
// has exited.
func (p *program) kill() error { return p.end(syscall.SIGKILL) }
func (p *program) stop() error { return p.end(syscall.SIGTERM) }

func (p *program) end(signal syscall.Signal) error {
	p.mu.Lock()
	p.wanted = false
	if p.again != nil {
		p.again.Stop()
	}
	child, gone := p.child, p.gone
	p.mu.Unlock()
	if child == nil {
		return nil
	}
	if err := child.Process.Signal(signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
		_ = child.Process.Kill()
	}
	select {
	case <-gone:
	case <-time.After(stopTime):
		_ = child.Process.Kill()
		<-gone
	}
	return nil
}
