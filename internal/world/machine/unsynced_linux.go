package machine

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// unsynced holds the files on a machine's own disk that programs have written and not synced yet.
// Until then, the disk has such a file's name, but only the page cache has the written content, and
// a power-off loses it. The kernel writes the content to the disk after a while. Later writes to an
// open file are not observed. They count as made when the file was opened or last synced. Content
// that is overwritten in place counts as written to the disk immediately.
type unsynced struct {
	own func(device uint64, fd int) bool // reports whether a file is on the machine's own disk
	now atomic.Int64                     // the cluster's time, a time.Duration

	mu    sync.Mutex
	begun []begunFile
	files []heldFile
}

// begunFile is a missing file that a call may be creating.
type begunFile struct {
	*openedFile
	since time.Duration
	looks int // how often the file was not found
}

// heldFile is an existing file with any current name. It is not open for reading or writing.
type heldFile struct {
	fd     int
	inode  uint64
	on     uint64 // its file system
	synced int64  // how many of its bytes are on the disk
	since  time.Duration
}

func (f heldFile) is(stat *unix.Stat_t) bool { return f.inode == stat.Ino && f.on == stat.Dev }

// most limits the number of held files. Beyond this number, the oldest files count as written to
// the disk.
const most = 256

// writtenBack is the age at which the kernel has certainly written a file to the disk:
// vm.dirty_expire_centisecs, plus the interval of its checks, vm.dirty_writeback_centisecs.
const writtenBack = 30*time.Second + 5*time.Second

// moved sets the cluster's time.
func (u *unsynced) moved(now time.Duration) { u.now.Store(int64(now)) }

func (u *unsynced) time() time.Duration { return time.Duration(u.now.Load()) }

