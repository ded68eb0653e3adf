//go:build linux

package defect

import (
	"context"
	"time"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/mount"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var callsOverlap = &Defect{
	Name: "calls-overlap",
	Does: "calls for one volume are not kept apart, and NodePublishVolume mounts a while after it has looked",
	Wrap: func(d *service.Driver) {
		d.Locks = noLocks{}
		onPublish(func(_ *service.Driver, next service.Mounts, v backend.Volume, source, target string, flags mount.Flags) error {
			time.Sleep(50 * time.Millisecond)
			return next.Publish(v, source, target, flags)
		})(d)
	},
}

type noLocks struct{}

func (noLocks) Enter(string) bool             { return true }
func (noLocks) Leave(context.Context, string) {}
