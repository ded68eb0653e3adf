//go:build linux

package defect

import (
	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var cloneRemembered = &Defect{
	Name: "clone-remembered",
	Does: "a second copy of a volume has the content of the first one",
	Wrap: onCreate(func(_ *service.Driver, next service.Store, spec backend.VolumeSpec) (backend.Volume, error) {
		if spec.Source.VolumeID != "" {
			spec.Source = firstCopy(next, spec)
		}
		return next.CreateVolume(spec)
	}),
}

// firstCopy returns an earlier copy of the same volume, or the source itself if there is none.
func firstCopy(store service.Store, spec backend.VolumeSpec) backend.Source {
	all, _ := store.Volumes()
	for _, v := range all {
		if v.Source == spec.Source && v.ID != backend.VolumeID(spec.Name) {
			return backend.Source{VolumeID: v.ID}
		}
	}
	return spec.Source
}
