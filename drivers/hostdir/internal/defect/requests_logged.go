//go:build linux

package defect

import (
	"context"
	"log"

	"google.golang.org/grpc"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var requestsLogged = &Defect{
	Name: "requests-logged",
	Does: "the log has all requests, with their secrets",
	Call: func(_ *service.Driver, ctx context.Context, req any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
		log.Printf("%s: %v", info.FullMethod, req)
		return handle(ctx, req)
	},
}
