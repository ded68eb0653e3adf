package namespaces

import (
	"io"
	"net"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/csisim/csisim/internal/world/iface"
)

// network is the name of the namespace of Options.Network.
const network = "network"

// reachVariable lists the addresses of the machine for the program that is run again.
const reachVariable = "CSISIM_REACH"

// bridging is the descriptor of a socket through which the program passes its listeners.
const bridging = listening + 1

// reached returns the addresses on which a program listens now. An address without a listener is
// left to the drivers, which may listen on it themselves.
func (n *Network) reached() []string {
	addresses, all := []string{}, slices.Clone(n.Loopback)
	slices.Sort(all)
	for _, at := range slices.Compact(all) {
		if conn, err := net.DialTimeout("tcp", at, time.Second); err == nil {
			_ = conn.Close()
			addresses = append(addresses, at)
		}
	}
	return addresses
}

// bridge leads from listeners in the network of a program to loopback of the machine. A program
// without a separate network has a nil bridge.
type bridge struct {
	own, programs *os.File

	mu        sync.Mutex
	closed    bool
	listeners []net.Listener
}

// openBridge prepares the program to pass its listeners; nil if there are no addresses.
func openBridge(program *exec.Cmd, addresses []string) (*bridge, error) {
	if len(addresses) == 0 {
		return nil, nil
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socketpair", err)
	}
	b := &bridge{own: os.NewFile(uintptr(pair[0]), "bridge"), programs: os.NewFile(uintptr(pair[1]), "bridge")}
	program.ExtraFiles = append(program.ExtraFiles, b.programs)
	program.Env = append(program.Env, reachVariable+"="+strings.Join(addresses, ","))
	return b, nil
}

// started serves the listeners of a program after its start, or after its failure to start.
func (b *bridge) started() {
	if b == nil {
		return
	}
	_ = b.programs.Close() // the program has its own copy
	go b.serve()
}

// serve receives a listener for each address, until the program has passed them all.
func (b *bridge) serve() {
	conn, err := net.FileConn(b.own)
	_ = b.own.Close()
	if err != nil {
		return
	}
	defer conn.Close()
	address, rights := make([]byte, 256), make([]byte, unix.CmsgSpace(4))
	for {
		size, of, _, _, err := conn.(*net.UnixConn).ReadMsgUnix(address, rights)
		if err != nil || size == 0 {
			return
		}
		if l, err := listenerIn(rights[:of]); err == nil && b.keep(l) {
			go accept(l, string(address[:size]))
		}
	}
}

// keep stores a listener until the end; false after the end.
func (b *bridge) keep(l net.Listener) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		_ = l.Close()
		return false
	}
	b.listeners = append(b.listeners, l)
	return true
}

func (b *bridge) close() {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	for _, l := range b.listeners {
		_ = l.Close()
	}
}

// listenerIn returns the listener of a control message.
func listenerIn(rights []byte) (net.Listener, error) {
	messages, err := unix.ParseSocketControlMessage(rights)
	if err != nil || len(messages) == 0 {
		return nil, unix.EINVAL
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) == 0 {
		return nil, unix.EINVAL
	}
	file := os.NewFile(uintptr(fds[0]), "listener")
	defer file.Close()
	return net.FileListener(file)
}

// accept forwards each connection of a listener to an address of the machine.
func accept(l net.Listener, to string) {
	for {
		inside, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer inside.Close()
			outside, err := net.Dial("tcp", to)
			if err != nil {
				return
			}
			defer outside.Close()
			copied := make(chan struct{})
			go func() { defer close(copied); forward(outside, inside) }()
			forward(inside, outside)
			<-copied
		}()
	}
}

// forward copies until the source ends, and ends the destination's input.
func forward(to, from net.Conn) {
	_, _ = io.Copy(to, from)
	_ = to.(*net.TCPConn).CloseWrite()
}

// enterNetwork activates loopback in the new network, and passes listeners on the addresses that
// lead out of it to the parent process.
func enterNetwork() error {
	if err := iface.Up("lo"); err != nil {
		return err
	}
	addresses := os.Getenv(reachVariable)
	if addresses == "" {
		return nil
	}
	_ = os.Unsetenv(reachVariable)
	defer unix.Close(bridging)
	for address := range strings.SplitSeq(addresses, ",") {
		if err := pass(address); err != nil {
			return err
		}
	}
	return nil
}

// pass listens on an address and passes the listener to the parent process.
func pass(address string) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	defer l.Close()
	file, err := l.(*net.TCPListener).File()
	if err != nil {
		return err
	}
	defer file.Close()
	return unix.Sendmsg(bridging, []byte(address), unix.UnixRights(int(file.Fd())), nil, 0)
}
