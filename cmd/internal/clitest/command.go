// Package clitest runs csisim as a process for tests, like a user. Each run has its own directory.
package clitest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/sim/namespaces"
)

// AsCommand makes the test binary behave like csisim, so that tests run the real program in a
// separate process.
const AsCommand = "CSISIM_TEST_AS_COMMAND"

var (
	// Binaries is a directory that every user can read.
	Binaries string
	// commandFile returns the program csisim. In the tests of the command, it is the test binary
	// itself.
	commandFile = sync.OnceValues(func() (string, error) {
		return filepath.Join(Binaries, "csisim"), goBuild("./cmd/csisim")
	})
)

// Main runs the tests of a package, which see only their own mounts and processes. In the tests of
// the command, main makes the test binary csisim itself; other packages build csisim.
func Main(m *testing.M, main func()) {
	if os.Getenv(AsRegistrar) != "" {
		fmt.Fprintln(os.Stderr, runRegistrar(os.Args[1:]))
		os.Exit(1)
	}
	if main != nil {
		if os.Getenv(AsCommand) != "" {
			main()
		}
		commandFile = func() (string, error) { return os.Args[0], nil }
	}
	namespaces.Enter()
	os.Exit(WithBinaries(m))
}

// WithBinaries runs the tests of a package with a directory for programs, which it removes at the
// end, and returns the exit code.
func WithBinaries(m *testing.M) int {
	var err error
	if Binaries, err = os.MkdirTemp("/tmp", "bin"); err == nil {
		defer os.RemoveAll(Binaries)
		err = os.Chmod(Binaries, 0o755)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return m.Run()
}

// goBuild builds programs of this module.
func goBuild(packages ...string) error {
	c := exec.Command("go", append([]string{"build", "-buildvcs=false", "-ldflags=-s -w", "-o", Binaries}, packages...)...)
	c.Dir = root()
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

// root is the directory of this module.
func root() string {
	dir, err := os.Getwd()
	for ; err == nil; dir = filepath.Dir(dir) {
		if _, missing := os.Stat(filepath.Join(dir, "go.mod")); missing == nil {
			return dir
		}
	}
	panic(err)
}

// buildAll builds the drivers of tests, and puts csisim beside them.
var buildAll = sync.OnceValue(func() error {
	if err := goBuild("./cmd/internal/clitest/baddriver", "./drivers/hostdir"); err != nil {
		return err
	}
	csisim, err := commandFile()
	if err != nil || csisim == filepath.Join(Binaries, "csisim") {
		return err
	}
	text, err := os.ReadFile(csisim)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(Binaries, "csisim"), text, 0o755)
})

// Build returns a directory with csisim and drivers.
func Build(t *testing.T) (bin string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the drivers of these tests mount, on Linux only")
	}
	require.NoError(t, buildAll())
	return Binaries
}

// Exit codes of csisim for bad input, and for a machine that cannot run it.
const (
	ExitInput       = 2
	ExitEnvironment = 3
)

// Outcome is the result of a run of the command.
type Outcome struct {
	Stdout, Stderr string
	Code           int
}

// Command returns csisim as a process. environment extends a neutral environment.
func Command(ctx context.Context, environment []string, args ...string) *exec.Cmd {
	file, err := commandFile()
	c := exec.CommandContext(ctx, file, args...)
	if err != nil {
		c.Err = err
	}
	c.Env = append(os.Environ(), AsCommand+"=1", "GITHUB_ACTIONS=", "TERM=xterm")
	c.Env = append(c.Env, environment...)
	return c
}

func Run(t *testing.T, args ...string) Outcome { return RunIn(t, nil, args...) }

func RunIn(t *testing.T, environment []string, args ...string) Outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c := Command(t.Context(), environment, args...)
	c.Stdout, c.Stderr = &stdout, &stderr
	err := c.Run()
	if exit := (*exec.ExitError)(nil); err != nil {
		require.ErrorAs(t, err, &exit)
	}
	return Outcome{stdout.String(), stderr.String(), c.ProcessState.ExitCode()}
}

// Nightly reports whether tests use large numbers of hostile and large inputs, as in make
// nightly-live. Otherwise small numbers only show that the tests work.
func Nightly() bool { return os.Getenv("CSISIM_NIGHTLY") != "" }
