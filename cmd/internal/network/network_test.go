package network_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/network"
	"github.com/csisim/csisim/internal/world/address"
	"github.com/csisim/csisim/internal/world/machine"
)

// site is a network with pods.
type site struct {
	*testing.T
	network *network.Network
	cluster *cluster
}

func start(t *testing.T) *site {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux has network namespaces")
	}
	if err := network.Permitted(1); err != nil {
		t.Skip(err)
	}
	n, err := network.New()
	require.NoError(t, err)
	t.Cleanup(n.Close)
	s := &site{T: t, network: n, cluster: &cluster{services: map[netip.AddrPort][]netip.AddrPort{}, names: map[string][]netip.Addr{}}}
	n.Serve(s.cluster)
	return s
}

// service adds a service.
func (s *site) service(at netip.AddrPort, backends ...string) {
	s.cluster.Lock()
	defer s.cluster.Unlock()
	s.cluster.services[at] = nil
	for _, b := range backends {
		s.cluster.services[at] = append(s.cluster.services[at], netip.MustParseAddrPort(b))
	}
}

// name adds a name for addresses.
func (s *site) name(name string, addresses ...netip.Addr) {
	s.cluster.Lock()
	defer s.cluster.Unlock()
	s.cluster.names[name] = addresses
}

// pod is a network namespace with servers.
type pod struct {
	*site
	*machine.Network
}

// pod creates a pod and starts each of the servers in it.
func (s *site) pod(at string, servers ...func(p *pod)) *pod {
	s.Helper()
	p := &pod{site: s}
	var err error
	p.Network, err = machine.NewNetwork(netip.MustParseAddr(at), func(a netip.Addr) (func(), error) {
		leave, err := s.network.Join(a)
		for _, start := range servers {
			start(p) // its listeners are in the namespace
		}
		return leave, err
	})
	require.NoError(s, err)
	s.Cleanup(p.Close)
	return p
}

// serve listens on a port, and serves each connection.
func serve(port int, answer func(net.Conn)) func(p *pod) {
	return func(p *pod) { listen(p.T, fmt.Sprintf(":%d", port), answer) }
}

func listen(t *testing.T, at string, answer func(net.Conn)) netip.AddrPort {
	listener, err := net.Listen("tcp4", at)
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				answer(conn)
			}()
		}
	}()
	return listener.Addr().(*net.TCPAddr).AddrPort()
}

// say answers with a name and the address of the client.
func say(name string) func(net.Conn) {
	return func(c net.Conn) {
		host, _, _ := net.SplitHostPort(c.RemoteAddr().String())
		fmt.Fprintf(c, "%s to %s", name, host)
	}
}

// ask connects and returns the server's answer.
func (p *pod) ask(to string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := p.Dial(ctx, "tcp4", to)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	text, err := io.ReadAll(conn)
	return string(text), err
}

func (p *pod) hears(expected, from string) {
	p.T.Helper()
	text, err := p.ask(from)
	require.NoError(p.T, err)
	assert.Equal(p.T, expected, text)
}

// cluster provides services and names.
type cluster struct {
	sync.Mutex
	services map[netip.AddrPort][]netip.AddrPort
	names    map[string][]netip.Addr
}

func (c *cluster) Backends(s netip.AddrPort, protocol string) ([]netip.AddrPort, bool) {
	c.Lock()
	defer c.Unlock()
	backends, ok := c.services[s]
	return backends, ok
}

func (c *cluster) Addresses(name string) ([]netip.Addr, bool) {
	c.Lock()
	defer c.Unlock()
	addresses, ok := c.names[name]
	return addresses, ok
}

func (c *cluster) Alias(name string) string {
	return map[string]string{"elsewhere.default.svc.cluster.local": "localhost"}[name]
}

func (c *cluster) Ports(name string) ([]net.SRV, bool) {
	if name != "_http._tcp.web.default.svc.cluster.local" {
		return nil, false
	}
	return []net.SRV{{Target: "web.default.svc.cluster.local", Port: 80}}, true
}

