package machine

import (
	"io/fs"
	"os"
	"syscall"
	"time"
	"unique"
)

// umask is the umask of a node's daemons.
const umask fs.FileMode = 0o022

// inode is a file, directory, symlink or socket in memory. It has exactly one parent directory;
// hard links do not exist. There are very many inodes.
type inode struct {
	name     string
	parent   *inode // nil for the root
	inside   inside
	mode     fs.FileMode
	uid, gid int32
	mounts   int32 // number of mounts on this inode
	deleted  bool
}

// commonName is the longest name that is copied and shared. Very many inodes have shorter names,
// such as "mount" and "volumes". As substrings, these would keep whole paths in memory. Longer ones
// are ids.
const commonName = 20

func (n *inode) add(name string, mode fs.FileMode) *inode {
	if len(name) <= commonName {
		name = unique.Make(name).Value()
	}
	child := &inode{name: name, parent: n, mode: mode}
	if n.mode&fs.ModeSetgid != 0 { // a new entry of a setgid directory gets its group
		child.gid = n.gid
		if mode.IsDir() {
			child.mode |= fs.ModeSetgid
		}
	}
	n.insert(child)
	return child
}

func (n *inode) unlink() {
	n.parent.drop(n)
	n.deleted = true
}

// path returns the inode's path in the tree of the root file system. In the mount table, it is the
// root of a bind mount.
func (n *inode) path() string {
	if n.parent == nil {
		return "/"
	}
	p := below(n.parent.path(), n.name)
	if n.deleted {
		p += "//deleted"
	}
	return p
}

// isIn reports whether n is dir or below it.
func (n *inode) isIn(dir *inode) bool {
	for n != nil && n != dir {
		n = n.parent
	}
	return n != nil
}

func (n *inode) isSocket() bool { return n.mode.Type() == fs.ModeSocket }

// notReadable returns the error of opening n as a regular file.
func (n *inode) notReadable() error {
	switch {
	case n.mode.IsDir():
		return syscall.EISDIR
	case n.isSocket():
		return syscall.ENXIO
	}
	return nil
}

// inodeInfo is the result of Lstat at the time of the call.
type inodeInfo struct {
	of       *inode
	name     string
	size     int64
	mode     fs.FileMode
	uid, gid int
}

func (n *inode) info(name string) inodeInfo {
	return inodeInfo{of: n, name: name, size: int64(len(n.data())), mode: n.mode, uid: int(n.uid), gid: int(n.gid)}
}

func (i inodeInfo) Name() string       { return i.name }
func (i inodeInfo) Size() int64        { return i.size }
func (i inodeInfo) Mode() fs.FileMode  { return i.mode }
func (i inodeInfo) IsDir() bool        { return i.mode.IsDir() }
func (i inodeInfo) ModTime() time.Time { return time.Time{} } // files in memory have no clock

// Sys returns the owner, as for files on disk.
func (i inodeInfo) Sys() any { return &syscall.Stat_t{Uid: uint32(i.uid), Gid: uint32(i.gid)} }

// SameFile reports whether two results of Lstat describe the same file.
func SameFile(a, b fs.FileInfo) bool {
	x, inMemory := a.(inodeInfo)
	y, too := b.(inodeInfo)
	if inMemory && too {
		return x.of == y.of
	}
	return os.SameFile(a, b)
}

// permissions are the bits that chmod sets.
const permissions = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky

// chown changes the owner. As in Linux, this clears the setuid and setgid bits of a program.
func (n *inode) chown(uid, gid int) {
	if uid >= 0 {
		n.uid = int32(uid)
	}
	if gid >= 0 {
		n.gid = int32(gid)
	}
	if n.mode.IsRegular() {
		n.mode &^= fs.ModeSetuid
		if n.mode&0o010 != 0 {
			n.mode &^= fs.ModeSetgid
		}
	}
}
