package mockprogram

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"golang.org/x/sys/unix"
)

// devices are the block devices of volumes on this node. They are loop devices, which the kernel
// detaches when they are closed. The plugin keeps them open as long as it runs.
type devices struct {
	mu   sync.Mutex
	open map[string]*os.File // by the volume's file
}

// deviceBytes is the size of a device. Its file is sparse.
const deviceBytes = 64 << 20

// of returns the path of the device with the content of a file.
func (d *devices) of(file string) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if device := d.open[file]; device != nil {
		return device.Name(), nil
	}
	device, err := attach(file)
	if err != nil {
		return "", fmt.Errorf("make a block device of %s: %w", file, err)
	}
	if d.open == nil {
		d.open = map[string]*os.File{}
	}
	d.open[file] = device
	return device.Name(), nil
}

// attach attaches a free loop device to a file, which it creates.
func attach(name string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	if err := file.Truncate(deviceBytes); err != nil {
		return nil, err
	}
	control, err := os.OpenFile("/dev/loop-control", os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer control.Close()
	for {
		number, err := unix.IoctlRetInt(int(control.Fd()), unix.LOOP_CTL_GET_FREE)
		if err != nil {
			return nil, fmt.Errorf("find a free loop device: %w", err)
		}
		device, err := openLoop(number)
		if err != nil {
			return nil, err
		}
		err = unix.IoctlLoopConfigure(int(device.Fd()), &unix.LoopConfig{Fd: uint32(file.Fd()), Info: unix.LoopInfo64{Flags: unix.LO_FLAGS_AUTOCLEAR}})
		if err == nil {
			return device, nil
		}
		_ = device.Close()
		if !errors.Is(err, unix.EBUSY) { // another process was faster
			return nil, err
		}
	}
}

// loopMajor is the number of the kernel's driver of loop devices.
const loopMajor = 7

// openLoop opens a loop device. It makes the device file, which a container may lack.
func openLoop(number int) (*os.File, error) {
	name := fmt.Sprintf("/dev/loop%d", number)
	err := unix.Mknod(name, unix.S_IFBLK|0o660, int(unix.Mkdev(loopMajor, uint32(number))))
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, err
	}
	return os.OpenFile(name, os.O_RDWR, 0)
}
