package machine

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/csisim/csisim/sim/workdir"
)

// killPatience is how long a killed program may take to end.
const killPatience = 10 * time.Second

// Process is a program that runs, or ran, on a machine. It leads a process group
// of its own. When it ends, the rest of its group is killed, as the kernel does
// with a container whose first process ends; when csisim ends, it dies too.
type Process struct {
	Stdout string // the host file that has its standard output
	Stderr string // the host file that has its standard error

	pid  int
	done chan struct{}

	mu    sync.Mutex
	ended bool // its number may be used anew
	exit  string
}

// Start runs a program where it sees the machine's mounts.
func (d *Disk) Start(c Command) (*Process, error) {
	p := &Process{done: make(chan struct{})}
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Env = append(os.Environ(), append(c.Env, workdir.EnvRun+"="+d.dir)...)
	cmd.Dir = d.within(KubeletDir)
	if c.Dir != "" {
		cmd.Dir = d.within(c.Dir)
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := p.openLogs(cmd, c); err != nil {
		return nil, fmt.Errorf("start %s on node %s: %w", c.Path, d.name, err)
	}
	err := d.launch(cmd)
	closeLogs(cmd)
	if err != nil {
		return nil, fmt.Errorf("start %s on node %s: %w", c.Path, d.name, err)
	}
	p.pid = cmd.Process.Pid
	go p.await(cmd)
	d.adopt(p)
	return p, nil
}

// launch forks from the machine's thread: the program inherits its namespace, and
// Pdeathsig, which follows the thread and not the process, strikes at its end only.
func (d *Disk) launch(cmd *exec.Cmd) error {
	d.mu.Lock()
	if d.thread == nil {
		t, err := startThread(func() error { return nil })
		if err != nil {
			d.mu.Unlock()
			return err
		}
		d.thread = t
	}
	t := d.thread
	d.launched = true
	d.mu.Unlock()
	return t.do(cmd.Start)
}

// adopt remembers a program for PowerOff, and forgets those that ended.
func (d *Disk) adopt(p *Process) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var running []*Process
	for _, other := range d.programs {
		if !other.hasEnded() {
			running = append(running, other)
		}
	}
	d.programs = append(running, p)
}

// PID is the process id on the host.
func (p *Process) PID() int { return p.pid }

// Done is closed when the program has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit tells how the program ended, such as "exit status 1" or "signal: killed";
// it is empty while the program runs.
func (p *Process) Exit() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.exit
}

// Signal sends a signal to the program, not to its group; os.ErrProcessDone if it
// has ended.
func (p *Process) Signal(signal syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return os.ErrProcessDone
	}
	return unix.Kill(p.pid, signal)
}

// Kill kills the program and its group and waits for its end.
func (p *Process) Kill() error {
	p.mu.Lock()
	if !p.ended {
		p.killGroup()
	}
	p.mu.Unlock()
	select {
	case <-p.done:
		return nil
	case <-time.After(killPatience):
		return fmt.Errorf("process %d survives SIGKILL: it hangs in the kernel", p.pid)
	}
}

// Stop asks the program to end with SIGTERM, and kills it when grace, in wall
// time, is over.
func (p *Process) Stop(grace time.Duration) error {
	if err := p.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop process %d: %w", p.pid, err)
	}
	select {
	case <-p.done:
		return nil
	case <-time.After(grace):
		return p.Kill()
	}
}

func (p *Process) hasEnded() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended
}

// killGroup is safe only while the program is not reaped: its number stands for
// nothing else until then.
func (p *Process) killGroup() { _ = unix.Kill(-p.pid, unix.SIGKILL) }

// await waits for the end, kills what is left of the group, and reaps.
func (p *Process) await(cmd *exec.Cmd) {
	for unix.Waitid(unix.P_PID, p.pid, nil, unix.WEXITED|unix.WNOWAIT, nil) == unix.EINTR {
	}
	p.mu.Lock()
	p.killGroup()
	_ = cmd.Wait() // the state tells more than the error
	p.ended = true
	p.exit = cmd.ProcessState.String()
	p.mu.Unlock()
	close(p.done)
}