func TestPodsListenOnOnePortAndReachEachOther(t *testing.T) {
	s := start(t)
	a := s.pod("10.244.0.2", serve(8080, say("a")))
	b := s.pod("10.244.0.3", serve(8080, say("b")))
	a.hears("b to 10.244.0.2", "10.244.0.3:8080")
	b.hears("a to 10.244.0.3", "10.244.0.2:8080")
	a.hears("a to 127.0.0.1", "127.0.0.1:8080")
	_, err := a.ask("10.244.0.3:8081")
	assert.ErrorIs(t, err, syscall.ECONNREFUSED, "nobody listens")
}

func TestADeletedPodRefusesConnections(t *testing.T) {
	s := start(t)
	a := s.pod("10.244.0.2")
	b := s.pod("10.244.0.3", serve(8080, say("b")))
	a.hears("b to 10.244.0.2", "10.244.0.3:8080")
	b.Close()
	_, err := a.ask("10.244.0.3:8080")
	assert.ErrorIs(t, err, syscall.ECONNREFUSED)
	s.pod("10.244.0.3", serve(8080, say("c")))
	a.hears("c to 10.244.0.2", "10.244.0.3:8080")
}

// The peers of a pod's connections notice the end of the pod. The client of a service notices the
// end of the pod behind the service.
func TestConnectionsEndWithTheirPods(t *testing.T) {
	s := start(t)
	ended, over := make(chan error), make(chan struct{})
	defer close(over)
	hold := func(c net.Conn) {
		_, err := io.Copy(io.Discard, c)
		ended <- err
	}
	at := listen(t, "127.0.0.1:0", hold)
	service := netip.MustParseAddrPort("10.96.0.11:80")
	s.service(service, "10.244.0.3:8080")
	client, server := s.pod("10.244.0.2"), s.pod("10.244.0.3", serve(8080, func(net.Conn) { <-over }))
	toService, err := client.Dial(t.Context(), "tcp4", service.String())
	require.NoError(t, err)
	defer toService.Close()
	server.Close()
	require.NoError(t, toService.SetReadDeadline(time.Now().Add(time.Minute)))
	_, err = toService.Read(make([]byte, 1))
	require.ErrorIs(t, err, io.EOF)

	out, err := client.Dial(t.Context(), "tcp4", fmt.Sprintf("%s:%d", address.Host, at.Port()))
	require.NoError(t, err)
	defer out.Close()
	client.Close()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Fatal("the server keeps a connection of a deleted pod")
	}
}

// Given a server that has accepted a connection, when the client's pod ends before the handshake is
// complete, then the server notices.
func TestAConnectionEndsWithAPodThatLeavesDuringItsHandshake(t *testing.T) {
	s := start(t)
	ended := make(chan error)
	client := s.pod("10.244.0.2")
	at := listen(t, "127.0.0.1:0", func(c net.Conn) {
		client.Close()
		_, err := io.Copy(io.Discard, c)
		ended <- err
	})
	ctx, cancel := context.WithCancel(t.Context())
	dialled := make(chan struct{})
	go func() {
		defer close(dialled)
		if c, err := client.Dial(ctx, "tcp4", fmt.Sprintf("%s:%d", address.Host, at.Port())); err == nil {
			_ = c.Close()
		}
	}()
	select {
	case <-ended:
	case <-time.After(time.Minute):
		t.Error("the server keeps a connection of a deleted pod")
	}
	cancel()
	<-dialled
}

func TestAnAddressIsGivenOnce(t *testing.T) {
	s := start(t)
	s.pod("10.244.0.2")
	_, err := machine.NewNetwork(netip.MustParseAddr("10.244.0.2"), s.network.Join)
	require.EqualError(t, err, "make the network of 10.244.0.2: 10.244.0.2 is taken")
}

