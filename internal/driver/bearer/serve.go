// Package bearer implements gRPC over TCP between the controller manager of CSI-Addons and the
// sidecars. It uses TLS with unverified certificates, and the token of a service account in each
// call.
package bearer

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"strconv"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/internal/driver/certificate"
)

const (
	header = "authorization"
	prefix = "Bearer "
)

// Serve listens on a port of loopback until stop is called; port 0 means any free port. isGood
// checks the token of each call; if it is nil, there is neither TLS nor a token. A-SRV-2
func Serve(port int, isGood func(token string) (bool, error), register func(grpc.ServiceRegistrar)) (at net.Addr, stop func(), err error) {
	var options []grpc.ServerOption
	if isGood != nil {
		own, _, err := certificate.New()
		if err != nil {
			return nil, nil, err
		}
		options = append(options, grpc.Creds(credentials.NewTLS(&tls.Config{Certificates: []tls.Certificate{own}})),
			grpc.UnaryInterceptor(authenticating(isGood)))
	}
	listener, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, nil, fmt.Errorf("listen for the controller manager: %w", err)
	}
	server := grpc.NewServer(options...)
	register(server)
	go func() { _ = server.Serve(listener) }() // ends when the listener is closed
	return listener.Addr(), func() {
		_ = listener.Close()
		go server.Stop() // may wait for a handshake that hangs
	}, nil
}

// authenticating rejects calls without a good token, with the messages of the project's sidecar.
func authenticating(isGood func(string) (bool, error)) grpc.UnaryServerInterceptor {
	return func(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
		given := metadata.ValueFromIncomingContext(ctx, header)
		if len(given) == 0 {
			return nil, status.Error(codes.Unauthenticated, "missing authorization token")
		}
		good, err := isGood(strings.TrimPrefix(given[0], prefix))
		switch {
		case err != nil:
			return nil, fmt.Errorf("failed to review token %w", err)
		case !good:
			return nil, status.Error(codes.Unauthenticated, "invalid token")
		}
		return handle(ctx, request)
	}
}
