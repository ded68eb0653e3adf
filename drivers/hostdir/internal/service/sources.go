//go:build linux

package service

import (
	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/mount"
)

type sources struct{ *Driver }

// Source returns the path that a publish bind-mounts: the staged volume or, without staging, the
// volume itself.
func (s sources) Source(v backend.Volume, staging string, readOnly bool) (string, error) {
	switch {
	case !s.Config.Stage && v.Block:
		device, err := s.Devices.Attach(s.Store.DataPath(v), s.Label(v.ID), readOnly)
		return device.Path, err
	case !s.Config.Stage:
		return s.Store.DataPath(v), nil
	case v.Block:
		return s.stagedDevice(v)
	}
	table, err := mount.Read()
	if err != nil {
		return "", err
	}
	resolved, err := mount.Resolve(staging)
	if err != nil || !table.Shows(s.Store.DataPath(v), resolved) {
		return "", precondition("volume %s is not staged at %s", v.ID, staging)
	}
	return resolved, nil
}

func (s sources) stagedDevice(v backend.Volume) (string, error) {
	devices, err := s.Devices.Find(s.Label(v.ID))
	if err != nil {
		return "", err
	}
	if len(devices) == 0 {
		return "", precondition("volume %s is not staged: it has no loop device", v.ID)
	}
	return devices[0].Path, nil
}
