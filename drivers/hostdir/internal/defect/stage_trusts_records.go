//go:build linux

package defect

import (
	"sync"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/mount"
	"github.com/csisim/csisim/drivers/hostdir/internal/placement"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var stageTrustsRecords = &Defect{
	Name: "stage-trusts-records",
	Does: "after a reboot the node stages and publishes an empty directory: its records say that it is mounted",
	Wrap: func(d *service.Driver) {
		records := &oldRecords{Records: d.Records}
		d.Records, d.Mounts, d.Sources = records, trustingMounts{d.Mounts, records}, trustingSources{d.Sources, d}
	},
}

// oldRecords notes the paths that have ever had a record.
type oldRecords struct {
	service.Records
	old sync.Map
}

func (o *oldRecords) Put(p placement.Placement) error {
	o.old.Store(p.Path, o.Has(p.Path))
	return o.Records.Put(p)
}

// trustingMounts does not stage if a record claims that the volume is staged.
type trustingMounts struct {
	service.Mounts
	records *oldRecords
}

func (t trustingMounts) Stage(v backend.Volume, content, staging string) error {
	if old, _ := t.records.old.Load(staging); old == true {
		return nil
	}
	return t.Mounts.Stage(v, content, staging)
}

// trustingSources does not check whether a directory is staged.
type trustingSources struct {
	service.Sources
	driver *service.Driver
}

func (t trustingSources) Source(v backend.Volume, staging string, readOnly bool) (string, error) {
	if resolved, err := mount.Resolve(staging); err == nil && t.driver.Config.Stage && !v.Block {
		return resolved, nil
	}
	return t.Sources.Source(v, staging, readOnly)
}
