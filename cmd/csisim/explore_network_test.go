package main

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

// Given a driver that does not start in the network of the machine, when its runs are searched with
// separate networks, then it starts, as root and as an ordinary user.
func TestASearchHasASeparateNetwork(t *testing.T) {
	clitest.NeedsMounts(t)
	network, err := os.Readlink("/proc/self/ns/net")
	require.NoError(t, err)
	p := newPlace(t, clitest.Build(t))
	command := fmt.Sprintf(`[sh, -c, 'test "$(readlink /proc/self/ns/net)" != "%s" && exec hostdir "$@"', sh, `, network)
	p.Write("s.yaml", clitest.Header+strings.Replace(filesPod, "[hostdir, ", command, 1))
	for flags, want := range map[string]int{"": clitest.ExitEnvironment, "--network host": clitest.ExitEnvironment, "--network own": 0, "--rootless": 0, "--rootless --network host": clitest.ExitEnvironment} {
		require.NoError(t, os.Chmod(p.Work, 0o777))
		c := p.Command(append([]string{"explore", "s.yaml", "--runs", "2", "--faults", "none", "--wait-for-driver", "2s"}, strings.Fields(flags)...)...)
		got := outcomeOf(t, c)
		assert.Equal(t, want, got.Code, "%s: %s%s", flags, got.Stdout, got.Stderr)
	}
	assert.Empty(t, p.Leftovers())
}
