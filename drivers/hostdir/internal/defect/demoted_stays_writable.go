//go:build linux

package defect

import "github.com/csisim/csisim/drivers/hostdir/internal/service"

var demotedStaysWritable = &Defect{
	Name: "demoted-stays-writable",
	Does: "a volume that is demoted is staged and published writable",
	Wrap: func(d *service.Driver) { d.Store = writableStore{d.Store} },
}

type writableStore struct{ service.Store }

func (writableStore) Writable(string) (bool, error) { return true, nil }
