//go:build !linux

package machine

import (
	"io/fs"
	"os"
	"syscall"
	"time"
)

// entry distinguishes a file from a later one at the same path. A socket is never written to, so
// its time of change is its creation time.
type entry struct {
	inode  uint64
	born   time.Time
	socket bool
	dir    bool
}

func identify(real string) (entry, bool) {
	info, err := os.Lstat(real)
	if err != nil {
		return entry{}, false
	}
	e := entry{socket: info.Mode().Type() == fs.ModeSocket, dir: info.IsDir()}
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		e.inode = uint64(stat.Ino)
	}
	if e.socket {
		e.born = info.ModTime()
	}
	return e, true
}
