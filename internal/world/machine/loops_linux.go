package machine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"slices"
	"sync"

	"golang.org/x/sys/unix"
)

// loopDevices are those to which programs of a machine attached files. The kernel of the machine
// forgets them when the machine loses power.
type loopDevices struct {
	mu    sync.Mutex
	files map[string]backingFile // by the name of the device: "loop3"
}

// backingFile is the file of a loop device.
type backingFile struct{ device, inode uint64 }

// note records the loop device that a call is about to attach. It does nothing for nil.
func (l *loopDevices) note(n *notification) {
	if l == nil || n.number != unix.SYS_IOCTL {
		return
	}
	fd := uint32(n.args[2])
	switch n.args[1] {
	case unix.LOOP_SET_FD:
	case unix.LOOP_CONFIGURE: // the descriptor is the first field of struct loop_config
		var start [4]byte
		if read, err := memoryOf(int(n.pid), uintptr(n.args[2]), start[:]); err != nil || read < len(start) {
			return
		}
		fd = binary.NativeEndian.Uint32(start[:])
	default:
		return
	}
	var stat unix.Stat_t
	if unix.Stat(fmt.Sprintf("/proc/%d/fd/%d", n.pid, fd), &stat) != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.files == nil {
		l.files = map[string]backingFile{}
	}
	l.files[path.Base(n.pathOf(fileOpened(0)))] = backingFile{uint64(stat.Dev), stat.Ino}
}

// lose detaches the devices that still have the files of the machine's programs.
func (l *loopDevices) lose() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var failed []error
	for _, name := range slices.Sorted(maps.Keys(l.files)) {
		failed = append(failed, detach("/dev/"+name, l.files[name]))
	}
	clear(l.files)
	return errors.Join(failed...)
}

// detach detaches a loop device if it has a certain file.
func detach(device string, file backingFile) error {
	f, err := os.Open(device)
	if err != nil {
		return nil // another process is detaching it, or has removed it
	}
	defer f.Close()
	info, err := unix.IoctlLoopGetStatus64(int(f.Fd()))
	if err != nil || (backingFile{info.Device, info.Inode}) != file {
		return nil // detached meanwhile
	}
	err = unix.IoctlSetInt(int(f.Fd()), unix.LOOP_CLR_FD, 0)
	if err != nil && !errors.Is(err, unix.ENXIO) {
		return fmt.Errorf("detach loop device %s: %w", device, err)
	}
	return nil
}
