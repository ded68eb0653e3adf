package machine

import (
	"os"

	"golang.org/x/sys/unix"
)

// forgetPages has a device read anew, as programs that share devices between nodes do:
// the pages of one that is kept open outlive what another node writes.
func forgetPages(f *os.File) { _ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED) } // advice only
