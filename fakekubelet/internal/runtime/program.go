package runtime

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/internal/world/machine"
)

// Program is a container across all its restarts: a program, or a record without a program.
type Program struct {
	runtime  *Runtime
	record   bool
	pod      *corev1.Pod
	name     string
	spec     *corev1.Container
	process  *machine.Process // of the instance that runs
	changed  func()
	Now      *Instance       // the latest instance; nil before the first
	Before   *Instance       // the one before
	Restarts int32           // the number of restarts
	Command  machine.Command // of the latest instance
	// TerminationLog is a path on the node. The next instance writes its termination message there.
	// It is empty if the instance writes none.
	TerminationLog string
	// Target is the container with the processes that this ephemeral container can see. It is empty
	// if the ephemeral container sees only its own processes.
	Target string
}

// Instance is one start of a container.
type Instance struct {
	ID                string
	Started, Finished time.Time // Finished is zero while it runs
	Code              int32
	Reason, Message   string // of its end
	Log               string // the host file with its output
	termination       string // path of its termination log on the node; empty if it has none
}

// startError is the exit code of an instance that could not be started.
const startError = 128

// Program returns the record of a pod's container, and creates it at the first call.
func (r *Runtime) Program(pod *corev1.Pod, spec *corev1.Container) *Program {
	name := spec.Name
	all := r.programs[pod.UID]
	if all == nil {
		all = map[string]*Program{}
		r.programs[pod.UID] = all
	}
	if all[name] == nil {
		all[name] = &Program{runtime: r, pod: pod, name: name, spec: spec, record: !r.Runs(spec.Image)}
	}
	return all[name]
}

// FindProgram returns the record of a container; nil if there is none.
func (r *Runtime) FindProgram(pod types.UID, name string) *Program { return r.programs[pod][name] }

// Forget drops the records of a deleted pod's programs, and removes their logs.
func (r *Runtime) Forget(pod types.UID) {
	delete(r.together, pod)
	if r.programs[pod] == nil {
		return
	}
	delete(r.programs, pod)
	// The pattern is valid.
	logs, _ := filepath.Glob(filepath.Join(r.options.LogDir, fmt.Sprintf("*_%s_*", pod)))
	for _, log := range logs {
		_ = os.Remove(log) // csisim removes the directory at the end of the cluster
	}
}

// OnChange registers the function to call at the end of the container, and replaces the previous
// one.
func (c *Program) OnChange(f func()) { c.changed = f }

// Starts returns the number of instances so far.
func (c *Program) Starts() int32 {
	if c.Now == nil {
		return 0
	}
	return c.Restarts + 1
}

// Running reports whether an instance runs.
func (c *Program) Running() bool { return c.Now != nil && c.Now.Finished.IsZero() }

// Start starts the next instance. A program that cannot be started counts as ended at once.
func (c *Program) Start(command machine.Command) {
	w, next := c.runtime.world, c.next()
	c.Command = command
	next.Log = c.log()
	next.termination = c.TerminationLog
	command.Stdout, command.Stderr, command.Began = next.Log, next.Log, next.Started
	command.Ended = func(p *machine.Process) { w.Kernel.Post(func() { c.end(next, int32(p.ExitCode()), p.OutOfMemory()) }) }
	c.runtime.record("StartContainer", c.podName(), map[string]any{"container": c.name, "command": append([]string{command.Path}, command.Args...)})
	var process *machine.Process
	err := c.settleProcesses(command.Root)
	if err == nil {
		command.Network, err = c.runtime.networkOf(c.pod)
	}
	if err == nil {
		command.IPC, err = c.runtime.ipcOf(c.pod)
	}
	if err == nil {
		process, err = c.runtime.options.Machine.Start(command)
	}
	if err != nil {
		next.Finished, next.Code, next.Reason, next.Message = next.Started, startError, "StartError", err.Error()
		return
	}
	c.process, next.Log = process, process.Stdout
}

// next makes the record of the next instance the latest one.
func (c *Program) next() *Instance {
	if c.Now != nil {
		c.Restarts++
	}
	c.Before, c.Now = c.Now, &Instance{ID: c.id(), Started: c.runtime.world.Kernel.Now()}
	return c.Now
}

func (c *Program) id() string {
	return fmt.Sprintf("csisim://%s/%s/%d", c.pod.UID, c.name, c.Restarts)
}

// log returns the host file for the output of the latest instance.
func (c *Program) log() string {
	return filepath.Join(c.runtime.options.LogDir, fmt.Sprintf("%s_%s_%s_%s_%d.log", c.pod.Namespace, c.pod.Name, c.pod.UID, c.name, c.Restarts))
}

func (c *Program) podName() string { return c.pod.Namespace + "/" + c.pod.Name }

// end records the end of an instance.
func (c *Program) end(i *Instance, code int32, outOfMemory bool) {
	i.Finished, i.Code, i.Reason = c.runtime.world.Kernel.Now(), code, "Completed"
	switch {
	case outOfMemory:
		i.Reason = "OOMKilled"
	case code != 0:
		i.Reason = "Error"
	}
	i.Message = c.message(i)
	c.runtime.record("ContainerExited", c.podName(), map[string]any{"container": c.name, "exitCode": code})
	if c.changed != nil {
		c.changed()
	}
}

// Signal sends a signal to the program if it runs. A record exits at once.
func (c *Program) Signal(signal syscall.Signal) {
	switch {
	case !c.Running():
	case c.record:
		c.end(c.Now, 0, false)
	default:
		_ = c.process.Signal(signal) // it may already have exited
	}
}

// Limit changes the limits of the running instance.
func (c *Program) Limit(l machine.Limits) error {
	if !c.Running() || c.record {
		return nil
	}
	c.Command.Limits = l
	return c.process.Limit(l)
}

// Kill ends the program and all its child processes. A record ends at once, other programs end
// later.
func (c *Program) Kill() {
	switch {
	case !c.Running():
	case c.record:
		c.end(c.Now, killedCode, false)
	default:
		_ = c.process.Signal(syscall.SIGKILL) // it may already have exited
	}
}
