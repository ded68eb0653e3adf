package machine_test

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/machine"
)

// newNetwork makes a network that is not connected to any other.
func newNetwork(t *testing.T, address string) *machine.Network {
	needRoot(t)
	n, err := machine.NewNetwork(netip.MustParseAddr(address), func(netip.Addr) (func(), error) { return func() {}, nil })
	require.NoError(t, err)
	t.Cleanup(n.Close)
	return n
}

// networkNamespace is a script that prints the network namespace of a program.
const networkNamespace = "readlink /proc/self/ns/net"

func TestAProgramIsInTheNetworkThatItsCommandNames(t *testing.T) {
	of, own := newNetwork(t, "10.245.0.2"), newNetwork(t, "10.244.0.2")
	m, err := machine.NewNamespaceWith("node-1", filepath.Join(shortDir(t), "n1"), false, machine.Layout{}, of)
	require.NoError(t, err)
	defer func() { require.NoError(t, m.Close()) }()
	ours, err := os.Readlink("/proc/self/ns/net")
	require.NoError(t, err)

	in := func(n *machine.Network, script string) string {
		c := shell(script)
		c.Network = n
		return strings.TrimSpace(run(t, m, c))
	}
	assert.Equal(t, ours, in(nil, networkNamespace), "csisim's by default")
	nodes, pods := in(of, networkNamespace), in(own, networkNamespace)
	assert.Len(t, map[string]bool{ours: true, nodes: true, pods: true}, 3)
	assert.Equal(t, "lo", in(own, "tail -n +3 /proc/net/dev | cut -d: -f1"), "nothing of csisim's interfaces")
	if m.SharesProcesses() == nil {
		assert.Equal(t, nodes, in(own, "readlink /proc/1/ns/net"), "process 1 is in the machine's")
	}
}

func TestACommandBesideAProgramIsInItsNetwork(t *testing.T) {
	own := newNetwork(t, "10.244.0.2")
	m, dir := ownProcesses(t), image(t)
	c := inRoot(machine.Root{Dir: dir}, "while :; do :; done")
	c.Network = own
	host, err := m.Start(c)
	require.NoError(t, err)
	defer func() { require.NoError(t, host.Kill()) }()
	devices := machine.Command{Path: "cat", Args: []string{"/proc/net/dev"}, Env: []string{"PATH=/bin"}, Bare: true, Dir: "/", Beside: host}
	assert.Equal(t, 3, strings.Count(run(t, m, devices), "\n"), "two lines of heading, and loopback")
}

func TestANetworkIsDialledFromWithin(t *testing.T) {
	var at net.Listener
	needRoot(t)
	n, err := machine.NewNetwork(netip.MustParseAddr("10.244.0.2"), func(netip.Addr) (leave func(), err error) {
		at, err = net.Listen("unix", "@csisim-test") // abstract names belong to a network namespace
		return func() {}, err
	})
	require.NoError(t, err)
	defer at.Close()
	_, err = net.Dial("unix", "@csisim-test")
	require.ErrorIs(t, err, syscall.ECONNREFUSED, "it is not ours")
	conn, err := n.Dial(t.Context(), "unix", "@csisim-test")
	require.NoError(t, err)
	require.NoError(t, conn.Close())
	_, err = n.Dial(t.Context(), "tcp4", "192.0.2.1:80")
	require.ErrorIs(t, err, syscall.ENETUNREACH)
	n.Close()
	n.Close()
}

func TestANetworkThatCannotBeJoinedIsNotMade(t *testing.T) {
	needRoot(t)
	lost := errors.New("no way")
	began := time.Now()
	_, err := machine.NewNetwork(netip.MustParseAddr("10.244.0.2"), func(netip.Addr) (func(), error) { return nil, lost })
	require.ErrorIs(t, err, lost)
	require.EqualError(t, err, "make the network of 10.244.0.2: no way")
	assert.Less(t, time.Since(began), time.Minute)
}
