package machine

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"

	"github.com/csisim/csisim/internal/world/filetype"
)

// Devices is a machine that can read and write parts of its block devices. On a machine without
// devices, a regular file replaces a device.
type Devices interface {
	// ReadStart returns the first n bytes of a device, fewer if it is smaller.
	ReadStart(path string, n int) ([]byte, error)
	// WriteStart replaces the first bytes of a device, durably.
	WriteStart(path string, data []byte) error
	// KeepOpen opens a device until LetGo or a power-off, even if programs end meanwhile. A mount
	// at the path cannot be unmounted until then. A second call has no effect.
	KeepOpen(path string) error
	// LetGo closes the device that KeepOpen has opened; if there is none it does nothing.
	LetGo(path string) error
	// IsHeld reports whether a device is opened exclusively, as by a mount. A missing file, or a
	// file that is not a device, is not held.
	IsHeld(path string) (bool, error)
}

var (
	_ Devices = (*Disk)(nil)
	_ Devices = (*Memory)(nil)
)

// ReadStart returns the first bytes of a device.
func (d *Disk) ReadStart(p string, n int) ([]byte, error) { return d.ReadPart(p, 0, n) }

// ReadPart returns n bytes of a device from an offset on, or fewer if the device ends before.
func (d *Disk) ReadPart(p string, offset int64, n int) (data []byte, err error) {
	err = d.look(func() error {
		f, err := openDevice(d.within(p), os.O_RDONLY)
		if err != nil {
			return err
		}
		defer f.Close()
		forgetPages(f)
		data = make([]byte, n)
		n, err := io.ReadFull(io.NewSectionReader(f, offset, int64(n)), data)
		data = data[:n]
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		return err
	})
	return data, err
}

// DeviceBytes returns the size of a block device.
func (d *Disk) DeviceBytes(p string) (size int64, err error) {
	err = d.look(func() error {
		info, err := os.Stat(d.within(p))
		if err != nil {
			return err
		}
		if info.Mode().Type() != fs.ModeDevice {
			return &fs.PathError{Op: "measure", Path: p, Err: errors.New(filetype.Of(info.Mode()) + " in the place of a block device")}
		}
		f, err := openDevice(d.within(p), os.O_RDONLY)
		if err != nil {
			return err
		}
		defer f.Close()
		size, err = f.Seek(0, io.SeekEnd)
		return err
	})
	return size, err
}

// WriteStart replaces the first bytes of a device.
func (d *Disk) WriteStart(p string, data []byte) error { return d.WritePart(p, 0, data) }

// WritePart replaces bytes of a device from an offset on, durably.
func (d *Disk) WritePart(p string, offset int64, data []byte) error {
	return d.look(func() error {
		f, err := openDevice(d.within(p), os.O_WRONLY|os.O_SYNC)
		if err != nil {
			return err
		}
		_, err = f.WriteAt(data, offset)
		return errors.Join(err, f.Close())
	})
}

// openDevice opens a block device, or a file that replaces one. It does not wait for a FIFO.
func openDevice(name string, flags int) (*os.File, error) {
	info, err := os.Stat(name)
	if err == nil && !info.Mode().IsRegular() && (info.Mode()&fs.ModeDevice == 0 || info.Mode()&fs.ModeCharDevice != 0) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New(filetype.Of(info.Mode()) + " in the place of a block device")}
	}
	return os.OpenFile(name, flags|syscall.O_NONBLOCK, 0)
}

// ReadStart returns the first bytes of a file.
func (m *Memory) ReadStart(p string, n int) ([]byte, error) {
	data, err := m.ReadFile(p)
	return data[:min(n, len(data))], err
}

// WriteStart replaces the first bytes of an existing file.
func (m *Memory) WriteStart(p string, data []byte) error {
	return m.change(func() error {
		at, err := m.follow(p)
		switch {
		case err != nil:
		case at.mount.readOnly:
			err = fs.ErrPermission
		default:
			err = at.node.notReadable()
		}
		if err != nil {
			return pathError("open", p, err)
		}
		old := at.node.data()
		at.node.inside = content(string(data) + old[min(len(data), len(old)):])
		return nil
	})
}

// KeepOpen opens a device. csisim keeps the descriptor itself. A real kubelet keeps a loop device
// open instead. But loop devices are scarce, and drivers need them.
func (d *Disk) KeepOpen(p string) error {
	if d.kept[p] != nil {
		return nil
	}
	return d.look(func() error {
		f, err := openDevice(d.within(p), os.O_RDONLY)
		if err != nil {
			return err
		}
		if d.kept == nil {
			d.kept = map[string]*os.File{}
		}
		d.kept[p] = f
		return nil
	})
}

// LetGo closes the device that KeepOpen has opened.
func (d *Disk) LetGo(p string) error {
	f := d.kept[p]
	if f == nil {
		return nil
	}
	delete(d.kept, p)
	return f.Close()
}

// letAllGo closes all devices that KeepOpen has opened.
func (d *Disk) letAllGo() error {
	var failed []error
	for p := range d.kept { // any order: each is closed
		failed = append(failed, d.LetGo(p))
	}
	return errors.Join(failed...)
}

// IsHeld tries to open a block device exclusively.
func (d *Disk) IsHeld(p string) (held bool, err error) {
	err = d.look(func() error {
		info, err := os.Stat(d.within(p))
		if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode()&(fs.ModeDevice|fs.ModeCharDevice) != fs.ModeDevice {
			return nil
		}
		if err != nil {
			return err
		}
		f, err := os.OpenFile(d.within(p), os.O_RDONLY|syscall.O_EXCL, 0)
		switch {
		case err == nil:
			return f.Close()
		case errors.Is(err, syscall.EBUSY):
			held = true
			return nil
		}
		return err
	})
	return held, err
}

// KeepOpen marks a file as open: a mount there is busy.
func (m *Memory) KeepOpen(p string) error {
	return m.change(func() error {
		at, err := m.follow(p)
		if err != nil {
			return pathError("open", p, err)
		}
		if m.kept == nil {
			m.kept = map[string]location{}
		}
		if _, ok := m.kept[p]; !ok {
			m.kept[p] = at
		}
		return nil
	})
}

// LetGo removes the mark of KeepOpen.
func (m *Memory) LetGo(p string) error {
	return m.change(func() error { delete(m.kept, p); return nil })
}

// isBusy reports whether a file of a mount is kept open.
func (m *Memory) isBusy(of *mount) bool {
	for _, at := range m.kept { // any order: one is enough
		if at.mount == of {
			return true
		}
	}
	return false
}

// IsHeld reports whether the file at path, which replaces a device, is held.
func (m *Memory) IsHeld(p string) (held bool, err error) {
	err = m.change(func() error {
		if at, err := m.follow(p); err == nil {
			held = m.held[at.node]
		}
		return nil
	})
	return held, err
}

// Hold exclusively opens the file at path, which replaces a device.
func (m *Memory) Hold(p string) (release func(), err error) {
	err = m.change(func() error {
		at, err := m.follow(p)
		if err != nil {
			return pathError("open", p, err)
		}
		if m.held == nil {
			m.held = map[*inode]bool{}
		}
		m.held[at.node] = true
		release = func() { _ = m.change(func() error { delete(m.held, at.node); return nil }) }
		return nil
	})
	return release, err
}
