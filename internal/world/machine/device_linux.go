package machine

import (
	"os"

	"golang.org/x/sys/unix"
)

// forgetPages drops the cached pages of a device, so that the next read goes to the device.
// Programs that share a device between nodes do the same, because cached pages of an open device
// hide the writes of other nodes. Advice only.
func forgetPages(f *os.File) { _ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED) }