func TestAServiceLeadsToItsPods(t *testing.T) {
	s := start(t)
	a := s.pod("10.244.0.2", serve(8080, say("a")))
	s.pod("10.244.0.3", serve(8080, say("b")))
	web, own, none := netip.MustParseAddrPort("10.96.0.11:80"), netip.MustParseAddrPort("10.96.0.12:80"), netip.MustParseAddrPort("10.96.0.13:80")
	s.service(web, "10.244.0.3:8080")
	s.service(own, "10.244.0.2:8080")
	s.service(none)
	a.hears("b to 10.245.0.1", web.String())
	a.hears("a to 10.245.0.1", own.String())
	for _, refused := range []string{none.String(), "10.96.0.14:80"} {
		_, err := a.ask(refused)
		assert.ErrorIs(t, err, syscall.ECONNREFUSED, refused)
	}
}

func TestTheMachineIsReachedByOneAddress(t *testing.T) {
	s := start(t)
	at := listen(t, "127.0.0.1:0", say("laptop"))
	a := s.pod("10.244.0.2")
	a.hears("laptop to 127.0.0.1", fmt.Sprintf("%s:%d", address.Host, at.Port()))
	_, err := a.ask(at.String())
	assert.ErrorIs(t, err, syscall.ECONNREFUSED, "loopback is the pod's own")
}

func TestAddressesOutsideAreReachedFromTheMachine(t *testing.T) {
	s := start(t)
	var outside net.IP
	all, err := net.InterfaceAddrs()
	require.NoError(t, err)
	for _, one := range all {
		if ip := one.(*net.IPNet).IP; ip.To4() != nil && !ip.IsLoopback() {
			outside = ip
		}
	}
	if outside == nil {
		t.Skip("this machine has no address but loopback's")
	}
	at := listen(t, outside.String()+":0", say("server"))
	s.pod("10.244.0.2").hears("server to "+outside.String(), at.String())
}

func TestStreamsArriveWhole(t *testing.T) {
	s := start(t)
	sum := func(c net.Conn) {
		hash := sha256.New()
		_, _ = io.Copy(hash, c) // until the client has sent all data
		fmt.Fprintf(c, "%x", hash.Sum(nil))
	}
	at := listen(t, "127.0.0.1:0", sum)
	a := s.pod("10.244.0.2")
	s.pod("10.244.0.3", serve(8080, sum))
	for _, to := range []string{"10.244.0.3:8080", fmt.Sprintf("%s:%d", address.Host, at.Port())} {
		sent := make([]byte, 16<<20)
		chance := rand.NewChaCha8([32]byte{1})
		_, _ = chance.Read(sent) // never fails
		conn, err := a.Dial(t.Context(), "tcp4", to)
		require.NoError(t, err)
		_, err = io.Copy(conn, bytes.NewReader(sent))
		require.NoError(t, err)
		require.NoError(t, conn.(*net.TCPConn).CloseWrite())
		answer, err := io.ReadAll(conn)
		require.NoError(t, err)
		assert.Equal(t, fmt.Sprintf("%x", sha256.Sum256(sent)), string(answer), to)
		require.NoError(t, conn.Close())
	}
}

func TestDatagramsArrive(t *testing.T) {
	s := start(t)
	echo := func(p *pod) {
		at, err := net.ListenPacket("udp4", ":8080")
		require.NoError(t, err)
		t.Cleanup(func() { _ = at.Close() })
		go func() {
			text := make([]byte, 100)
			for {
				n, from, err := at.ReadFrom(text)
				if err != nil {
					return
				}
				_, _ = at.WriteTo(bytes.ToUpper(text[:n]), from)
			}
		}()
	}
	a := s.pod("10.244.0.2")
	s.pod("10.244.0.3", echo)
	echo(nil) // on the machine itself
	service := netip.MustParseAddrPort("10.96.0.11:53")
	s.service(service, "10.244.0.3:8080")
	for _, to := range []string{"10.244.0.3:8080", service.String(), address.Host.String() + ":8080"} {
		conn, err := a.Dial(t.Context(), "udp4", to)
		require.NoError(t, err)
		_, err = conn.Write([]byte("hello"))
		require.NoError(t, err)
		require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
		answer := make([]byte, 100)
		n, err := conn.Read(answer)
		require.NoError(t, err, to)
		assert.Equal(t, "HELLO", string(answer[:n]), to)
		require.NoError(t, conn.Close())
	}
}

