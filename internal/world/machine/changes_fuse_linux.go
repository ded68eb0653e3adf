package machine

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// mountsFUSE reports whether a waiting call may be about to mount a FUSE file system.
func (n *notification) mountsFUSE() bool {
	switch n.number {
	case unix.SYS_MOUNT:
		return strings.HasPrefix(stringOf(int(n.pid), uintptr(n.args[2])), "fuse")
	case unix.SYS_MOVE_MOUNT: // it may be a mount by fsopen(2)
		return n.servesFUSE()
	}
	return false
}

// servesFUSE reports whether the process of a waiting call serves a FUSE file system.
func (n *notification) servesFUSE() bool {
	dir := fmt.Sprintf("/proc/%d/fd", n.pid)
	files, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, file := range files {
		if to, err := os.Readlink(filepath.Join(dir, file.Name())); err == nil && to == "/dev/fuse" {
			return true
		}
	}
	return false
}

// hasThread reports whether a thread belongs to the program itself.
func (p *Process) hasThread(thread uint32) bool {
	return unix.Access(fmt.Sprintf("/proc/%d/task/%d", p.pid, thread), unix.F_OK) == nil
}

// leftSession reports whether a thread has left the program's session, as daemons do. A daemon that
// stops serving a file system stays in its session.
func (p *Process) leftSession(thread uint32) bool {
	own, err := unix.Getsid(p.pid)
	if err != nil {
		return false
	}
	other, err := unix.Getsid(int(thread))
	return err == nil && other != own
}
