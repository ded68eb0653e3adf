package machine

import (
	"os"

	"golang.org/x/sys/unix"
)

// forgetPages drops the cached pages of a device, so that the next read is a new one. Programs that
// share a device between nodes do the same: while it is open, cached pages hide the writes of other
// nodes. Advice only.
func forgetPages(f *os.File) { _ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED) }
