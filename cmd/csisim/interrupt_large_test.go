package main

import (
	"bufio"
	"flag"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

var (
	largeNodes = flag.Int("nodes", 100, "nodes of the runs that are interrupted")
	largePods  = flag.Int("pods", 2000, "pods of the runs that are interrupted")
)

// soon is much longer than the handling of an interrupt. The rest of the interrupted run, or a
// write without a reader, would take much longer.
const soon = 20 * time.Second

// An interrupt ends a run at any stage: while it reads a large file, while nodes or pods start, and
// while no program reads its trace.
func TestAnInterruptEndsALargeRun(t *testing.T) {
	bin := clitest.Build(t)
	for name, test := range map[string]struct {
		lines  int // of the trace, after which the signal is sent
		signal syscall.Signal
		reads  bool // reads until the end
	}{
		"while the scenario is read":     {0, syscall.SIGINT, true},
		"while nodes come up":            {1, syscall.SIGTERM, true},
		"while pods start":               {*largePods, syscall.SIGINT, true},
		"in the middle":                  {*largePods * 15, syscall.SIGTERM, true},
		"while its reader does not read": {*largePods * 5, syscall.SIGINT, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t, bin)
			pipe := filepath.Join(p.Dir, "trace.jsonl")
			require.NoError(t, syscall.Mkfifo(pipe, 0o600))
			reader, err := os.OpenFile(pipe, os.O_RDWR, 0) // O_RDWR does not wait for a writer
			require.NoError(t, err)
			t.Cleanup(func() { reader.Close() })
			lines := bufio.NewScanner(reader)
			lines.Buffer(nil, 1<<28) // a list of all volumes is one line

			r := clitest.StartCommand(t, p.Place, p.Command("run", "--trace", pipe, largeScenario(t, *largeNodes, *largePods)), func() bool { return true })
			if test.lines == 0 {
				time.Sleep(100 * time.Millisecond) // csisim may not read yet; reading takes longer
			}
			for range test.lines {
				require.True(t, lines.Scan(), lines.Err())
			}
			began := time.Now()
			r.Signal(t, test.signal)
			if test.reads {
				go func() {
					for lines.Scan() {
					}
				}()
			}
			code := r.AwaitEnd(t, soon)
			usage := r.Command.ProcessState.SysUsage().(*syscall.Rusage)
			t.Logf("it ended %v after the signal; it had %d MiB", time.Since(began).Round(10*time.Millisecond), usage.Maxrss>>10)
			// The process had no signal handler yet.
			if status := r.Command.ProcessState.Sys().(syscall.WaitStatus); status.Signaled() {
				code = 128 + int(status.Signal())
			}
			assert.Equal(t, 128+int(test.signal), code)
			if test.lines > 0 {
				assert.Contains(t, r.Output.String(), "csisim: interrupted")
			}
		})
	}
}
