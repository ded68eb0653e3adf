package network

import (
	"context"
	"net"
	"sync/atomic"
	"time"

	"gvisor.dev/gvisor/pkg/tcpip/adapters/gonet"
	"gvisor.dev/gvisor/pkg/tcpip/transport/udp"
	"gvisor.dev/gvisor/pkg/waiter"
)

// idle is the pause after which datagrams from a client's port start a new flow, as with the NAT of
// a router.
const idle = 2 * time.Minute

// relay forwards the datagrams of a client and the answers.
func (n *Network) relay(r *udp.ForwarderRequest) bool {
	to, from := wanted(r.ID()), n.device(addressOf(r.ID().RemoteAddress))
	if from == nil { // it has left
		return true
	}
	var queue waiter.Queue
	endpoint, err := r.CreateEndpoint(&queue)
	if err != nil {
		return false
	}
	client := gonet.NewUDPConn(&queue, endpoint)
	n.forwards.Go(func() {
		if to == resolver {
			n.answerDatagrams(from.ctx, client)
			return
		}
		ctx, cancel := context.WithTimeout(from.ctx, patience)
		server, err := n.dial(ctx, "udp", to)
		cancel()
		if err != nil {
			_ = client.Close()
			return
		}
		exchange(from.ctx, client, server)
	})
	return true
}

// exchange forwards datagrams in both directions until both sides have been silent for a while, or
// ctx is done.
func exchange(ctx context.Context, a, b net.Conn) {
	var last atomic.Int64
	touch := func() { last.Store(time.Now().UnixNano()) }
	touch()
	done := make(chan struct{})
	for _, way := range [][2]net.Conn{{a, b}, {b, a}} {
		go func() {
			defer func() { done <- struct{}{} }()
			datagram := make([]byte, mtu)
			for {
				size, err := way[0].Read(datagram)
				if err != nil {
					return
				}
				touch()
				if _, err := way[1].Write(datagram[:size]); err != nil {
					return
				}
			}
		}()
	}
	look := time.NewTicker(idle / 8)
	defer look.Stop()
	left := 2
	for quiet := false; !quiet && left == 2; {
		select {
		case <-look.C:
			quiet = time.Now().UnixNano()-last.Load() > int64(idle)
		case <-ctx.Done():
			quiet = true
		case <-done:
			left--
		}
	}
	_ = a.Close()
	_ = b.Close()
	for ; left > 0; left-- {
		<-done
	}
}
