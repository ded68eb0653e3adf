//go:build linux

package defect

import (
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var detachNotFoundErrors = &Defect{
	Name: "detach-not-found-errors",
	Does: "ControllerUnpublishVolume fails when the volume is not attached",
	Call: beforeDetach(func(_ *service.Driver, v backend.Volume, node string) error {
		if _, attached := v.Attachments[node]; !attached {
			return status.Errorf(codes.NotFound, "volume %s is not attached to node %s", v.ID, node)
		}
		return nil
	}),
}
