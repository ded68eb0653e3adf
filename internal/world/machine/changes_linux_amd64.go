package machine

import "golang.org/x/sys/unix"

// oldChanges are calls that newer processors lack.
var oldChanges = []change{
	{number: unix.SYS_OPEN, name: open, of: fileNamed(0), argument: 1, bits: makes | writes}, {number: unix.SYS_CREAT, name: open, of: fileNamed(0)},
	{number: unix.SYS_MKDIR, name: "mkdir", of: fileNamed(0)}, {number: unix.SYS_MKNOD, name: "mknod", of: fileNamed(0)},
	{number: unix.SYS_SYMLINK, name: "symlink", of: fileNamed(1), from: anyText(0)}, {number: unix.SYS_LINK, name: "link", of: fileNamed(1), from: fileNamed(0)},
	{number: unix.SYS_RENAME, name: "rename", of: fileNamed(1), from: fileNamed(0)},
	{number: unix.SYS_UNLINK, name: "unlink", of: fileNamed(0)}, {number: unix.SYS_RMDIR, name: "rmdir", of: fileNamed(0)},
}

// statAt is the form of stat(2) with a directory argument.
const statAt = unix.SYS_NEWFSTATAT

// oldLookups are calls that newer processors lack.
var oldLookups = []change{
	{number: unix.SYS_OPEN, name: lookOpened, of: fileNamed(0)}, {number: unix.SYS_STAT, name: lookedUp, of: fileNamed(0)},
	{number: unix.SYS_LSTAT, name: lookedUp, of: fileNamed(0)}, {number: unix.SYS_ACCESS, name: lookedUp, of: fileNamed(0)},
	{number: unix.SYS_READLINK, name: lookedUp, of: fileNamed(0)}, {number: unix.SYS_UNLINK, name: removed, of: fileNamed(0)},
}

// oldUses are calls that newer processors lack.
var oldUses = []change{
	{number: unix.SYS_CHMOD, name: chmod, of: fileNamed(0)},
	{number: unix.SYS_CHOWN, name: chown, of: fileNamed(0)}, {number: unix.SYS_LCHOWN, name: chown, of: fileNamed(0)},
}

// openCall returns the directory, path, flags and mode of a call that opens a file.
func (n *notification) openCall() (dir int, path, flags, mode uint64, is bool) {
	switch n.number {
	case unix.SYS_OPENAT:
		return int(int32(n.args[0])), n.args[1], n.args[2], n.args[3], true
	case unix.SYS_OPENAT2:
		flags, mode = n.how()
		return int(int32(n.args[0])), n.args[1], flags, mode, true
	case unix.SYS_OPEN:
		return unix.AT_FDCWD, n.args[0], n.args[1], n.args[2], true
	case unix.SYS_CREAT:
		return unix.AT_FDCWD, n.args[0], unix.O_CREAT | unix.O_WRONLY | unix.O_TRUNC, n.args[1], true
	}
	return 0, 0, 0, 0, false
}
