package machine

import "golang.org/x/sys/unix"

// oldChanges are calls that newer processors do without.
var oldChanges = []change{
	{number: unix.SYS_OPEN, argument: 1, bits: makes},
	{number: unix.SYS_CREAT}, {number: unix.SYS_MKDIR}, {number: unix.SYS_MKNOD}, {number: unix.SYS_SYMLINK}, {number: unix.SYS_LINK},
	{number: unix.SYS_RENAME}, {number: unix.SYS_UNLINK}, {number: unix.SYS_RMDIR},
}

// openCall says where a call that opens a file has its directory, path, flags and mode.
func (n *notification) openCall() (dir int, path, flags, mode uint64, is bool) {
	switch n.number {
	case unix.SYS_OPENAT:
		return int(int32(n.args[0])), n.args[1], n.args[2], n.args[3], true
	case unix.SYS_OPEN:
		return unix.AT_FDCWD, n.args[0], n.args[1], n.args[2], true
	case unix.SYS_CREAT:
		return unix.AT_FDCWD, n.args[0], unix.O_CREAT | unix.O_WRONLY | unix.O_TRUNC, n.args[1], true
	}
	return 0, 0, 0, 0, false
}
