package machine

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// usesOfFiles are calls about a file that are in neither lookups nor changesOfFiles.
var usesOfFiles = append([]change{
	{number: unix.SYS_STATFS, name: "statfs", of: fileNamed(0)},
	{number: unix.SYS_FCHMODAT, name: chmod, of: fileAt(0, 1)},
	{number: unix.SYS_FCHOWNAT, name: chown, of: fileAt(0, 1)},
}, oldUses...)

const (
	chmod = "chmod"
	chown = "chown"
)

// failsBroken fails a waiting call if it uses a broken file system, and reports whether it did.
func (c *changes) failsBroken(n *notification) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watch == nil || len(c.watch.interference.Broken.Paths) == 0 {
		return false
	}
	broken := c.watch.interference.Broken
	call, uses := broken.use(n)
	if !uses {
		return false
	}
	c.watch.fail(call)
	c.answer(response{id: n.id, error: -int32(broken.Fails)})
	return true
}

// fail records a call that fails, once for each file.
func (w *CallWatch) fail(call SystemCall) {
	w.failed++
	call.Failed = true
	if !slices.Contains(w.seen, call) {
		w.seen = append(w.seen, call)
	}
}

// use returns the call by which a program is about to use a broken file system.
func (b BrokenMounts) use(n *notification) (call SystemCall, uses bool) {
	c, found := n.callOnFiles()
	if !found || b.Fails == syscall.EROFS && !n.writes(c.name) {
		return SystemCall{}, false
	}
	call = SystemCall{Name: inPlainTerms(c.name), Path: n.pathOf(c.of), From: n.pathOf(c.from)}
	return call, b.holds(n, c.name, call.Path) || b.holds(n, c.name, call.From)
}

// callsOnFiles are all observed calls of a program with SeesLookups.
var callsOnFiles = slices.Concat(changesOfFiles, usesOfFiles, lookups)

// callOnFiles returns the table's entry for a waiting call.
func (n *notification) callOnFiles() (change, bool) {
	i := slices.IndexFunc(callsOnFiles, func(c change) bool { return c.number == uint32(n.number) })
	if i < 0 {
		return change{}, false
	}
	c := callsOnFiles[i]
	return c, c.name != "umount2" && c.name != "ioctl" && c.name != syncAll
}

// inPlainTerms returns the name under which a call is reported: stat for all calls that look up a
// file.
func inPlainTerms(name string) string {
	switch name {
	case lookOpened:
		return open
	case lookedUp:
		return "stat"
	case listed:
		return "getdents"
	}
	return name
}

// writes reports whether a call would change a file.
func (n *notification) writes(name string) bool {
	switch name {
	case open:
		_, _, flags, _, _ := n.openCall()
		return flags&(makes|writes) != 0
	case lookOpened, lookedUp, listed, "statfs", "mount":
		return false
	}
	return true
}

// holds reports whether a file is on one of the broken file systems.
func (b BrokenMounts) holds(n *notification, call, name string) bool {
	return name != "" && slices.ContainsFunc(b.Paths, func(at string) bool {
		return reaches(call, at, path.Clean(name)) && n.isMounted(at)
	})
}

// reaches reports whether a call with a file goes through the file system mounted at a path. Calls
// that change a directory go through the directory's file system.
func reaches(call, at, name string) bool {
	switch call {
	case "mkdir", "mknod", "symlink", "link", "rename", "unlink", "rmdir", removed:
		name = path.Dir(name)
	}
	return name == at || strings.HasPrefix(name, at+"/")
}

// isMounted reports whether a file system is mounted at a path of the program.
func (n *notification) isMounted(at string) bool {
	root, err := unix.Open(fmt.Sprintf("/proc/%d/root", n.pid), unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	p := place{dir: root, path: at, root: true}
	defer p.close()
	there := p.look()
	return there != nil && there.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0
}
