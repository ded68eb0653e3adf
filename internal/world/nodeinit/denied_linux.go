package nodeinit

import (
	"syscall"
	"unsafe"
)

// calls are the numbers of system calls on one processor.
type calls struct {
	arch uint32
	// machine are calls about the whole machine, which no namespace limits and no driver needs: for
	// programs and counters in the kernel, swap, accounting and other kernels.
	machine []uint32
	// keys are the calls of the kernel's keyrings; each user has one keyring on the whole machine.
	keys []uint32
}

// Deny denies later programs of the calling thread the calls about the whole machine and, on
// request, those of the kernel's keyrings. They fail with EPERM, as under containerd. It does
// nothing on a kernel without system call filters.
func Deny(keys bool) error {
	var filter []syscall.SockFilter
	for _, c := range denied {
		numbers := c.machine
		if keys {
			numbers = append(append([]uint32{}, numbers...), c.keys...)
		}
		filter = append(filter, section(c.arch, numbers)...)
	}
	if filter == nil {
		return nil
	}
	filter = append(filter, result(allow))
	program := syscall.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if err := prctl(setFilter, filterMode, uintptr(unsafe.Pointer(&program))); err != 0 && err != syscall.EINVAL {
		return err
	}
	return nil
}

const (
	setFilter  = 22 // PR_SET_SECCOMP
	filterMode = 2  // SECCOMP_MODE_FILTER

	allow  = 0x7fff0000 // SECCOMP_RET_ALLOW
	refuse = 0x00050000 // SECCOMP_RET_ERRNO, with the number of the error

	// Offsets in struct seccomp_data.
	numberOf = 0
	archOf   = 4
)

// x32 is a bit in the numbers of calls with 32-bit pointers on amd64. These numbers are refused,
// because each call also has such a number. No architecture uses the bit for another purpose.
const x32 = 1 << 30

// section refuses calls of one architecture, and passes on those of other architectures.
func section(arch uint32, numbers []uint32) []syscall.SockFilter {
	filter := []syscall.SockFilter{load(archOf), unlessEqual(arch, len(numbers)+4), load(numberOf), ifAtLeast(x32, len(numbers)+1)}
	for i, n := range numbers {
		filter = append(filter, ifEqual(n, len(numbers)-i))
	}
	return append(filter, result(allow), result(refuse|uint32(syscall.EPERM)))
}

func load(at uint32) syscall.SockFilter {
	return syscall.SockFilter{Code: syscall.BPF_LD | syscall.BPF_W | syscall.BPF_ABS, K: at}
}

// ifEqual skips instructions if the loaded word has the value.
func ifEqual(value uint32, skipped int) syscall.SockFilter {
	return syscall.SockFilter{Code: syscall.BPF_JMP | syscall.BPF_JEQ | syscall.BPF_K, K: value, Jt: uint8(skipped)}
}

// ifAtLeast skips instructions if the loaded word has the value or a larger one.
func ifAtLeast(value uint32, skipped int) syscall.SockFilter {
	return syscall.SockFilter{Code: syscall.BPF_JMP | syscall.BPF_JGE | syscall.BPF_K, K: value, Jt: uint8(skipped)}
}

// unlessEqual skips instructions if the loaded word has another value.
func unlessEqual(value uint32, skipped int) syscall.SockFilter {
	return syscall.SockFilter{Code: syscall.BPF_JMP | syscall.BPF_JEQ | syscall.BPF_K, K: value, Jf: uint8(skipped)}
}

func result(with uint32) syscall.SockFilter {
	return syscall.SockFilter{Code: syscall.BPF_RET | syscall.BPF_K, K: with}
}
