package fakekubelet_test

import (
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/csisim/csisim/internal/world/machine"
)

// mounter lets the mock driver mount on the machine: volumes are directories and
// files below /mock.
type mounter struct {
	machine *machine.Memory
	links   bool // devices are published by links
}

func (m mounter) Mount(source, target string, readOnly bool) error {
	if !path.IsAbs(source) {
		source = "/mock/" + source
	}
	return errors.Join(m.machine.MkdirAll(source, 0o755), m.machine.MkdirAll(target, 0o755), m.machine.BindMount(source, target, readOnly))
}

func (m mounter) MountDevice(source, target string) error {
	device := "/mock/dev-" + source
	if m.links {
		_ = m.machine.Remove(target)
		return errors.Join(m.machine.MkdirAll("/mock", 0o755), m.machine.WriteFile(device, nil, 0o600), m.machine.Symlink(device, target))
	}
	return errors.Join(m.machine.MkdirAll("/mock", 0o755), m.machine.WriteFile(device, nil, 0o600),
		m.machine.WriteFile(target, nil, 0o600), m.machine.BindMount(device, target, false))
}

func (m mounter) Unmount(target string) error {
	if mounted, _ := m.IsMounted(target); mounted {
		if err := m.machine.Unmount(target); err != nil {
			return err
		}
	}
	// The kubelet made it.
	if path.Base(target) == "globalmount" || strings.Contains(target, "/staging/") {
		return nil
	}
	if err := m.machine.Remove(target); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (m mounter) IsMounted(target string) (bool, error) {
	mounted, err := m.machine.IsMountPoint(target)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return mounted, err
}
