//go:build linux

package defect

import (
	"os"
	"path/filepath"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/service"
)

var deviceRecorded = &Defect{
	Name: "device-recorded",
	Does: "after a restart NodePublishVolume takes the loop device that a block volume had before",
	Wrap: func(d *service.Driver) { d.Sources = recordedDevices{d.Sources, d} },
}

// recordedDevices finds the device that an earlier instance has recorded for a staged volume.
type recordedDevices struct {
	service.Sources
	driver *service.Driver
}

func (r recordedDevices) Source(v backend.Volume, staging string, readOnly bool) (string, error) {
	device, err := r.Sources.Source(v, staging, readOnly)
	if err != nil || !v.Block || !r.driver.Config.Stage {
		return device, err
	}
	return recordedDevice(r.driver.Config.NodeStateDir, v.ID, device, r.driver.Restarted)
}

// recordedDevice returns the device that a file in a directory records for a volume. It records the
// current device if there is no record yet, or if the record is not to be trusted.
func recordedDevice(dir, volumeID, current string, trust bool) (string, error) {
	name := filepath.Join(dir, "device-"+volumeID)
	if old, err := os.ReadFile(name); err == nil && trust {
		return string(old), nil
	}
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return "", err
	}
	defer f.Close()
	if _, err := f.WriteString(current); err != nil {
		return "", err
	}
	return current, f.Sync()
}