// resolver uses the cluster's name server from within a pod.
func (p *pod) resolver() *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, protocol, _ string) (net.Conn, error) {
		return p.Dial(ctx, protocol[:3]+"4", address.DNS.String()+":53")
	}}
}

func TestNames(t *testing.T) {
	s := start(t)
	one, two := netip.MustParseAddr("10.96.0.11"), netip.MustParseAddr("10.244.0.9")
	var many []netip.Addr
	for i := range 60 {
		many = append(many, netip.AddrFrom4([4]byte{10, 244, 1, byte(i)}))
	}
	s.name("web.default.svc.cluster.local", one)
	s.name("many.default.svc.cluster.local", many...)
	s.name("pod.headless.default.svc.cluster.local", two)
	r := s.pod("10.244.0.2").resolver()
	for name, expected := range map[string][]netip.Addr{
		"web.default.svc.cluster.local.":          {one},
		"WEB.default.svc.Cluster.Local.":          {one},
		"pod.headless.default.svc.cluster.local.": {two},
		"elsewhere.default.svc.cluster.local.":    {netip.MustParseAddr("127.0.0.1")},
		network.HostName + ".":                    {address.Host},
		"localhost.localdomain.cluster.local.":    nil,
	} {
		found, err := r.LookupNetIP(t.Context(), "ip4", name)
		if expected == nil {
			var failed *net.DNSError
			require.ErrorAs(t, err, &failed, name)
			assert.True(t, failed.IsNotFound, name)
			continue
		}
		require.NoError(t, err, name)
		assert.Equal(t, expected, found, name)
	}
	found, err := r.LookupNetIP(t.Context(), "ip4", "many.default.svc.cluster.local.")
	require.NoError(t, err)
	assert.Len(t, found, 60, "an answer that is too long for a datagram is sent over a connection")
	_, ports, err := r.LookupSRV(t.Context(), "http", "tcp", "web.default.svc.cluster.local.")
	require.NoError(t, err)
	require.Len(t, ports, 1)
	assert.Equal(t, "web.default.svc.cluster.local. 80", strings.Join([]string{ports[0].Target, fmt.Sprint(ports[0].Port)}, " "))
}

// A waiting client notices the end of the network, and Close does not wait for clients.
func TestTheEndOfTheNetworkEndsItsConnections(t *testing.T) {
	n, err := network.New()
	require.NoError(t, err)
	if err := network.Permitted(1); err != nil {
		t.Skip(err)
	}
	at := listen(t, "127.0.0.1:0", func(c net.Conn) { _, _ = io.Copy(io.Discard, c) })
	p, err := machine.NewNetwork(netip.MustParseAddr("10.244.0.2"), n.Join)
	require.NoError(t, err)
	defer p.Close()
	conn, err := p.Dial(t.Context(), "tcp4", fmt.Sprintf("%s:%d", address.Host, at.Port()))
	require.NoError(t, err)
	defer conn.Close()
	began := time.Now()
	n.Close()
	assert.Less(t, time.Since(began), time.Minute)
	_, err = machine.NewNetwork(netip.MustParseAddr("10.244.0.3"), n.Join)
	require.ErrorContains(t, err, "the network is closed")
}

// Pods of a node beyond the last subnet would get addresses of another node's pods.
func TestNodesWithoutASubnetHaveNoNetwork(t *testing.T) {
	assert.EqualError(t, network.Permitted(257), "there are 257 nodes, and at most 256 have a subnet for their pods")
	assert.NotEqual(t, address.PodsOf(0), address.PodsOf(address.MostNodes-1))
	assert.Equal(t, address.PodsOf(0), address.PodsOf(address.MostNodes), "which is why")
}
