package workdir

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// Loops finds the loop devices of the machine with files of one run. It checks each device once,
// and again after it is attached to another file.
type Loops struct {
	dir   string
	known map[shown]known
	// memory are the run's file systems in memory.
	memory map[uint64]bool

	mu       sync.Mutex
	attached map[shown]bool // including files outside its directory, by the run's programs
}

type shown struct {
	device string
	file   file
}

// trace returns a line of the run's traces.
func (s shown) trace(form string) string {
	return fmt.Sprintf(form, s.device, s.file.device, s.file.inode)
}

// known is the result of checking a loop device.
type known struct {
	name    string // of the file below dir, empty for a file outside the run
	backing string // the kernel's path of the file
	// pin holds the run's file open, so that its inode number is not reused even if it is removed.
	pin *os.File
}

// NewLoops looks for loop devices with files below dir.
func NewLoops(dir string) *Loops {
	return &Loops{dir: dir, known: map[shown]known{}, memory: map[uint64]bool{}, attached: map[shown]bool{}}
}

// Attached records that a program of the run is about to attach a file, which may be anywhere on
// the host, to a loop device. Any thread may call it.
func (l *Loops) Attached(device string, fileSystem, inode uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := shown{device, file{fileSystem, inode}}
	if !l.attached[s] {
		l.attached[s] = true
		_ = leaveTrace(l.dir, s.trace(loopTrace)) // without it, only this process knows the device
		registerLoop(l.dir, s)
	}
}

func (l *Loops) hasAttached(s shown) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.attached[s]
}

// AddMemory adds private file systems in memory that the run has made, by their device numbers.
func (l *Loops) AddMemory(devices ...uint64) error {
	var lines []string
	for _, device := range devices {
		l.memory[device] = true
		lines = append(lines, fmt.Sprintf(memoryTrace, device))
	}
	return leaveTrace(l.dir, lines...)
}

// RemoveMemory detaches the loop devices with files on file systems in memory that are about to
// end, because the numbers of these file systems are reused afterwards.
func (l *Loops) RemoveMemory(devices ...uint64) error {
	if len(devices) == 0 {
		return nil
	}
	if _, err := l.InUse(); err != nil { // some were attached since the last check
		return err
	}
	if err := l.detach(func(f file) bool { return slices.Contains(devices, f.device) }); err != nil {
		return err
	}
	var lines []string
	for _, device := range devices {
		delete(l.memory, device)
		lines = append(lines, fmt.Sprintf(goneTrace, device))
	}
	return leaveTrace(l.dir, lines...)
}

// InUse lists the run's loop devices, sorted by name. It omits devices with autoclear, which are
// detached when they are closed.
func (l *Loops) InUse() ([]Loop, error) {
	found, err := attachedLoops()
	if err != nil {
		return nil, err
	}
	attached := map[shown]bool{}
	var loops []Loop
	for _, name := range found {
		device := "/dev/" + name
		f, ok := shownBy(device)
		if !ok {
			for s := range l.known { // any order: they are independent
				attached[s] = attached[s] || s.device == device
			}
			continue
		}
		attached[shown{device, f}] = true
		name, err := l.name(shown{device, f})
		if err != nil {
			return loops, err
		}
		if name != "" {
			loops = append(loops, Loop{Device: device, File: name})
		}
	}
	return loops, l.forgetBut(attached)
}

// forgetBut forgets detached devices. Their files need no pin, and another file may get the same
// number from now on.
func (l *Loops) forgetBut(attached map[shown]bool) error {
	var lines []string
	for s, k := range l.known { // any order: the lines are about different devices
		if attached[s] {
			continue
		}
		if k.name != "" {
			lines = append(lines, s.trace(freedTrace))
		}
		if k.pin != nil {
			_ = k.pin.Close() // it was only a pin
		}
		delete(l.known, s)
		l.mu.Lock()
		delete(l.attached, s)
		l.mu.Unlock()
	}
	if lines == nil {
		return nil
	}
	slices.Sort(lines)
	return leaveTrace(l.dir, lines...)
}

// shownBy returns the file of a loop device; false if it is not attached, belongs to another user,
// or has autoclear.
func shownBy(device string) (file, bool) {
	f, err := os.Open(device)
	if err != nil {
		return file{}, false
	}
	defer f.Close()
	info, err := unix.IoctlLoopGetStatus64(int(f.Fd()))
	if err != nil || info.Flags&unix.LO_FLAGS_AUTOCLEAR != 0 {
		return file{}, false
	}
	return file{info.Device, info.Inode}, true
}

// name returns the name of the file. It also records the name for Clean, because the file may be
// removed while it is attached.
func (l *Loops) name(s shown) (string, error) {
	backing := backingOf(s.device)
	k, ok := l.known[s]
	if ok && (k.name != "" || k.backing == backing && !l.hasAttached(s)) {
		return k.name, nil
	}
	k = known{backing: backing}
	if l.memory[s.file.device] {
		k.name = strings.TrimSuffix(backing, deleted)
	} else if k.name = findFile(l.dir, s.file); k.name == "" && l.hasAttached(s) {
		k.name = strings.TrimSuffix(backing, deleted)
	} else if k.name != "" {
		// Nil if it was removed meanwhile.
		k.pin, _ = os.OpenFile(filepath.Join(l.dir, k.name), unix.O_PATH, 0)
	}
	l.known[s] = k
	if k.name == "" {
		return "", nil
	}
	registerLoop(l.dir, s)
	return k.name, leaveTrace(l.dir, s.trace(loopTrace))
}

// findFile returns the path of a file below dir, relative to dir; empty if the file is elsewhere.
func findFile(dir string, wanted file) (found string) {
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return nil
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); ok && (file{stat.Dev, stat.Ino}) == wanted {
			found, _ = filepath.Rel(dir, path)
			return fs.SkipAll
		}
		return nil
	})
	return found
}

// Detach detaches the run's loop devices, including those with a file that was removed since.
func (l *Loops) Detach() error { return l.detach(func(file) bool { return true }) }

func (l *Loops) detach(wanted func(file) bool) error {
	for s, k := range l.known {
		if k.name == "" || !wanted(s.file) {
			continue
		}
		if _, err := detachLoop(s.device, func(f file, _ string) bool { return f == s.file }); err != nil {
			return err
		}
		if k.pin != nil {
			_ = k.pin.Close() // it was only a pin
		}
		delete(l.known, s)
	}
	return nil
}
