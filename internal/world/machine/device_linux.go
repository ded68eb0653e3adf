package machine

import (
	"os"

	"golang.org/x/sys/unix"
)

// forgetPages drops the cached pages of a device, so that it is read anew, as programs that share
// devices between nodes do: while a device is open, its cached pages hide writes of other nodes.
// Advice only.
func forgetPages(f *os.File) { _ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED) }
