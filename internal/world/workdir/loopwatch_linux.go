package workdir

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Loops says which loop devices of the machine show files of one run. It looks
// at each device once, until that shows another file.
type Loops struct {
	dir   string
	known map[shown]known
	// memory are the run's file systems in memory.
	memory map[uint64]bool
}

type shown struct {
	device string
	file   file
}

// known is what was found out about a loop device.
type known struct {
	name    string // of the file below dir, empty for one of somebody else
	backing string // its path as the kernel has it
	// pin holds the run's file: as long as somebody does, its number is not given to
	// another one, also not when it is removed.
	pin *os.File
}

// NewLoops looks for loop devices that show files below dir.
func NewLoops(dir string) *Loops {
	return &Loops{dir: dir, known: map[shown]known{}, memory: map[uint64]bool{}}
}

// AddMemory adds the files of file systems in memory that the run has made and nobody
// else sees, by their device numbers.
func (l *Loops) AddMemory(devices ...uint64) error {
	var lines []string
	for _, device := range devices {
		l.memory[device] = true
		lines = append(lines, fmt.Sprintf(memoryTrace, device))
	}
	return leaveTrace(l.dir, lines...)
}

// RemoveMemory frees the loop devices that show files of file systems in memory which are about
// to go: their numbers are given to others then.
func (l *Loops) RemoveMemory(devices ...uint64) error {
	if len(devices) == 0 {
		return nil
	}
	if _, err := l.InUse(); err != nil { // some were attached since the last look
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

// InUse lists the run's loop devices, in the order of their names. One that goes
// by itself with its last user is left out.
func (l *Loops) InUse() ([]Loop, error) {
	found, err := attachedLoops()
	if err != nil {
		return nil, err
	}
	var loops []Loop
	for _, name := range found {
		device := "/dev/" + name
		f, ok := shownBy(device)
		if !ok {
			continue
		}
		name, err := l.name(shown{device, f})
		if err != nil {
			return loops, err
		}
		if name != "" {
			loops = append(loops, Loop{Device: device, File: name})
		}
	}
	return loops, nil
}

// shownBy is the file that a loop device shows; false if it shows none, is none
// of this user's, or goes by itself.
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

// name is that of the file, which is remembered, also for Clean: the file may be
// removed while it is shown.
func (l *Loops) name(s shown) (string, error) {
	backing := backingOf(s.device)
	k, ok := l.known[s]
	if ok && (k.name != "" || k.backing == backing) {
		return k.name, nil
	}
	k = known{backing: backing}
	if l.memory[s.file.device] {
		k.name = strings.TrimSuffix(backing, deleted)
	} else if k.name = findFile(l.dir, s.file); k.name != "" {
		k.pin, _ = os.OpenFile(filepath.Join(l.dir, k.name), unix.O_PATH, 0) // nil if it has gone meanwhile
	}
	l.known[s] = k
	if k.name == "" {
		return "", nil
	}
	return k.name, leaveTrace(l.dir, fmt.Sprintf(loopTrace, s.device, s.file.device, s.file.inode))
}

// findFile is the path, relative to dir, of a file below it; empty if it is elsewhere.
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

// Detach frees the run's loop devices, also those whose file has been removed since.
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
			_ = k.pin.Close() // it was never read
		}
		delete(l.known, s)
	}
	return nil
}
