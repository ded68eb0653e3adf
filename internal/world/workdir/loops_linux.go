package workdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// file identifies a file independently of its path.
type file struct{ device, inode uint64 }

// loopDevices has a directory for each loop device. The directory has a subdirectory loop while the
// device is attached.
const loopDevices = "/sys/devices/virtual/block"

// attachedLoops returns the names of the attached loop devices, such as loop3.
func attachedLoops() ([]string, error) {
	devices, err := os.Open(loopDevices)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for loop devices: %w", err)
	}
	defer devices.Close()
	names, err := devices.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("look for loop devices: %w", err)
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		var stat unix.Stat_t
		return !strings.HasPrefix(name, "loop") || unix.Fstatat(int(devices.Fd()), name+"/loop", &stat, 0) != nil
	})
	slices.Sort(names)
	return names, nil
}

// backingFile returns the file in which the kernel shows the path of a loop device's image.
func backingFile(name string) string { return filepath.Join(loopDevices, name, "loop/backing_file") }

// backingOf returns the kernel's path of a loop device's file, for people and programs; empty if it
// is not attached.
func backingOf(device string) string {
	known, _ := os.ReadFile(backingFile(filepath.Base(device)))
	return strings.TrimSpace(string(known))
}

// detachLoops detaches the loop devices with a file of dir's run.
func detachLoops(dir string) ([]string, error) {
	found, err := attachedLoops()
	if err != nil || len(found) == 0 {
		return nil, err
	}
	traces, err := tracesOf(dir)
	if err != nil {
		return nil, err
	}
	var detached []string
	for _, name := range found {
		device := "/dev/" + name
		freed, err := detachLoop(device, func(f file, backing string) bool {
			return traces.leadTo(shown{device, f}, backing)
		})
		if err != nil {
			return detached, err
		}
		if freed {
			detached = append(detached, device)
		}
	}
	return detached, nil
}

// detachOrphans detaches the loop devices of former runs in a directory, if their files are
// deleted. The kernel detaches a busy device later, but keeps it if its image was deleted
// meanwhile.
func detachOrphans(parent string) (left []Leftover, err error) {
	found, err := attachedLoops()
	if err != nil {
		return nil, err
	}
	for _, name := range found {
		device, dir := "/dev/"+name, ""
		freed, err := detachLoop(device, func(_ file, backing string) bool {
			dir = goneRun(backing, parent)
			return dir != ""
		})
		if err != nil {
			return left, err
		}
		if freed {
			left = append(left, Leftover{Dir: dir, Detached: []string{device}, Before: true})
		}
	}
	return left, nil
}

// goneRun returns the directory of the run in parent to which a deleted file belonged. It is empty
// for other files, or if the directory exists.
func goneRun(backing, parent string) string {
	rest, below := strings.CutPrefix(backing, parent+"/")
	run, _, within := strings.Cut(rest, "/")
	dir := filepath.Join(parent, run)
	if !below || !within || !strings.HasSuffix(backing, deleted) || !runName().MatchString(run) {
		return ""
	}
	if _, err := os.Lstat(dir); !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	return dir
}

// filesBelow returns the regular files below dir, and ignores files that vanish meanwhile.
func filesBelow(dir string) map[file]bool {
	files := map[file]bool{}
	_ = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return nil
		}
		if info, err := entry.Info(); err == nil {
			if stat, ok := info.Sys().(*syscall.Stat_t); ok {
				files[file{stat.Dev, stat.Ino}] = true
			}
		}
		return nil
	})
	return files
}

// DetachLoop detaches a loop device if it still has the file with this file system and inode.
func DetachLoop(device string, fileSystem, inode uint64) error {
	_, err := detachLoop(device, func(f file, _ string) bool { return f == file{fileSystem, inode} })
	return err
}

// detachLoop detaches a loop device if its file belongs to the run.
func detachLoop(device string, isOurs func(f file, backing string) bool) (freed bool, err error) {
	f, err := os.Open(device)
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, fs.ErrNotExist) {
		return false, nil // of another user
	}
	if errors.Is(err, unix.ENXIO) || errors.Is(err, unix.ENODEV) {
		return false, nil // another process is detaching it
	}
	if err != nil {
		return false, fmt.Errorf("detach loop device: %w", err)
	}
	defer f.Close()
	info, err := unix.IoctlLoopGetStatus64(int(f.Fd()))
	if errors.Is(err, unix.ENXIO) {
		return false, nil // detached meanwhile
	}
	if err != nil {
		return false, fmt.Errorf("look at loop device %s: %w", device, err)
	}
	if !isOurs(file{info.Device, info.Inode}, backingOf(device)) {
		return false, nil
	}
	err = unix.IoctlSetInt(int(f.Fd()), unix.LOOP_CLR_FD, 0)
	if err != nil && !errors.Is(err, unix.ENXIO) {
		return false, fmt.Errorf("detach loop device %s: %w", device, err)
	}
	return true, nil
}
