package bearer

import (
	"context"
	"crypto/tls"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/csisim/csisim/internal/world/machine"
)

// Dial returns a client that connects at its first call. It reads the token before each call;
// without one it uses neither TLS nor a token. A-POOL-2
func Dial(network machine.Dial, address string, token func() (string, error)) (*grpc.ClientConn, error) {
	in := grpc.WithContextDialer(func(ctx context.Context, at string) (net.Conn, error) { return network(ctx, "tcp", at) })
	if token == nil {
		return grpc.NewClient("passthrough:///"+address, in, grpc.WithTransportCredentials(insecure.NewCredentials()))
	}
	return grpc.NewClient("passthrough:///"+address, in,
		// #nosec G402 -- the sidecar's certificate is self-signed
		grpc.WithTransportCredentials(credentials.NewTLS(&tls.Config{InsecureSkipVerify: true})),
		grpc.WithUnaryInterceptor(func(ctx context.Context, method string, request, answer any, conn *grpc.ClientConn, invoke grpc.UnaryInvoker, opts ...grpc.CallOption) error {
			text, err := token()
			if err != nil {
				return err
			}
			return invoke(metadata.AppendToOutgoingContext(ctx, header, prefix+text), method, request, answer, conn, opts...)
		}))
}
