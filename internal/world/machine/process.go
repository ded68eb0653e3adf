package machine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/csisim/csisim/internal/world/workdir"
)

// killPatience bounds the time that a killed program may take to end.
const killPatience = 10 * time.Second

// Process is a program that runs, or ran, on a machine. It leads its own process group. When it
// ends, the rest of its group is killed. In a namespace, all processes that it has started are
// killed, as by the kernel when process 1 of a container ends; those of an Administrator run until
// the machine stops. It also ends with csisim.
type Process struct {
	Stdout string // the host file of its standard output
	Stderr string // the host file of its standard error

	pid     int
	parent  *thread
	base    map[int]string // in a namespace, the mounts at its start: mount points by id
	mounts  mountTable
	done    chan struct{}
	console *console       // nil if it writes to files itself
	guest   bool           // its thread and its mounts belong to another program
	onNode  bool           // it uses the mounts of the machine
	onEnd   func(*Process) // called after its end; may be nil
	as      *identity      // its user if it has its own root; otherwise nil
	changes *changes       // its changes to files; nil if they are not observed
	root    *ownRoot       // of its container; nil if it has the machine's root
	lost    *lostFiles     // of earlier containers; nil if there are none
	group   *controlGroup  // limits it; nil without limits

	mu          sync.Mutex
	ended       bool // its number may be reused
	killed      bool // by Kill
	exit        string
	code        int
	outOfMemory bool
	most, peak  int64    // its memory limit (0 for none) and its highest observed usage
	greedy      bool     // it was killed because it exceeded its memory limit
	left        []string // the commands of its leftover processes; final after done
	strays      error    // the error of killing the rest of its namespace; final after done
}

// Start runs a program in a place with the machine's mounts.
func (d *Disk) Start(c Command) (*Process, error) {
	p := &Process{done: make(chan struct{}), onEnd: c.Ended, most: c.Memory, onNode: c.Administrator}
	if c.Root != nil && d.own == nil {
		return nil, fmt.Errorf("start %s in a root of its own on node %s: %w", c.Path, d.name, ErrNotIsolated)
	}
	cmd := d.newCmd(c)
	if err := p.openLogs(cmd, c); err != nil {
		closeLogs(cmd)
		return nil, fmt.Errorf("start %s on node %s: %w", c.Path, d.name, err)
	}
	err := d.launch(p, cmd, c)
	closeLogs(cmd)
	if err != nil {
		return nil, fmt.Errorf("start %s on node %s: %w", c.Path, d.name, err)
	}
	go p.await(cmd, d)
	if p.most > 0 {
		go p.boundMemory()
	}
	if !p.guest { // otherwise it ends with its host
		d.adopt(p)
	}
	return p, nil
}

// newCmd returns the command to run. A path in a separate root is looked up later, in that root.
func (d *Disk) newCmd(c Command) *exec.Cmd {
	cmd := &exec.Cmd{Path: c.Path, Args: append([]string{c.Path}, c.Args...)}
	dir := "/"
	if c.Root == nil && (c.Beside == nil || c.Beside.as == nil) {
		cmd = exec.Command(c.Path, c.Args...)
		dir = d.layout.real()
	}
	cmd.Env = append(c.environment(os.Environ()), workdir.EnvRun+"="+d.dir)
	cmd.Dir = d.within(cmp.Or(c.Dir, dir))
	cmd.SysProcAttr = d.ownGroup()
	return cmd
}

// launch forks from a separate thread for the program. The program inherits the thread's namespace,
// and its death signal follows the thread, not the process.
func (d *Disk) launch(p *Process, cmd *exec.Cmd, c Command) error {
	if c.Beside != nil {
		return p.join(c.Beside, cmd)
	}
	setup := func() error { return nil }
	var err error
	if d.own != nil {
		if setup, err = d.contain(p, c); err != nil {
			return err
		}
	}
	parent, err := startThread(setup)
	if p.root != nil {
		d.addContainer(p.root)
	}
	if err != nil {
		return err
	}
	d.mu.Lock()
	d.launched = true
	d.addDirs(c.OwnDirs)
	d.mu.Unlock()
	p.parent, p.group = parent, newControlGroup(c.Limits)
	if d.own != nil {
		err = p.keepBase()
	}
	if err == nil {
		err = p.group.admit(parent)
	}
	if err == nil {
		p.group.limit(cmd)
		err = parent.do(func() error {
			if c.Followed {
				p.changes = follow(d.unsynced, &d.loops, p.lost, c.SeesLookups)
			}
			return p.begin(cmd, c, d.own)
		})
	}
	if err != nil {
		_ = p.mounts.close()
		if p.group.leave(parent) {
			err = fmt.Errorf("%w: %w", errLowLimit, err)
		}
		parent.stop()
		return err
	}
	p.pid = cmd.Process.Pid
	return nil
}

// errLowLimit is returned for a program that exceeds its limit before it starts.
var errLowLimit = errors.New("container init was OOM-killed (memory limit too low?)")

// addDirs records directories that are on the machine's own disk.
func (d *Disk) addDirs(dirs []string) {
	for _, dir := range dirs {
		if !slices.Contains(d.ownDirs, dir) {
			d.ownDirs = append(d.ownDirs, dir)
		}
	}
}

// addContainer records the root of a container until the machine is closed.
func (d *Disk) addContainer(r *ownRoot) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.containers = append(d.containers, r)
}

