package network

import (
	"net/netip"

	"gvisor.dev/gvisor/pkg/buffer"
	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/header"
	"gvisor.dev/gvisor/pkg/tcpip/stack"

	"github.com/csisim/csisim/internal/world/address"
)

// mtu is the size of the largest packet of the network. All parts of the network support it.
const mtu = 65520

// read forwards the packets of a device until it is closed.
func (n *Network) read(d *device) {
	packet := make([]byte, mtu)
	for {
		size, err := d.file.Read(packet)
		if err != nil {
			return
		}
		n.pass(d, packet[:size])
	}
}

// pass forwards one packet of a device. IPv6 is not supported.
func (n *Network) pass(from *device, packet []byte) {
	ip := header.IPv4(packet)
	if len(packet) < header.IPv4MinimumSize || header.IPVersion(packet) != header.IPv4Version || addressOf(ip.SourceAddress()) != from.address {
		return
	}
	to := addressOf(ip.DestinationAddress())
	switch other := n.device(to); {
	case other != nil:
		other.write(packet)
	case to.IsMulticast() || to == broadcast:
	// Pings of outside addresses are dropped.
	case ip.Protocol() == uint8(header.ICMPv4ProtocolNumber) && to != address.Host:
	default:
		n.deliver(packet)
	}
}

var broadcast = netip.AddrFrom4([4]byte{255, 255, 255, 255})

// deliver passes a packet to the stack.
func (n *Network) deliver(packet []byte) {
	p := stack.NewPacketBuffer(stack.PacketBufferOptions{Payload: buffer.MakeWithData(packet)})
	n.link.InjectInbound(header.IPv4ProtocolNumber, p)
	p.DecRef()
}

// send passes a packet of the stack to the device of its address.
func (n *Network) send(packet []byte) {
	if d := n.device(addressOf(header.IPv4(packet).DestinationAddress())); d != nil {
		d.write(packet)
	}
}

func addressOf(a tcpip.Address) netip.Addr { return netip.AddrFrom4(a.As4()) }

func stackAddress(a netip.AddrPort) tcpip.FullAddress {
	return tcpip.FullAddress{NIC: nic, Addr: tcpip.AddrFrom4(a.Addr().As4()), Port: a.Port()}
}
