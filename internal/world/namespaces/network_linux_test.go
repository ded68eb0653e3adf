package namespaces

import (
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// addresses is the variable with the addresses that the program names in its separate network.
// hidden is the variable with another address.
const (
	addresses = "NAMESPACES_TEST_ADDRESSES"
	hidden    = "NAMESPACES_TEST_HIDDEN"
)

// options returns the Options of the program that runs itself again.
func options() (o Options) {
	if named := os.Getenv(addresses); named != "" {
		o.Network = &Network{Loopback: strings.Split(named, ",")}
	}
	return o
}

// playDials prints the answers of the addresses, its interfaces, and whether it can listen on the
// address without a listener.
func playDials() {
	named := strings.Split(os.Getenv(addresses), ",")
	for _, at := range []string{named[0], os.Getenv(hidden)} {
		conn, err := net.Dial("tcp", at)
		if err != nil {
			fmt.Println("refused")
			continue
		}
		_, _ = io.WriteString(conn, "knock")
		_ = conn.(*net.TCPConn).CloseWrite()
		answer, err := io.ReadAll(conn)
		fmt.Println(string(answer), err)
	}
	all, err := net.Interfaces()
	for _, i := range all {
		if i.Flags&net.FlagUp != 0 {
			fmt.Println(i.Name, err)
		}
	}
	_, err = net.Listen("tcp", named[1])
	fmt.Println(err)
}

// Given servers on loopback of the machine. When a program runs again in a separate network, then
// it reaches exactly the servers that it names, and can itself listen on the address without a
// listener.
func TestASeparateNetworkLeadsToTheNamedAddresses(t *testing.T) {
	users(t, func(t *testing.T, nobody bool) {
		free, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		require.NoError(t, free.Close())
		c := program(t, "dials", nobody)
		c.Env = append(c.Env, addresses+"="+answering(t)+","+free.Addr().String(), hidden+"="+answering(t))
		out, err := c.CombinedOutput()
		require.NoError(t, err, string(out))
		assert.Equal(t, "knock, come in <nil>\nrefused\nlo <nil>\n<nil>\n", string(out))
	})
}

// answering returns the address of a server on loopback that echoes its input.
func answering(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			asked, _ := io.ReadAll(conn)
			_, _ = conn.Write(append(asked, ", come in"...))
			_ = conn.Close()
		}
	}()
	return l.Addr().String()
}
