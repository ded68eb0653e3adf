//go:build linux

package defect

import (
	"context"

	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var deadlineKeepsLock = &Defect{
	Name: "deadline-keeps-lock",
	Does: "a volume stays locked when the deadline of a call for it passes in the driver",
	Wrap: func(d *service.Driver) { d.Locks = keptLocks{d.Locks} },
}

// keptLocks does not release its locks after the deadline of a call.
type keptLocks struct{ service.Locks }

func (k keptLocks) Leave(ctx context.Context, subject string) {
	if ctx.Err() == nil {
		k.Locks.Leave(ctx, subject)
	}
}
