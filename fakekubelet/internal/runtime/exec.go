package runtime

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
)

// maxOutput is how much of a command's output is kept, in bytes.
const maxOutput = 10 * 1024

// Exec runs one more command in the container, until a time since the beginning of
// the run, and answers its exit code and what it wrote. One that takes longer is
// killed: that is an error.
func (c *Program) Exec(p *kernel.Process, command machine.Command, limit time.Duration) (code int, output string, err error) {
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
	if !p.WaitUntil("the end of a command in container "+c.name, p.Elapsed()+limit, done) {
		_ = process.Signal(syscall.SIGKILL) // it may have ended by itself
		p.Wait("the end of a command in container "+c.name, done)
		words := strings.Join(append([]string{command.Path}, command.Args...), " ")
		return 0, "", fmt.Errorf("command timed out: %q timed out after %s", words, limit)
	}
	text, err := os.ReadFile(process.Stdout)
	if err != nil {
		return 0, "", fmt.Errorf("reading what a command wrote: %w", err)
	}
	return process.ExitCode(), string(text[:min(len(text), maxOutput)]), nil
}
