//go:build linux

// Package loop attaches image files to loop block devices.
//
// The kernel keeps all state. A device carries a label that identifies the process that attached
// it, so a restarted process finds its devices again. Labels matter because loop devices belong to
// the machine, not to a mount namespace.
package loop

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// maxLabel is the capacity of the kernel's field without its final zero byte.
const maxLabel = unix.LO_NAME_SIZE - 1

// Device is a loop device in use.
type Device struct {
	Path  string
	inode uint64
	dev   uint64
}

// SetReadOnly makes the device read-only, or writable again.
func (d Device) SetReadOnly(on bool) error {
	f, err := os.Open(d.Path)
	if err != nil {
		return fmt.Errorf("open loop device: %w", explain(err))
	}
	defer f.Close()
	value := 0
	if on {
		value = 1
	}
	if err := unix.IoctlSetPointerInt(int(f.Fd()), unix.BLKROSET, value); err != nil {
		return fmt.Errorf("make %s read-only: %w", d.Path, explain(err))
	}
	return nil
}

// Find returns the devices that were attached under label.
func Find(label string) ([]Device, error) {
	inUse, err := filepath.Glob("/sys/block/loop*/loop/backing_file")
	if err != nil {
		return nil, err
	}
	var found []Device
	for _, file := range inUse {
		path := "/dev/" + strings.Split(file, "/")[3]
		d, err := inspect(path, label)
		if err != nil {
			return nil, err
		}
		if d != nil {
			found = append(found, *d)
		}
	}
	return found, nil
}

// inspect returns the device at path if it is attached under label.
func inspect(path, label string) (*Device, error) {
	f, err := os.Open(path)
	// A process without access to a device has not attached it.
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, os.ErrPermission) || errors.Is(err, unix.ENXIO) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open loop device: %w", explain(err))
	}
	defer f.Close()
	info, err := unix.IoctlLoopGetStatus64(int(f.Fd()))
	if errors.Is(err, unix.ENXIO) { // detached meanwhile
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("status of %s: %w", path, explain(err))
	}
	// A device with AUTOCLEAR is detached already and waits for its last user.
	if unix.ByteSliceToString(info.File_name[:]) != label || info.Flags&unix.LO_FLAGS_AUTOCLEAR != 0 {
		return nil, nil
	}
	return &Device{Path: path, inode: info.Inode, dev: info.Device}, nil
}

// Attach returns the device with the image and label, and attaches one if it is missing. A device
// with that label and another image is stale and detached.
func Attach(image, label string, readOnly bool) (Device, error) {
	if len(label) > maxLabel {
		return Device{}, fmt.Errorf("loop device label %q is longer than %d bytes", label, maxLabel)
	}
	var stat unix.Stat_t
	if err := unix.Stat(image, &stat); err != nil {
		return Device{}, fmt.Errorf("stat %s: %w", image, err)
	}
	devices, err := Find(label)
	if err != nil {
		return Device{}, err
	}
	for _, d := range devices {
		if d.inode == stat.Ino && d.dev == stat.Dev {
			return d, nil
		}
		if err := d.Detach(); err != nil {
			return Device{}, err
		}
	}
	path, err := configure(image, label, readOnly)
	if err != nil {
		return Device{}, fmt.Errorf("attach loop device to %s: %w", image, explain(err))
	}
	return Device{Path: path, inode: stat.Ino, dev: stat.Dev}, nil
}

func configure(image, label string, readOnly bool) (string, error) {
	access, flags := os.O_RDWR, uint32(0)
	if readOnly {
		access, flags = os.O_RDONLY, unix.LO_FLAGS_READ_ONLY
	}
	file, err := os.OpenFile(image, access, 0)
	if err != nil {
		return "", err
	}
	defer file.Close()
	config := unix.LoopConfig{Fd: uint32(file.Fd()), Info: unix.LoopInfo64{Flags: flags}}
	copy(config.Info.File_name[:], label)
	for {
		path, err := free()
		if err != nil {
			return "", err
		}
		err = configureDevice(path, access, &config)
		if errors.Is(err, unix.EBUSY) { // another process was faster
			continue
		}
		return path, err
	}
}

func configureDevice(path string, access int, config *unix.LoopConfig) error {
	device, err := os.OpenFile(path, access, 0)
	if err != nil {
		return err
	}
	defer device.Close()
	return unix.IoctlLoopConfigure(int(device.Fd()), config)
}

// Detach frees the device. The kernel delays this while a process has the device open.
func (d Device) Detach() error {
	return d.control("detach", unix.LOOP_CLR_FD)
}

// Refresh enlarges the device to the size of its image.
func (d Device) Refresh() error {
	return d.control("resize", unix.LOOP_SET_CAPACITY)
}

func (d Device) control(what string, request uint) error {
	f, err := os.Open(d.Path)
	if err != nil {
		return fmt.Errorf("%s %s: %w", what, d.Path, explain(err))
	}
	defer f.Close()
	err = unix.IoctlSetInt(int(f.Fd()), request, 0)
	if err != nil && !errors.Is(err, unix.ENXIO) {
		return fmt.Errorf("%s %s: %w", what, d.Path, explain(err))
	}
	return nil
}

func explain(err error) error {
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		return fmt.Errorf("%w (hostdir needs CAP_SYS_ADMIN)", err)
	}
	return err
}
