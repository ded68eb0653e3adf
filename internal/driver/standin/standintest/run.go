// Package standintest has helpers for tests of stand-ins.
package standintest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/machine"
)

// Run runs a program on a node to its end. It returns the exit, such as "exit status 0", and the
// output.
func Run(t testing.TB, node machine.Machine, name string, args ...string) (exit, output string) {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log")
	process, err := node.Start(machine.Command{Path: name, Args: args, Stdout: log, Stderr: log})
	require.NoError(t, err)
	<-process.Done()
	text, err := os.ReadFile(log)
	require.NoError(t, err)
	return process.Exit(), strings.TrimSpace(string(text))
}
