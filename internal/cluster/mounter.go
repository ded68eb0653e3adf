package cluster

import (
	"errors"
	"io/fs"
	"path"

	"github.com/csisim/csisim/internal/world/machine"
)

// Mounter lets the mock driver mount on its node's machine. The content of a volume is a directory
// or a file on that machine, or in a storage that all nodes share.
type Mounter struct {
	Machine machine.Machine
	Driver  string
	Storage *Storage // nil for none
}

func (m Mounter) content(source string) string { return MockContent(m.Driver, source) }

// Mount binds a volume, or another mount, on target.
func (m Mounter) Mount(source, target string, readOnly bool) error {
	if node, inMemory := m.Machine.(*machine.Memory); inMemory && m.Storage != nil && !path.IsAbs(source) {
		if err := node.MkdirAll(target, 0o755); err != nil {
			return err
		}
		return m.Storage.Show(node, source, target, readOnly)
	}
	if !path.IsAbs(source) {
		source = m.content(source)
		if err := m.Machine.MkdirAll(source, 0o755); err != nil {
			return err
		}
	}
	if err := m.Machine.MkdirAll(target, 0o755); err != nil {
		return err
	}
	return m.Machine.BindMount(source, target, readOnly)
}

// MountDevice binds the volume's device on target.
func (m Mounter) MountDevice(source, target string) error {
	device := m.content(path.Join("dev", source))
	for _, file := range []string{device, target} {
		if err := m.touch(file); err != nil {
			return err
		}
	}
	return m.Machine.BindMount(device, target, false)
}

func (m Mounter) touch(file string) error {
	if _, err := m.Machine.Lstat(file); err == nil {
		return nil
	}
	if err := m.Machine.MkdirAll(path.Dir(file), 0o755); err != nil {
		return err
	}
	return m.Machine.WriteFile(file, nil, 0o644)
}

// Unmount unmounts a target and removes it.
func (m Mounter) Unmount(target string) error {
	mounted, err := m.IsMounted(target)
	if err != nil {
		return err
	}
	if mounted {
		if err := m.Machine.Unmount(target); err != nil {
			return err
		}
	}
	if path.Base(target) == "globalmount" { // the kubelet created it
		return nil
	}
	if err := m.Machine.Remove(target); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// IsMounted reports whether something is mounted on target.
func (m Mounter) IsMounted(target string) (bool, error) {
	mounted, err := m.Machine.IsMountPoint(target)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return mounted, err
}
