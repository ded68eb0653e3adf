package machine

import "golang.org/x/sys/unix"

// entry distinguishes a file from a later one with the same path and inode number.
type entry struct {
	inode  uint64
	born   unix.StatxTimestamp
	socket bool
	dir    bool
}

func identify(real string) (entry, bool) {
	var stat unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, real, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BASIC_STATS|unix.STATX_BTIME, &stat)
	if err != nil {
		return entry{}, false
	}
	kind := stat.Mode & unix.S_IFMT
	return entry{inode: stat.Ino, born: stat.Btime, socket: kind == unix.S_IFSOCK, dir: kind == unix.S_IFDIR}, true
}
