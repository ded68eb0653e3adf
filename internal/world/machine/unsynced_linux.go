package machine

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// unsynced are files of a machine's own disk that programs have made or emptied, and not synced since. A disk has such a
// file by its name while its content is in the page cache alone: it is empty when the machine has lost power. Writes to a file that
// keeps its content, and those after its sync, are not seen.
type unsynced struct {
	own func(device uint64, fd int) bool // whether a file is on the machine's own disk

	mu    sync.Mutex
	begun []begunFile
	files []heldFile
}

// begunFile is one whose opening may be under way.
type begunFile struct {
	*openedFile
	looks int // how often it was not there
}

// heldFile is one that is there, whatever its name has become. It is not open: nothing is read or written.
type heldFile struct {
	fd    int
	inode uint64
	on    uint64 // its file system
}

func (f heldFile) is(stat *unix.Stat_t) bool { return f.inode == stat.Ino && f.on == stat.Dev }

// most bounds how many files are held: of more, the oldest count as synced.
const most = 256

// note takes notice of a call that is about to be made. A nil list notes nothing.
func (u *unsynced) note(n *notification) {
	if u == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.settle()
	switch n.number {
	case unix.SYS_FSYNC, unix.SYS_FDATASYNC:
		u.sync(fmt.Sprintf("/proc/%d/fd/%d", n.pid, int32(n.args[0])))
	case unix.SYS_SYNC, unix.SYS_SYNCFS:
		u.forget()
	default:
		switch file := fileOf(n); {
		case file == nil:
		case file.begins():
			u.begun = append(u.begun, begunFile{openedFile: file})
		default:
			file.close()
		}
	}
}

// begins reports whether the file is made or emptied, and not each write to it synced at once.
func (f *openedFile) begins() bool {
	if f.flags&unix.O_DSYNC != 0 {
		return false
	}
	there := f.look()
	if there == nil {
		return f.flags&unix.O_CREAT != 0
	}
	return there.Mode&unix.S_IFMT == unix.S_IFREG && f.flags&unix.O_TRUNC != 0 && f.flags&unix.O_EXCL == 0
}

// settle finds the files that have been begun. An opening that has failed leaves none.
func (u *unsynced) settle() {
	const patience = 8 // other threads make calls, too
	u.begun = slices.DeleteFunc(u.begun, func(b begunFile) bool {
		fd, err := b.open(unix.O_PATH, 0)
		if b.looks++; err != nil && b.looks < patience {
			return false
		}
		b.close()
		if err == nil {
			u.hold(fd)
		}
		return true
	})
}

// hold keeps a file in mind, if it is one of the machine's disk, and drops those that are removed meanwhile.
func (u *unsynced) hold(fd int) {
	u.drop(func(f heldFile) bool {
		var stat unix.Stat_t
		return unix.Fstat(f.fd, &stat) != nil || stat.Nlink == 0
	})
	var stat unix.Stat_t
	known := func(f heldFile) bool { return f.is(&stat) }
	if unix.Fstat(fd, &stat) != nil || stat.Mode&unix.S_IFMT != unix.S_IFREG || slices.ContainsFunc(u.files, known) || !u.own(stat.Dev, fd) {
		_ = unix.Close(fd)
		return
	}
	if len(u.files) == most {
		_ = unix.Close(u.files[0].fd)
		u.files = u.files[1:]
	}
	u.files = append(u.files, heldFile{fd: fd, inode: stat.Ino, on: stat.Dev})
}

// sync drops the file of a name: it is on the disk.
func (u *unsynced) sync(name string) {
	var stat unix.Stat_t
	if unix.Stat(name, &stat) == nil {
		u.drop(func(f heldFile) bool { return f.is(&stat) })
	}
}

func (u *unsynced) drop(is func(heldFile) bool) {
	u.files = slices.DeleteFunc(u.files, func(f heldFile) bool {
		drop := is(f)
		if drop {
			_ = unix.Close(f.fd)
		}
		return drop
	})
}

// lose empties the files, whose programs have ended, and returns how many had content.
func (u *unsynced) lose() (lost int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.settle()
	for _, f := range u.files {
		var stat unix.Stat_t
		if unix.Fstat(f.fd, &stat) != nil || stat.Nlink == 0 || stat.Size == 0 {
			continue
		}
		if os.Truncate(fmt.Sprintf("/proc/self/fd/%d", f.fd), 0) == nil { // else it could not be written either
			lost++
		}
	}
	u.forget()
	return lost
}

// forget lets go of all files.
func (u *unsynced) forget() {
	for _, b := range u.begun {
		b.close()
	}
	u.begun = nil
	u.drop(func(heldFile) bool { return true })
}

// newUnsynced are the unsynced files of a machine.
func (d *Disk) newUnsynced() *unsynced {
	return &unsynced{own: func(device uint64, fd int) bool {
		if d.own != nil && slices.Contains(d.own.memory, device) {
			return true
		}
		name, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
		d.mu.Lock()
		defer d.mu.Unlock()
		return err == nil && slices.ContainsFunc(d.ownDirs, func(dir string) bool { return strings.HasPrefix(name, dir+"/") })
	}}
}
