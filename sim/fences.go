package sim

import (
	"context"
	"errors"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/internal/world/addons/fence"
)

// fences returns a function that requests the address ranges that a driver with CSI-Addons keeps
// off its storage; nil for a driver without. The requests are no part of the run.
func (d *driver) fences() func() ([]string, error) {
	if len(d.Addons) == 0 && (d.mock == nil || !d.mock.ServesAddons()) {
		return nil
	}
	return func() (all []string, err error) {
		switch {
		case d.mock != nil:
			return d.mock.Fenced(), nil
		case d.controller == nil:
			return nil, nil
		case !d.answering().running:
			return nil, errors.New("its controller plugin does not run")
		}
		err = d.answering().askAt(d.answering().addons, "fences (ListClusterFence)", func(ctx context.Context, conn grpc.ClientConnInterface) error {
			answer, err := fence.NewFenceControllerClient(conn).ListClusterFence(ctx, &fence.ListClusterFenceRequest{})
			for _, c := range answer.GetCidrs() {
				all = append(all, c.GetCidr())
			}
			if status.Code(err) == codes.Unimplemented {
				return nil
			}
			return err
		})
		return all, err
	}
}
