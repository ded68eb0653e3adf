package machine

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
)

// Devices is a machine whose block devices can be read and written in part. A
// regular file stands for a device where there are none.
type Devices interface {
	// ReadStart returns the first n bytes of a device, fewer if it is smaller.
	ReadStart(path string, n int) ([]byte, error)
	// WriteStart replaces the first bytes of a device, durably.
	WriteStart(path string, data []byte) error
}

var (
	_ Devices = (*Disk)(nil)
	_ Devices = (*Memory)(nil)
)

// ReadStart returns the first bytes of a device.
func (d *Disk) ReadStart(p string, n int) (data []byte, err error) {
	err = d.look(func() error {
		f, err := os.Open(d.within(p))
		if err != nil {
			return err
		}
		defer f.Close()
		data = make([]byte, n)
		n, err := io.ReadFull(f, data)
		data = data[:n]
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil
		}
		return err
	})
	return data, err
}

// WriteStart replaces the first bytes of a device.
func (d *Disk) WriteStart(p string, data []byte) error {
	return d.look(func() error {
		f, err := os.OpenFile(d.within(p), os.O_WRONLY|os.O_SYNC, 0)
		if err != nil {
			return err
		}
		_, err = f.WriteAt(data, 0)
		return errors.Join(err, f.Close())
	})
}

// ReadStart returns the first bytes of a file.
func (m *Memory) ReadStart(p string, n int) ([]byte, error) {
	data, err := m.ReadFile(p)
	return data[:min(n, len(data))], err
}

// WriteStart replaces the first bytes of a file, which is there.
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
		at.node.data = append(slices.Clone(data), at.node.data[min(len(data), len(at.node.data)):]...)
		return nil
	})
}
