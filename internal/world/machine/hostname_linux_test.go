package machine_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/machine"
)

// Given a machine in namespaces, when programs read their host name, then it is the machine's name
// or the one in their command. Programs beside them have the same name, and csisim's own host name
// does not change.
func TestAMachineHasItsHostName(t *testing.T) {
	m := newNamespace(t)
	defer m.Close()
	own, err := os.Hostname()
	require.NoError(t, err)
	assert.Equal(t, "node-1\n", run(t, m, ask()))

	pod := inRoot(machine.Root{Dir: image(t)}, "while :; do read line </dev/zero; done")
	pod.Hostname = "web-0"
	host, err := m.Start(pod)
	require.NoError(t, err)
	beside := machine.Command{Path: "cat", Args: []string{"/proc/sys/kernel/hostname"}, Env: []string{"PATH=/bin"}, Bare: true, Beside: host}
	assert.Equal(t, "web-0\n", run(t, m, beside))
	require.NoError(t, host.Kill())

	plain := ask()
	plain.Hostname = "web-1"
	assert.Equal(t, "web-1\n", run(t, m, plain), "also in the machine's root")
	assert.Equal(t, "node-1\n", run(t, m, ask()))
	after, err := os.Hostname()
	require.NoError(t, err)
	assert.Equal(t, own, after)
}

func ask() machine.Command { return shell("cat /proc/sys/kernel/hostname") }
