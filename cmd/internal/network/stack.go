package network

import (
	"errors"

	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/header"
	"gvisor.dev/gvisor/pkg/tcpip/link/channel"
	"gvisor.dev/gvisor/pkg/tcpip/network/ipv4"
	"gvisor.dev/gvisor/pkg/tcpip/stack"
	"gvisor.dev/gvisor/pkg/tcpip/transport/icmp"
	"gvisor.dev/gvisor/pkg/tcpip/transport/tcp"
	"gvisor.dev/gvisor/pkg/tcpip/transport/udp"

	"github.com/csisim/csisim/internal/world/address"
)

// nic is the stack's only interface.
const nic tcpip.NICID = 1

// mostOpening bounds the connections that are being established.
const mostOpening = 4096

// startStack starts the stack. The stack accepts every packet that it gets as its own, and may
// answer from any address.
func (n *Network) startStack() error {
	n.stack = stack.New(stack.Options{
		NetworkProtocols:   []stack.NetworkProtocolFactory{ipv4.NewProtocol},
		TransportProtocols: []stack.TransportProtocolFactory{tcp.NewProtocol, udp.NewProtocol, icmp.NewProtocol4},
	})
	n.link = &link{channel.New(0, mtu, ""), n.send}
	host := tcpip.ProtocolAddress{Protocol: ipv4.ProtocolNumber, AddressWithPrefix: tcpip.AddrFrom4(address.Host.As4()).WithPrefix()}
	// Time-based loss detection mistakes slow readers for losses.
	sack, recovery := tcpip.TCPSACKEnabled(true), tcpip.TCPRecovery(0)
	var failed []error
	for _, err := range []tcpip.Error{
		n.stack.CreateNIC(nic, n.link),
		n.stack.AddProtocolAddress(nic, host, stack.AddressProperties{}),
		n.stack.SetPromiscuousMode(nic, true),
		n.stack.SetSpoofing(nic, true),
		n.stack.SetTransportProtocolOption(tcp.ProtocolNumber, &sack),
		n.stack.SetTransportProtocolOption(tcp.ProtocolNumber, &recovery),
	} {
		if err != nil {
			failed = append(failed, errors.New(err.String()))
		}
	}
	n.stack.SetRouteTable([]tcpip.Route{{Destination: header.IPv4EmptySubnet, NIC: nic}})
	n.stack.SetTransportProtocolHandler(tcp.ProtocolNumber, tcp.NewForwarder(n.stack, 0, mostOpening, n.connect).HandlePacket)
	n.stack.SetTransportProtocolHandler(udp.ProtocolNumber, udp.NewForwarder(n.stack, n.relay).HandlePacket)
	return errors.Join(failed...)
}

// link is the stack's end of the network. WritePackets has sent the packets of the stack when it
// returns.
type link struct {
	*channel.Endpoint
	send func(packet []byte)
}

// WritePackets sends packets.
func (l *link) WritePackets(packets stack.PacketBufferList) (int, tcpip.Error) {
	for _, p := range packets.AsSlice() {
		view := p.ToView()
		l.send(view.AsSlice())
		view.Release()
	}
	return packets.Len(), nil
}
