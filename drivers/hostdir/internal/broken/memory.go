package broken

import "time"

// hoard keeps the memory of HoardMemory.
var hoard [][]byte

// HoardMemory allocates 64 MiB and keeps them. It takes some time, so that the driver's memory can
// be measured meanwhile.
func HoardMemory() {
	const size, page = 64 << 20, 4 << 10
	more := make([]byte, size)
	for i := 0; i < size; i += page {
		more[i] = 1 // untouched pages occupy no memory
	}
	hoard = append(hoard, more)
	time.Sleep(300 * time.Millisecond)
}
