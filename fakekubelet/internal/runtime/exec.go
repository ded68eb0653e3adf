package runtime

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
)

// maxOutput bounds the part of a command's output that is kept, in bytes.
const maxOutput = 10 * 1024

// Exec runs one more command in the container until a time since the start of the run. It returns
// its exit code and output. A command that takes longer is killed, which is reported as an error.
func (c *Program) Exec(p *kernel.Process, words []string, limit time.Duration) (code int, output string, err error) {
	inside, err := c.Inside()
	if err != nil {
		return 0, "", err
	}
	command := inside.command(words, true)
	log := filepath.Join(c.runtime.options.LogDir, fmt.Sprintf("%s_%s_%s_%s_exec.log", c.pod.Namespace, c.pod.Name, c.pod.UID, c.name))
	command.Stdout, command.Stderr = log, log
	ended := false
	command.Ended = func(*machine.Process) {
		c.runtime.world.Kernel.Post(func() {
			ended = true
			p.Wake()
		})
	}
	process, err := c.runtime.options.Machine.Start(command)
	if err != nil {
		return 0, "", err
	}
	defer os.Remove(process.Stdout)
	done := func() bool { return ended }
	if !p.WaitUntil("the end of a command in container "+c.name, p.Elapsed()+c.runtime.world.Kernel.Real(limit), done) {
		_ = process.Signal(syscall.SIGKILL) // it may already have exited
		p.Wait("the end of a command in container "+c.name, done)
		return 0, "", fmt.Errorf("command timed out: %q timed out after %s", strings.Join(words, " "), limit)
	}
	text, err := os.ReadFile(process.Stdout)
	if err != nil {
		return 0, "", fmt.Errorf("reading the output of a command: %w", err)
	}
	return process.ExitCode(), string(text[:min(len(text), maxOutput)]), nil
}

// ErrNotRunning is returned for a container without a running instance.
var ErrNotRunning = errors.New("container not found")

// Inside is the running instance of a container, as API clients access it. It is safe for
// concurrent use.
type Inside struct {
	runtime *Runtime
	process *machine.Process
	base    machine.Command // of the instance
	spec    *corev1.Container
}

// Inside returns access to the running instance.
func (c *Program) Inside() (*Inside, error) {
	if !c.Running() || c.record {
		return nil, fmt.Errorf("%w (%q)", ErrNotRunning, c.name)
	}
	return &Inside{runtime: c.runtime, process: c.process, base: c.Command, spec: c.spec}, nil
}

// command returns a command in the form in which the container runs it. If the machine does not
// have the program that a manifest names, the image's program runs instead. For a client's command
// this requires that its first word names that program.
func (i *Inside) command(words []string, ofManifest bool) machine.Command {
	program, executable := i.runtime.Found(words[0], i.base.Env), i.runtime.Executable(i.spec.Image)
	switch {
	case i.base.Root != nil:
		program = words[0] // the container looks it up in its own files
	case program != "":
	case names(words[0], i.spec, executable), ofManifest && strings.Contains(words[0], "/"):
		program = executable
	default:
		program = words[0] // it cannot be started
	}
	return machine.Command{Path: program, Args: words[1:], Env: i.base.Env, Bare: i.base.Bare, Dir: i.base.Dir, Beside: i.process}
}

// Exec runs a command in the container with the caller's streams, until the command ends or ctx is
// done.
func (i *Inside) Exec(ctx context.Context, words []string, s machine.Stdio, terminal bool) (code int, err error) {
	command := i.command(words, false)
	command.Attached, command.Terminal = &s, terminal
	if terminal {
		command.Env = append([]string{"TERM=xterm"}, command.Env...)
	}
	process, err := i.runtime.options.Machine.Start(command)
	if err != nil {
		return 0, err
	}
	return process.Await(ctx)
}

// Attach connects the caller's streams to those of the container until the container ends or ctx is
// done.
func (i *Inside) Attach(ctx context.Context, s machine.Stdio) error { return i.process.Attach(ctx, s) }
