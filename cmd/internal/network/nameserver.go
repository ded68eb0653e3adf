package network

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/netip"
	"strings"
	"time"

	"golang.org/x/net/dns/dnsmessage"
	"gvisor.dev/gvisor/pkg/tcpip/adapters/gonet"

	"github.com/csisim/csisim/internal/world/address"
)

// resolver is the address of the name server.
var resolver = netip.AddrPortFrom(address.DNS, 53)

// HostName is the name of the machine that csisim runs on.
const HostName = "host.csisim.internal"

const (
	// longestDatagram bounds an answer to a client without EDNS.
	longestDatagram = 512
	// lifetime is the TTL of an answer, in seconds.
	lifetime = 5
	// answerPatience bounds the time for an answer.
	answerPatience = 5 * time.Second
)

// answerDatagrams answers the questions from one port of a client.
func (n *Network) answerDatagrams(ctx context.Context, client *gonet.UDPConn) {
	defer client.Close()
	defer context.AfterFunc(ctx, func() { _ = client.Close() })()
	question := make([]byte, mtu)
	for {
		_ = client.SetReadDeadline(time.Now().Add(2 * answerPatience)) // never fails
		size, err := client.Read(question)
		if err != nil {
			return
		}
		asked := append([]byte(nil), question[:size]...)
		n.forwards.Go(func() {
			answer := n.answer(ctx, asked, "udp")
			if len(answer) > longestDatagram {
				answer = truncated(answer)
			}
			if answer != nil {
				_, _ = client.Write(answer) // the client may have disconnected
			}
		})
	}
}

// answerStream answers the questions of a connection.
func (n *Network) answerStream(ctx context.Context, client net.Conn) {
	defer client.Close()
	defer context.AfterFunc(ctx, func() { _ = client.Close() })()
	for {
		question, err := readMessage(client)
		if err != nil {
			return
		}
		answer := n.answer(ctx, question, "tcp")
		if answer == nil {
			return
		}
		if _, err := client.Write(withLength(answer)); err != nil {
			return
		}
	}
}

// withLength returns a message with the length prefix of connections.
func withLength(message []byte) []byte {
	return append(binary.BigEndian.AppendUint16(nil, uint16(len(message))), message...)
}

// readMessage reads a message from a connection.
func readMessage(from io.Reader) ([]byte, error) {
	var size [2]byte
	if _, err := io.ReadFull(from, size[:]); err != nil {
		return nil, err
	}
	message := make([]byte, binary.BigEndian.Uint16(size[:]))
	_, err := io.ReadFull(from, message)
	return message, err
}

// answer returns the answer to a message, nil if the message is invalid.
func (n *Network) answer(ctx context.Context, message []byte, protocol string) []byte {
	var p dnsmessage.Parser
	head, err := p.Start(message)
	if err != nil || head.Response {
		return nil
	}
	question, err := p.Question()
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, answerPatience)
	defer cancel()
	name := strings.ToLower(strings.TrimSuffix(question.Name.String(), "."))
	a := &answer{head: head, question: question}
	switch {
	case name == HostName:
		a.add(question.Name, []netip.Addr{address.Host})
	case name == address.Domain || strings.HasSuffix(name, "."+address.Domain):
		n.answerOfCluster(ctx, a, name)
	case question.Type == dnsmessage.TypeA:
		a.lookUp(ctx, question.Name, name)
	case question.Type == dnsmessage.TypeAAAA: // nothing is reached by IPv6
	default:
		if answered, err := askOutside(ctx, protocol, message); err == nil {
			return answered
		}
		a.code = dnsmessage.RCodeServerFailure
	}
	return a.pack()
}

// answerOfCluster answers for the cluster's domain.
func (n *Network) answerOfCluster(ctx context.Context, a *answer, name string) {
	c := n.cluster.Load()
	if c == nil {
		a.code = dnsmessage.RCodeServerFailure
		return
	}
	if alias := (*c).Alias(name); alias != "" {
		a.addAlias(ctx, alias)
		return
	}
	if ports, ok := (*c).Ports(name); ok {
		a.addPorts(ports)
		return
	}
	addresses, ok := (*c).Addresses(name)
	if !ok {
		a.code = dnsmessage.RCodeNameError
	}
	a.add(a.question.Name, addresses)
}

// answer is an answer in progress.
type answer struct {
	head     dnsmessage.Header
	question dnsmessage.Question
	code     dnsmessage.RCode
	records  []dnsmessage.Resource
}

// add adds the addresses of a name if the question asks for addresses.
func (a *answer) add(name dnsmessage.Name, addresses []netip.Addr) {
	if a.question.Type != dnsmessage.TypeA && a.question.Type != dnsmessage.TypeALL {
		return
	}
	for _, ip := range addresses {
		if ip.Unmap().Is4() {
			a.record(name, dnsmessage.TypeA, &dnsmessage.AResource{A: ip.Unmap().As4()})
		}
	}
}

func (a *answer) record(name dnsmessage.Name, kind dnsmessage.Type, body dnsmessage.ResourceBody) {
	head := dnsmessage.ResourceHeader{Name: name, Type: kind, Class: dnsmessage.ClassINET, TTL: lifetime}
	a.records = append(a.records, dnsmessage.Resource{Header: head, Body: body})
}

// addPorts adds named ports if the question asks for ports.
func (a *answer) addPorts(ports []net.SRV) {
	if a.question.Type != dnsmessage.TypeSRV {
		return
	}
	for _, p := range ports {
		target, err := dnsmessage.NewName(p.Target + ".")
		if err == nil {
			a.record(a.question.Name, dnsmessage.TypeSRV, &dnsmessage.SRVResource{Weight: 1, Port: p.Port, Target: target})
		}
	}
}

// addAlias adds another name and its addresses.
func (a *answer) addAlias(ctx context.Context, alias string) {
	other, err := dnsmessage.NewName(strings.TrimSuffix(alias, ".") + ".")
	if err != nil {
		a.code = dnsmessage.RCodeServerFailure
		return
	}
	a.record(a.question.Name, dnsmessage.TypeCNAME, &dnsmessage.CNAMEResource{CNAME: other})
	if a.question.Type == dnsmessage.TypeA {
		a.lookUp(ctx, other, strings.TrimSuffix(alias, "."))
	}
}

// lookUp adds the addresses that csisim's machine finds for a name, including those in its
// /etc/hosts.
func (a *answer) lookUp(ctx context.Context, name dnsmessage.Name, text string) {
	addresses, err := net.DefaultResolver.LookupNetIP(ctx, "ip4", text)
	if err != nil {
		a.code = codeOf(err)
	}
	a.add(name, addresses)
}

// pack returns the encoded answer.
func (a *answer) pack() []byte {
	m := dnsmessage.Message{
		Header: dnsmessage.Header{
			ID: a.head.ID, Response: true, OpCode: a.head.OpCode, RecursionDesired: a.head.RecursionDesired, RecursionAvailable: true, RCode: a.code,
		},
		Questions: []dnsmessage.Question{a.question}, Answers: a.records,
	}
	packed, _ := m.Pack() // its names were parsed
	return packed
}

// truncated returns an answer without records, so that the client retries over a connection.
func truncated(message []byte) []byte {
	var m dnsmessage.Message
	if m.Unpack(message) != nil {
		return nil
	}
	m.Truncated, m.Answers, m.Authorities, m.Additionals = true, nil, nil, nil
	packed, _ := m.Pack() // it was unpacked
	return packed
}
