//go:build linux && !amd64

package machine

import "golang.org/x/sys/unix"

// statAt is the form of stat(2) with a directory argument.
const statAt = unix.SYS_FSTATAT

var oldChanges, oldLookups, oldUses []change

// openCall returns the directory, path, flags and mode of a call that opens a file.
func (n *notification) openCall() (dir int, path, flags, mode uint64, is bool) {
	dir, path, flags, mode = int(int32(n.args[0])), n.args[1], n.args[2], n.args[3]
	if n.number == unix.SYS_OPENAT2 {
		flags, mode = n.how()
	}
	return dir, path, flags, mode, n.number == unix.SYS_OPENAT || n.number == unix.SYS_OPENAT2
}