// join starts the program on the thread of another program.
func (p *Process) join(host *Process, cmd *exec.Cmd) error {
	p.parent, p.guest, p.as = host.parent, true, host.as
	host.group.limit(cmd)
	if err := p.parent.do(func() error { return p.fork(cmd) }); err != nil {
		if host.hasEnded() { // nothing can start in a process namespace without process 1
			return os.ErrProcessDone
		}
		return err
	}
	p.pid = cmd.Process.Pid
	return nil
}

// begin starts the program from its own thread. With a Root it runs in that root, as the root's
// user. Its directory is created if it is missing.
func (p *Process) begin(cmd *exec.Cmd, c Command, on *ownRoot) (err error) {
	if c.Root == nil {
		if on != nil {
			if err := c.confine(); err != nil {
				return err
			}
		}
		return fork(cmd)
	}
	if p.as, err = c.Root.identify(on); err != nil {
		return err
	}
	if err := os.MkdirAll(cmp.Or(c.Dir, "/"), 0o755); err != nil {
		return err
	}
	if err := c.Root.startContained(cmd, p.as, on); err != nil {
		return err
	}
	if err := p.addToBase(kernelPoints()...); err != nil {
		_ = cmd.Process.Kill() // it may already have exited
		_ = cmd.Wait()         // it was killed
		return err
	}
	return nil
}

// fork starts the program from the calling thread, beside another program.
func (p *Process) fork(cmd *exec.Cmd) error {
	if p.as != nil {
		if err := p.as.apply(cmd); err != nil {
			return err
		}
	}
	return fork(cmd)
}

// running returns the programs with separate mounts that have not ended.
func (d *Disk) running() (programs []*Process) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, p := range d.programs {
		if !p.onNode && !p.hasEnded() {
			programs = append(programs, p)
		}
	}
	return programs
}

// adopt records a program for PowerOff, and drops those that have ended.
func (d *Disk) adopt(p *Process) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.programs = append(slices.DeleteFunc(d.programs, (*Process).hasEnded), p)
}

// PID returns the process id on the host.
func (p *Process) PID() int { return p.pid }

// Done returns a channel that is closed when the program has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit describes the end of the program, such as "exit status 1" or "signal: killed"; it is empty
// while the program runs.
func (p *Process) Exit() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.exit
}

// Await waits for the end of the program and returns its exit code. If ctx is done first, it kills
// the program.
func (p *Process) Await(ctx context.Context) (code int, err error) {
	select {
	case <-p.done:
		return p.ExitCode(), nil
	case <-ctx.Done():
		return 0, errors.Join(ctx.Err(), p.Kill())
	}
}

// ExitCode returns the exit code in the form of a shell: 128 plus the signal number for a program
// that a signal ended. It is 0 while the program runs.
func (p *Process) ExitCode() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.code
}

// Signal sends a signal to the program, not to its group. It returns os.ErrProcessDone if the
// program has ended.
func (p *Process) Signal(signal syscall.Signal) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended {
		return os.ErrProcessDone
	}
	p.lookAtMemory()
	return syscall.Kill(p.pid, signal)
}

// Kill kills the program and its group and waits for its end.
func (p *Process) Kill() error {
	p.mu.Lock()
	if !p.ended {
		p.lookAtMemory()
		p.killed = true
		p.killGroup()
	}
	p.mu.Unlock()
	select {
	case <-p.done:
		return p.strays
	case <-time.After(killPatience):
		return fmt.Errorf("process %d survives SIGKILL: it hangs in the kernel", p.pid)
	}
}

// Stop sends SIGTERM to the program, and kills it after grace, in wall time.
func (p *Process) Stop(grace time.Duration) error {
	if err := p.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop process %d: %w", p.pid, err)
	}
	select {
	case <-p.done:
		return p.strays
	case <-time.After(grace):
		return p.Kill()
	}
}

func (p *Process) hasEnded() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.ended
}

// killGroup is safe only until the program is reaped, because its number may be reused afterwards.
func (p *Process) killGroup() { _ = syscall.Kill(-p.pid, syscall.SIGKILL) }

// reaping is locked while a program that has ended is reaped. The kernel then removes the program
// from /proc. Processors that do this at the same time spin until all have finished: without the
// lock, a check of a driver used a tenth more processor time.
var reaping sync.Mutex

// await waits for the end of the program and reaps it. Before, it kills the other processes in the
// program's namespace, if it has its own, and the rest of its group.
func (p *Process) await(cmd *exec.Cmd, on *Disk) {
	awaitEnd(p.pid)
	apart := !p.guest && !p.onNode
	if apart {
		p.left, p.strays = on.killNeighbours(p.parent)
	}
	p.mu.Lock()
	if apart {
		p.killGroup()
	}
	reaping.Lock()
	_ = cmd.Wait() // the process state has more information than the error
	reaping.Unlock()
	p.ended = true
	p.exit, p.code = cmd.ProcessState.String(), exitCode(cmd.ProcessState)
	if p.greedy {
		p.exit = p.greed()
	}
	p.mu.Unlock()
	if !p.guest {
		p.leave()
	}
	if p.console != nil {
		p.console.expire()
	}
	if p.onEnd != nil { // the end is recorded before the callback
		p.onEnd(p)
	}
	close(p.done)
}

// leave ends the program's thread and control group.
func (p *Process) leave() {
	_ = p.mounts.close() // it was only read
	if p.group.leave(p.parent) {
		p.mu.Lock()
		p.outOfMemory = true
		p.mu.Unlock()
	}
	p.parent.stop()
}

func exitCode(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}