// note records the effect of a call before it is made. It does nothing for nil.
func (u *unsynced) note(n *notification) {
	if u == nil {
		return
	}
	if n.number == unix.SYS_UMOUNT2 {
		// A starting process has copies of csisim's open files until it executes its program. A
		// copy of a file on the mount would keep it busy.
		syscall.ForkLock.RLock()
		defer syscall.ForkLock.RUnlock()
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.settle()
	switch n.number {
	case unix.SYS_FSYNC, unix.SYS_FDATASYNC:
		u.sync(n)
	case unix.SYS_SYNC, unix.SYS_SYNCFS:
		u.syncAll()
	case unix.SYS_PWRITE64, unix.SYS_FALLOCATE, unix.SYS_COPY_FILE_RANGE:
		u.write(n)
	case unix.SYS_UMOUNT2:
		u.leave(n)
	case unix.SYS_TRUNCATE, unix.SYS_FTRUNCATE:
		if f := u.write(n); f != nil {
			f.synced = min(f.synced, int64(n.args[1]))
		}
	default:
		if file := fileOf(n); file != nil {
			u.open(file)
		}
	}
}

// open records a file that is about to be created, truncated or opened for writing, unless each
// write to it is synced immediately.
func (u *unsynced) open(file *openedFile) {
	const anew = unix.O_CREAT | unix.O_EXCL
	fd, err := file.open(unix.O_PATH, 0)
	switch {
	case file.flags&unix.O_DSYNC != 0:
		_ = unix.Close(fd)
	case err == nil && file.flags&anew != anew:
		if f := u.hold(fd, u.time()); f != nil && file.flags&unix.O_TRUNC != 0 {
			f.synced = 0
		}
	case err == nil: // it fails
		_ = unix.Close(fd)
	case file.flags&unix.O_CREAT != 0:
		u.begun = append(u.begun, begunFile{openedFile: file, since: u.time()})
		return
	}
	file.close()
}

// settle finds the files of begun calls. A failed call leaves no file.
func (u *unsynced) settle() {
	const patience = 8 // other threads also make calls
	u.begun = slices.DeleteFunc(u.begun, func(b begunFile) bool {
		fd, err := b.open(unix.O_PATH, 0)
		if b.looks++; err != nil && b.looks < patience {
			return false
		}
		b.close()
		if err == nil {
			if f := u.hold(fd, b.since); f != nil {
				f.synced = 0
			}
		}
		return true
	})
}

// write records a file that is written to, or truncated.
func (u *unsynced) write(n *notification) *heldFile {
	fd, err := n.holdSpot(n.change().of)
	if err != nil {
		return nil
	}
	return u.hold(fd, u.time())
}

// hold records a file that was written to at a time, if the file is on the machine's disk. It does
// nothing for nil.
func (u *unsynced) hold(fd int, since time.Duration) *heldFile {
	u.drop(u.isWrittenBack)
	var stat unix.Stat_t
	if unix.Fstat(fd, &stat) != nil || stat.Mode&unix.S_IFMT != unix.S_IFREG {
		_ = unix.Close(fd)
		return nil
	}
	if i := u.find(&stat); i >= 0 {
		_ = unix.Close(fd)
		return &u.files[i]
	}
	if !u.own(stat.Dev, fd) {
		_ = unix.Close(fd)
		return nil
	}
	u.makeRoom()
	u.files = append(u.files, heldFile{fd: fd, inode: stat.Ino, on: stat.Dev, synced: stat.Size, since: since})
	return &u.files[len(u.files)-1]
}

func (u *unsynced) find(stat *unix.Stat_t) int {
	return slices.IndexFunc(u.files, func(f heldFile) bool { return f.is(stat) })
}

func (u *unsynced) isWrittenBack(f heldFile) bool { return u.time()-f.since >= writtenBack }

// makeRoom drops files that were removed meanwhile or, if there are none, the oldest.
func (u *unsynced) makeRoom() {
	if len(u.files) < most {
		return
	}
	u.drop(func(f heldFile) bool {
		var stat unix.Stat_t
		return unix.Fstat(f.fd, &stat) != nil || stat.Nlink == 0
	})
	if len(u.files) == most {
		oldest := slices.MinFunc(u.files, func(a, b heldFile) int { return cmp.Compare(a.since, b.since) })
		u.drop(func(f heldFile) bool { return f == oldest })
	}
}

// sync records that a file's content is on the disk. Later writes are not.
func (u *unsynced) sync(n *notification) {
	var stat unix.Stat_t
	if unix.Stat(fmt.Sprintf("/proc/%d/fd/%d", n.pid, int32(n.args[0])), &stat) != nil {
		return
	}
	if i := u.find(&stat); i >= 0 {
		u.reachDisk(&u.files[i])
	}
}

// leave drops the files on a mount that is about to be unmounted, because they would keep it busy.
// They count as written to the disk.
func (u *unsynced) leave(n *notification) {
	root, err := n.holdSpot(n.change().of)
	if err != nil {
		return
	}
	defer func() { _ = unix.Close(root) }()
	mount, known := mountOf(root)
	if !known {
		return
	}
	isOn := func(fd int) bool {
		its, known := mountOf(fd)
		return known && its == mount
	}
	u.drop(func(f heldFile) bool { return isOn(f.fd) })
	u.begun = slices.DeleteFunc(u.begun, func(b begunFile) bool {
		on := isOn(b.dir)
		if on {
			b.close()
		}
		return on
	})
}

// mountOf returns the number of the mount through which a file was opened.
func mountOf(fd int) (number uint64, known bool) {
	var there unix.Statx_t
	err := unix.Statx(fd, "", unix.AT_EMPTY_PATH, unix.STATX_MNT_ID, &there)
	return there.Mnt_id, err == nil && there.Mask&unix.STATX_MNT_ID != 0
}

func (u *unsynced) reachDisk(f *heldFile) {
	var stat unix.Stat_t
	if unix.Fstat(f.fd, &stat) == nil {
		f.synced, f.since = stat.Size, u.time()
	}
}

func (u *unsynced) syncAll() {
	for i := range u.files {
		u.reachDisk(&u.files[i])
	}
}

// reachAll syncs the content of all files.
func (u *unsynced) reachAll() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.settle()
	u.syncAll()
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

// lose truncates files to their content on the disk, and returns how many have lost data. Their
// programs have ended.
func (u *unsynced) lose() (lost int) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.settle()
	for _, f := range u.files {
		var stat unix.Stat_t
		if u.isWrittenBack(f) || unix.Fstat(f.fd, &stat) != nil || stat.Nlink == 0 || stat.Size <= f.synced {
			continue
		}
		// If this fails, a write would fail, too.
		if os.Truncate(fmt.Sprintf("/proc/self/fd/%d", f.fd), f.synced) == nil {
			lost++
		}
	}
	u.forget()
	return lost
}

// forget drops all files.
func (u *unsynced) forget() {
	for _, b := range u.begun {
		b.close()
	}
	u.begun = nil
	u.drop(func(heldFile) bool { return true })
}

// newUnsynced returns the unsynced files of a machine.
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
