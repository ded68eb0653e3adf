//go:build linux

package defect

import (
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var detachRefusesElsewhere = &Defect{
	Name: "detach-refuses-elsewhere",
	Does: "ControllerUnpublishVolume fails when the volume is attached to other nodes only",
	Call: beforeDetach(func(_ *service.Driver, v backend.Volume, node string) error {
		if _, attached := v.Attachments[node]; !attached && len(v.Attachments) > 0 {
			return status.Errorf(codes.FailedPrecondition, "volume %s is attached to %v", v.ID, v.AttachedNodes())
		}
		return nil
	}),
}
