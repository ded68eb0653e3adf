//go:build linux

package defect

import (
	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

// creating creates volumes by another function.
type creating struct {
	service.Store
	create func(backend.VolumeSpec) (backend.Volume, error)
}

func (c creating) CreateVolume(spec backend.VolumeSpec) (backend.Volume, error) {
	return c.create(spec)
}

// onCreate wraps the creation of volumes.
func onCreate(create func(d *service.Driver, next service.Store, spec backend.VolumeSpec) (backend.Volume, error)) func(*service.Driver) {
	return func(d *service.Driver) {
		next := d.Store
		d.Store = creating{next, func(spec backend.VolumeSpec) (backend.Volume, error) { return create(d, next, spec) }}
	}
}

// expanding makes volumes larger by another function.
type expanding struct {
	service.Store
	expand func(id string, required, limit int64) (backend.Volume, error)
}

func (e expanding) ExpandVolume(id string, required, limit int64) (backend.Volume, error) {
	return e.expand(id, required, limit)
}

// onExpand wraps the expansion of volumes.
func onExpand(expand func(d *service.Driver, next service.Store, id string, required, limit int64) (backend.Volume, error)) func(*service.Driver) {
	return func(d *service.Driver) {
		next := d.Store
		d.Store = expanding{next, func(id string, required, limit int64) (backend.Volume, error) {
			return expand(d, next, id, required, limit)
		}}
	}
}
