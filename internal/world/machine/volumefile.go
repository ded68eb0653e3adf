package machine

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"golang.org/x/sys/unix"

	"github.com/csisim/csisim/internal/world/filetype"
)

// VolumeFiles is a machine that reads and writes a file in the root of a volume with untrusted
// content. It neither follows a symlink nor waits for a FIFO. Anything but a regular file returns a
// *NotRegularError.
type VolumeFiles interface {
	ReadVolumeFile(dir, name string) ([]byte, error)
	// WriteVolumeFile makes a file or replaces its content, durably.
	WriteVolumeFile(dir, name string, data []byte, perm fs.FileMode) error
}

var (
	_ VolumeFiles = (*Disk)(nil)
	_ VolumeFiles = (*Memory)(nil)
)

// NotRegularError is returned for a file that is not regular.
type NotRegularError struct {
	Path string
	Mode fs.FileMode
}

func (e *NotRegularError) Error() string {
	return fmt.Sprintf("%s is %s, not a regular file", e.Path, filetype.Of(e.Mode))
}

// ReadVolumeFile returns the content of a file.
func (d *Disk) ReadVolumeFile(dir, name string) (data []byte, err error) {
	err = d.look(func() error {
		f, err := openIn(d.within(dir), name, unix.O_RDONLY, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		data, err = io.ReadAll(f)
		return err
	})
	return data, err
}

// WriteVolumeFile makes a file or replaces its content.
func (d *Disk) WriteVolumeFile(dir, name string, data []byte, perm fs.FileMode) error {
	return d.look(func() error {
		f, err := openIn(d.within(dir), name, unix.O_WRONLY|unix.O_CREAT|unix.O_SYNC, perm)
		if err != nil {
			return err
		}
		if err = f.Truncate(0); err == nil {
			_, err = f.Write(data)
		}
		return errors.Join(err, f.Close())
	})
}

// openIn opens a regular file of a directory. It checks the type before it opens the file, because
// opening a device may have an effect, and again afterwards.
func openIn(dir, name string, flags int, perm fs.FileMode) (*os.File, error) {
	file := path.Join(dir, name)
	if info, err := os.Lstat(file); err == nil && !info.Mode().IsRegular() {
		return nil, &NotRegularError{Path: file, Mode: info.Mode()}
	}
	at, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: dir, Err: err}
	}
	defer unix.Close(at)
	fd, err := unix.Openat(at, name, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, uint32(perm.Perm()))
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: file, Err: err}
	}
	return regular(os.NewFile(uintptr(fd), file))
}

// regular closes a file that is not regular, and returns an error.
func regular(f *os.File) (*os.File, error) {
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &NotRegularError{Path: f.Name(), Mode: info.Mode()}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// ReadVolumeFile returns the content of a file.
func (m *Memory) ReadVolumeFile(dir, name string) ([]byte, error) {
	if err := m.mustBeRegular(dir, name); err != nil {
		return nil, err
	}
	return m.ReadFile(path.Join(dir, name))
}

// WriteVolumeFile makes a file or replaces its content.
func (m *Memory) WriteVolumeFile(dir, name string, data []byte, perm fs.FileMode) error {
	if err := m.mustBeRegular(dir, name); err != nil {
		return err
	}
	return m.WriteFile(path.Join(dir, name), data, perm)
}

func (m *Memory) mustBeRegular(dir, name string) error {
	info, err := m.Lstat(path.Join(dir, name))
	if err == nil && !info.Mode().IsRegular() {
		return &NotRegularError{Path: path.Join(dir, name), Mode: info.Mode()}
	}
	return nil
}
