package mockprogram

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"

	"github.com/csisim/csisim/internal/real/proxy"
)

// passing is a plugin that forwards its calls to the backend, with metadata that identify the
// plugin.
type passing struct {
	socket, backend string
	metadata        []string // keys and values
}

func (p passing) serve(ctx context.Context) error {
	conn, err := grpc.NewClient("passthrough:///"+p.backend, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return err
	}
	defer conn.Close()
	pass := func(_ any, stream grpc.ServerStream) error {
		method, _ := grpc.MethodFromServerStream(stream)
		request, answer, err := proxy.Messages(method)
		if err != nil {
			return err
		}
		if err := stream.RecvMsg(request); err != nil {
			return err
		}
		to := metadata.AppendToOutgoingContext(stream.Context(), p.metadata...)
		// The backend is never down, but may start later.
		if err := conn.Invoke(to, method, request, answer, grpc.WaitForReady(true)); err != nil {
			return err
		}
		return stream.SendMsg(answer)
	}
	return serve(ctx, listening{grpc.NewServer(grpc.UnknownServiceHandler(pass)), "unix", p.socket})
}
