package machine

import (
	"bytes"
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// stringOf reads a string from a program's memory. It returns "" if there is none.
func stringOf(pid int, at uintptr) string {
	text := make([]byte, unix.PathMax)
	read := 0
	for read < len(text) { // page by page: the memory after the string may not be readable
		size := min(len(text)-read, unix.Getpagesize()-int(at+uintptr(read))%unix.Getpagesize())
		n, err := memoryOf(pid, at+uintptr(read), text[read:read+size])
		if err != nil {
			return ""
		}
		if end := bytes.IndexByte(text[read:read+n], 0); end >= 0 {
			return string(text[:read+end])
		}
		read += n
	}
	return ""
}

// how reads the flags and the mode of openat2(2) from the program's memory. It returns zeros if
// they cannot be read.
func (n *notification) how() (flags, mode uint64) {
	var how [16]byte
	if read, err := memoryOf(int(n.pid), uintptr(n.args[2]), how[:]); err != nil || read < len(how) {
		return 0, 0
	}
	return binary.NativeEndian.Uint64(how[:]), binary.NativeEndian.Uint64(how[8:])
}

// memoryOf reads from a program's memory.
func memoryOf(pid int, at uintptr, into []byte) (int, error) {
	local := []unix.Iovec{{Base: &into[0]}}
	local[0].SetLen(len(into))
	return unix.ProcessVMReadv(pid, local, []unix.RemoteIovec{{Base: at, Len: len(into)}}, 0)
}
