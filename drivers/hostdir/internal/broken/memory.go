package broken

import "time"

// hoard is what HoardMemory keeps.
var hoard [][]byte

// HoardMemory takes 64 MiB and keeps them, and some time, in which it can be seen that the driver has them.
func HoardMemory() {
	const size, page = 64 << 20, 4 << 10
	more := make([]byte, size)
	for i := 0; i < size; i += page {
		more[i] = 1 // what is not touched takes no memory
	}
	hoard = append(hoard, more)
	time.Sleep(300 * time.Millisecond)
}
