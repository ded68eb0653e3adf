package relay

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/internal/world/addons/identity"
	"github.com/csisim/csisim/internal/world/addons/sidecar"
	"github.com/csisim/csisim/internal/world/kernel"
)

// served is a sidecar of the simulation for programs outside it.
type served struct {
	*listener
	outside Outside
}

// register registers all services, independent of the driver's capabilities. A-SRV-1
func (s served) register(r grpc.ServiceRegistrar) {
	identity.RegisterIdentityServer(r, servedIdentity{served: s})
	sidecar.RegisterReclaimSpaceServer(r, servedReclaim{served: s})
	sidecar.RegisterEncryptionKeyRotationServer(r, servedKeys{served: s})
	sidecar.RegisterNetworkFenceServer(r, servedFence{served: s})
	sidecar.RegisterReplicationServer(r, servedReplication{served: s})
	sidecar.RegisterVolumeGroupControllerServer(r, servedGroups{served: s})
}

// answer makes the sidecar answer in a separate process, between two steps of the kernel. The
// caller waits outside of the kernel.
func answer[T proto.Message](ctx context.Context, s served, what string, do func(Service, Call) (T, error)) (T, error) {
	type outcome struct {
		answer T
		err    error
	}
	done := make(chan outcome, 1)
	s.component.Kernel.Post(func() {
		if s.closed {
			return // the connection ends, too
		}
		s.component.Go("answer "+what, func(p *kernel.Process) {
			answer, err := do(s.service, Call{p, p.Elapsed() + s.outside.Left(ctx)})
			done <- outcome{answer, err}
		})
	})
	var none T
	select {
	case o := <-done:
		if o.err != nil {
			return none, o.err
		}
		return o.answer, nil
	case <-ctx.Done():
		return none, status.FromContextError(ctx.Err()).Err()
	}
}

// servedIdentity passes the driver's answers on.
type servedIdentity struct {
	identity.UnimplementedIdentityServer
	served
}

func (s servedIdentity) GetCapabilities(ctx context.Context, _ *identity.GetCapabilitiesRequest) (*identity.GetCapabilitiesResponse, error) {
	return answer(ctx, s.served, "GetCapabilities", func(to Service, c Call) (*identity.GetCapabilitiesResponse, error) {
		all, err := to.GetCapabilities(c)
		return &identity.GetCapabilitiesResponse{Capabilities: all}, err
	})
}

func (s servedIdentity) GetIdentity(ctx context.Context, _ *identity.GetIdentityRequest) (*identity.GetIdentityResponse, error) {
	return answer(ctx, s.served, "GetIdentity", func(to Service, c Call) (*identity.GetIdentityResponse, error) { return to.GetIdentity(c) })
}

func (s servedIdentity) Probe(ctx context.Context, _ *identity.ProbeRequest) (*identity.ProbeResponse, error) {
	return answer(ctx, s.served, "Probe", func(to Service, c Call) (*identity.ProbeResponse, error) { return to.Probe(c) })
}
