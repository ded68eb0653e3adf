//go:build linux

package defect

import (
	"context"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

// Call answers a call of a driver, or changes the call.
type Call func(d *service.Driver, ctx context.Context, req any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error)

// next makes the call with a request.
type next func(req any) (any, error)

// on handles the calls with a type of request.
func on[R any](do func(d *service.Driver, req R, next next) (any, error)) Call {
	return func(d *service.Driver, ctx context.Context, req any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
		r, is := req.(R)
		if !is {
			return handle(ctx, req)
		}
		return do(d, r, func(req any) (any, error) { return handle(ctx, req) })
	}
}

// before runs a function before a call. An error of the function ends the call.
func before[R any](do func(d *service.Driver, req R) error) Call {
	return on(func(d *service.Driver, req R, next next) (any, error) {
		if err := do(d, req); err != nil {
			return nil, service.Answer(err)
		}
		return next(req)
	})
}

// after runs a function after a successful call. The function may change the answer.
func after[R, A any](do func(d *service.Driver, req R, answer A) error) Call {
	return on(func(d *service.Driver, req R, next next) (any, error) {
		answer, err := next(req)
		if err == nil {
			err = service.Answer(do(d, req, answer.(A)))
		}
		return answer, err
	})
}

// both applies two Calls to a call, one inside the other.
func both(one, other Call) Call {
	return func(d *service.Driver, ctx context.Context, req any, info *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
		return one(d, ctx, req, info, func(ctx context.Context, req any) (any, error) { return other(d, ctx, req, info, handle) })
	}
}

// beforeDetach runs a function before a volume is detached from a node.
func beforeDetach(do func(d *service.Driver, v backend.Volume, node string) error) Call {
	return before(func(d *service.Driver, req *csi.ControllerUnpublishVolumeRequest) error {
		v, err := d.Store.Volume(req.GetVolumeId())
		if err != nil {
			return nil // the call returns the error
		}
		return do(d, v, req.GetNodeId())
	})
}

// beforeDeletion runs a function before a volume is deleted.
func beforeDeletion(do func(d *service.Driver, v backend.Volume) error) Call {
	return before(func(d *service.Driver, req *csi.DeleteVolumeRequest) error {
		v, err := d.Store.Volume(req.GetVolumeId())
		if err != nil || len(v.Attachments) > 0 {
			return nil // the call will find the same error
		}
		return do(d, v)
	})
}

// onController changes the backend before a controller plugin serves.
func onController(do func(*backend.Backend) error) func(*service.Driver) error {
	return func(d *service.Driver) error {
		if !d.Config.Controller || d.Config.InlineOnly {
			return nil
		}
		return do(d.Backend)
	}
}
