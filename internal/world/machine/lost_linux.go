package machine

import (
	"path"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// lostFiles are files of a finished container, and the lookups of them by the program that replaces
// it.
type lostFiles struct {
	files map[string]bool // by their paths; false for a directory

	mu   sync.Mutex
	seen []Lookup
}

// newLostFiles returns the lost files; the names of directories end with a slash. It returns nil if
// there are none.
func newLostFiles(written []string) *lostFiles {
	if len(written) == 0 {
		return nil
	}
	l := &lostFiles{files: map[string]bool{}}
	for _, name := range written {
		l.files[path.Clean(name)] = !strings.HasSuffix(name, "/")
	}
	return l
}

// all returns the names in the form that newLostFiles takes.
func (l *lostFiles) all() (names []string) {
	if l == nil {
		return nil
	}
	for name, isFile := range l.files {
		if !isFile {
			name += "/"
		}
		names = append(names, name)
	}
	return names
}

func (l *lostFiles) lookups() []Lookup {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.seen)
}

// lookups are the calls that look up a file by name, including those of changesOfFiles.
var lookups = append([]change{
	{number: unix.SYS_OPENAT, name: lookOpened, of: fileAt(0, 1)}, {number: unix.SYS_OPENAT2, name: lookOpened, of: fileAt(0, 1)},
	{number: statAt, name: lookedUp, of: fileAt(0, 1)}, {number: unix.SYS_STATX, name: lookedUp, of: fileAt(0, 1)},
	{number: unix.SYS_FACCESSAT, name: lookedUp, of: fileAt(0, 1)}, {number: unix.SYS_FACCESSAT2, name: lookedUp, of: fileAt(0, 1)},
	{number: unix.SYS_GETDENTS64, name: listed, of: fileOpened(0)},
	{number: unix.SYS_READLINKAT, name: lookedUp, of: fileAt(0, 1)}, {number: unix.SYS_UNLINKAT, name: removed, of: fileAt(0, 1)},
}, oldLookups...)

const (
	lookOpened = "opened"
	lookedUp   = "looked up"
	listed     = "listed"
	removed    = "removed"
)

// see records whether a waiting call looks up a lost file that was not created again. It does
// nothing for nil.
func (l *lostFiles) see(n *notification) {
	if l == nil {
		return
	}
	i := slices.IndexFunc(lookups, func(c change) bool { return c.number == uint32(n.number) })
	if i < 0 {
		return
	}
	call := lookups[i]
	if call.of.path > 0 && stringOf(int(n.pid), uintptr(n.args[call.of.path-1])) == "" {
		return // an open file
	}
	name := path.Clean(n.pathOf(call.of))
	isFile, lost := l.files[name]
	if !lost || slices.ContainsFunc(l.lookups(), func(s Lookup) bool { return s.Path == name }) {
		return
	}
	if _, _, flags, _, opens := n.openCall(); opens && flags&(makes|unix.O_EXCL) != 0 {
		return // it creates a new file
	}
	fd, err := n.holdSpot(call.of)
	isThere := err == nil
	if isThere {
		_ = unix.Close(fd)
	}
	// A directory that is created again has lost its entries. Programs check for directories before
	// they create them.
	if isFile && isThere || !isFile && call.name != listed && (isThere || call.name != lookOpened) {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.seen = append(l.seen, Lookup{Path: name, How: call.name})
}

// isChange reports whether the call, with its flags, is one of changesOfFiles.
func (n *notification) isChange() bool {
	c := n.change()
	switch {
	case c.name == "":
		return false
	case c.bits != 0:
		return uint32(n.args[c.argument])&c.bits != 0
	case c.is != nil:
		return slices.Contains(c.is, uint32(n.args[c.argument]))
	}
	return true
}
