package program

import (
	"cmp"
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/csisim/csisim/internal/world/machine"
)

// stopGrace bounds the wall time that a program may take to end after SIGTERM.
const stopGrace = 2 * time.Second

// deployedDir is the directory at which deployments mount the driver's plugin directory. Many
// drivers therefore serve at /csi/csi.sock, regardless of their flags.
const deployedDir = "/csi"

// Program is a driver's program on one machine, across all its restarts. It is not safe for
// concurrent use.
type Program struct {
	machine machine.Machine
	spec    Spec
	process *machine.Process // process of the latest instance that served
	last    *machine.Process // of the latest instance
	lookups []machine.Lookup // of instances before that

	newPod, lostPower bool // whether the next instance is the first after that event
	instance          int
}

// Start starts the program and returns when the driver answers or ctx ends. The error is a
// *StartError, and then no program runs.
func Start(ctx context.Context, m machine.Machine, s Spec) (*Program, error) {
	if s.NodeID == "" {
		s.NodeID = s.NodeName
	}
	if s.StartTimeout == 0 {
		s.StartTimeout = defaultStartTimeout
	}
	s.Memory = cmp.Or(s.Memory, defaultMemory)
	p := &Program{machine: m, spec: s, lostPower: true} // an earlier run may have ended before
	if err := p.spec.makeDirs(); err != nil {
		return nil, p.failed(machine.Command{}, nil, err)
	}
	if err := p.start(ctx); err != nil {
		return nil, err
	}
	return p, nil
}

// Running reports whether the program runs.
func (p *Program) Running() bool {
	select {
	case <-p.process.Done():
		return false
	default:
		return true
	}
}

// Is reports whether a process is the latest instance.
func (p *Program) Is(process *machine.Process) bool { return p.process == process }

// Process returns the latest instance.
func (p *Program) Process() *machine.Process { return p.process }

// Done is closed when the latest instance has ended.
func (p *Program) Done() <-chan struct{} { return p.process.Done() }

// PID returns the process id of the latest instance on the host.
func (p *Program) PID() int { return p.process.PID() }

// Exit describes the end of the latest instance, such as "signal: killed"; empty while it runs.
func (p *Program) Exit() string { return p.process.Exit() }

// Log returns the host file with the output of the latest instance.
func (p *Program) Log() string { return p.process.Stdout }

// Lookups lists all instances' lookups of files that were lost with the containers of earlier
// instances.
func (p *Program) Lookups() []machine.Lookup {
	return append(slices.Clone(p.lookups), p.last.Lookups()...)
}

// Kill ends the program at once, like a crash: its socket remains.
func (p *Program) Kill() error { return p.process.Kill() }

// Stop ends the program with SIGTERM, and with SIGKILL if it takes longer than 2 s
// of wall time.
func (p *Program) Stop() error { return p.process.Stop(stopGrace) }

// StopAll is Stop for several programs at once.
func StopAll(programs []*Program) error {
	failed := make([]error, len(programs))
	var all sync.WaitGroup
	for i, p := range programs {
		all.Go(func() { failed[i] = p.Stop() })
	}
	all.Wait()
	return errors.Join(failed...)
}

// Upgrade makes later instances run another release of the program: the command, the environment
// and the volumes of a specification.
func (p *Program) Upgrade(s Spec) {
	p.spec.Command, p.spec.Env, p.spec.NodePaths, p.spec.Volumes = s.Command, s.Env, s.NodePaths, s.Volumes
}

// Restart starts the program again, after stopping it if it runs.
func (p *Program) Restart(ctx context.Context) error {
	if p.Running() {
		if err := p.Stop(); err != nil {
			return err
		}
	}
	return p.start(ctx)
}

// start starts the next instance.
func (p *Program) start(ctx context.Context) error {
	c, err := p.prepare()
	if err != nil {
		return p.failed(machine.Command{}, nil, err)
	}
	client, closer, err := p.machine.DialSocket(p.spec.Socket)
	if err != nil { // the path is too long; nothing is dialled yet
		return p.failed(c, nil, err)
	}
	defer closer.Close()
	process, err := p.machine.Start(c)
	if err != nil {
		return p.failed(c, nil, explainStart(c.Path, err))
	}
	p.last = process
	if err := p.await(ctx, client, process); err != nil {
		return p.failed(c, process, errors.Join(err, process.Kill()))
	}
	p.process = process
	return nil
}

// prepare makes the directories and the command line.
func (p *Program) prepare() (machine.Command, error) {
	c, err := p.spec.command(p.machine)
	if err != nil {
		return c, err
	}
	if c.Path, err = lookUp(c.Path); err != nil {
		return c, err
	}
	if err := p.machine.MkdirAll(p.spec.socketDir(), 0o755); err != nil {
		return c, err
	}
	if p.last != nil {
		p.lookups = append(p.lookups, p.last.Lookups()...)
	}
	var volumes []machine.Volume
	c.OwnKubeletDir = p.seesPartOfKubeletDir()
	if c.Container, volumes, err = p.container(c.OwnKubeletDir); err != nil {
		return c, err
	}
	c.Volumes = []machine.Volume{{Source: p.spec.socketDir(), Path: deployedDir}}
	if c.OwnKubeletDir {
		c.Volumes = append(c.Volumes, machine.Volume{Source: p.spec.socketDir(), Path: p.spec.socketDir()})
	}
	if own := path.Dir(p.spec.ServesAt); p.spec.ServesAt != "" && own != deployedDir && own != p.spec.socketDir() {
		c.Volumes = append(c.Volumes, machine.Volume{Source: p.spec.socketDir(), Path: own})
	}
	for _, v := range volumes {
		if !slices.ContainsFunc(c.Volumes, func(own machine.Volume) bool { return own.Path == path.Clean(v.Path) }) {
			c.Volumes = append(c.Volumes, v)
		}
	}
	p.instance++
	c.Ended, c.Followed, c.Memory = p.spec.Ended, true, p.spec.Memory
	c.SeesLookups, c.Capabilities = p.spec.SeesLookups, p.spec.Capabilities
	if p.spec.NodeStateDir != "" {
		c.OwnDirs = []string{p.spec.NodeStateDir}
	}
	c.Stdout = p.spec.logFile(p.instance)
	c.Stderr = c.Stdout
	return c, nil
}

func (p *Program) failed(c machine.Command, process *machine.Process, err error) error {
	e := &StartError{Driver: p.spec.Driver, Node: p.spec.NodeName, Err: err}
	if c.Path != "" {
		e.Command = strings.Join(append([]string{c.Path}, c.Args...), " ")
	}
	if process != nil {
		e.Log = process.Stdout
		e.Tail = tail(e.Log)
	}
	return e
}
