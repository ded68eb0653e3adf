package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/types/known/emptypb"
)

// connect returns a connection to the driver. It is opened at its first use, and again soon after
// the driver has ended.
func connect(socket string) (*grpc.ClientConn, error) {
	conn, err := grpc.NewClient("unix://"+socket, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithConnectParams(grpc.ConnectParams{Backoff: backoff.Config{BaseDelay: lookAgain, MaxDelay: time.Second}, MinConnectTimeout: time.Second}))
	if err != nil {
		return nil, fmt.Errorf("connect to the driver at %s: %w", socket, err)
	}
	return conn, nil
}

// watchDriver shuts the sockets of the sidecars when the driver ends.
func (p *Proxy) watchDriver(live context.Context) {
	p.driver.Connect()
	for was := p.driver.GetState(); p.driver.WaitForStateChange(live, was); {
		now := p.driver.GetState()
		if was == connectivity.Ready {
			p.driverGone(false)
		}
		if now == connectivity.Idle {
			p.driver.Connect()
		}
		was = now
	}
}

// passOn forwards the messages of a call with unknown types, or with several messages, unchanged.
// They are not recorded. A message type without fields keeps all the received bytes as unknown
// fields.
func (p *Proxy) passOn(from grpc.ServerStream, method string) error {
	ctx, cancel := context.WithCancel(from.Context())
	defer cancel()
	to, err := p.driver.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, method)
	if err != nil {
		return err
	}
	go func() {
		if forward(from, to) == nil {
			_ = to.CloseSend() // the driver's answer has the result
		} else {
			cancel()
		}
	}()
	return forward(to, from)
}

// forward passes on messages until the end.
func forward(from interface{ RecvMsg(any) error }, to interface{ SendMsg(any) error }) error {
	for {
		message := &emptypb.Empty{}
		if err := from.RecvMsg(message); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := to.SendMsg(message); err != nil {
			return err
		}
	}
}
