//go:build linux

package defect

import "github.com/csisim/csisim/drivers/hostdir/internal/service"

var recordsNotSynced = &Defect{
	Name:      "records-not-synced",
	Does:      "the node does not sync its records of volumes, so that they are empty after a loss of power",
	Configure: func(c *service.Config) { c.UnsyncedRecords = true },
}
