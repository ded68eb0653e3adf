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

	"github.com/csisim/csisim/internal/world/workdir"
)

// loopDevices are the loop devices to which programs of a machine attached files. The kernel of the
// machine forgets them when the machine loses power.
type loopDevices struct {
	mu    sync.Mutex
	files map[string]backingFile // by the name of the device: "loop3"
	seen  func(device string, fileSystem, inode uint64)
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
	name := loopOf(fmt.Sprintf("/proc/%d/fd/%d", n.pid, int32(n.args[0])))
	if name == "" {
		return
	}
	l.files[name] = backingFile{uint64(stat.Dev), stat.Ino}
	if l.seen != nil {
		l.seen("/dev/"+name, uint64(stat.Dev), stat.Ino)
	}
}

// loopOf returns the kernel's name of a loop device, whatever path its device node has; empty for
// other files.
func loopOf(node string) string {
	const loopMajor = 7
	var stat unix.Stat_t
	if unix.Stat(node, &stat) != nil || stat.Mode&unix.S_IFMT != unix.S_IFBLK || unix.Major(uint64(stat.Rdev)) != loopMajor {
		return ""
	}
	device, _ := os.Readlink(fmt.Sprintf("/sys/dev/block/%d:%d", loopMajor, unix.Minor(uint64(stat.Rdev))))
	if device == "" {
		return ""
	}
	return path.Base(device)
}

// SeeLoops sets a callback. It is called, on any thread, when a Followed program is about to attach
// a file to a loop device.
func (d *Disk) SeeLoops(seen func(device string, fileSystem, inode uint64)) { d.loops.seen = seen }

// lose detaches the devices that still have files of the machine's programs.
func (l *loopDevices) lose() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var failed []error
	for _, name := range slices.Sorted(maps.Keys(l.files)) {
		file := l.files[name]
		failed = append(failed, workdir.DetachLoop("/dev/"+name, file.device, file.inode))
	}
	clear(l.files)
	return errors.Join(failed...)
}
