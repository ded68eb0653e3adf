package machine

import "golang.org/x/sys/unix"

// architectures are those whose system calls are known.
var architectures = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}

// change is a system call that changes files. What a program writes by write(2) is not among
// them: the same call writes its sockets. It counts with the file that was opened for it.
type change struct {
	number uint32
	name   string // without the forms that it has: one of those of SystemCalls
	of     spot   // what it changes
	from   spot   // where that comes from; of few
	// flags are the argument which says whether it changes anything, and bits of which it
	// does with any; no bits: always.
	argument int
	bits     uint32
	// is are values of that argument with each of which it does; none: see bits.
	is []uint32
}

var changesOfFiles = append([]change{
	{number: unix.SYS_OPENAT, name: open, of: fileAt(0, 1), argument: 2, bits: makes | writes},
	{number: unix.SYS_OPENAT2, name: open, of: fileAt(0, 1)},
	{number: unix.SYS_MKDIRAT, name: "mkdir", of: fileAt(0, 1)}, {number: unix.SYS_MKNODAT, name: "mknod", of: fileAt(0, 1)},
	{number: unix.SYS_SYMLINKAT, name: "symlink", of: fileAt(1, 2), from: anyText(0)}, {number: unix.SYS_LINKAT, name: "link", of: fileAt(2, 3), from: fileAt(0, 1)},
	{number: unix.SYS_RENAMEAT, name: "rename", of: fileAt(2, 3), from: fileAt(0, 1)}, {number: unix.SYS_RENAMEAT2, name: "rename", of: fileAt(2, 3), from: fileAt(0, 1)},
	{number: unix.SYS_UNLINKAT, name: "unlink", of: fileAt(0, 1)},
	{number: unix.SYS_TRUNCATE, name: "truncate", of: fileNamed(0)}, {number: unix.SYS_FTRUNCATE, name: "truncate", of: fileOpened(0)},
	{number: unix.SYS_FALLOCATE, name: "fallocate", of: fileOpened(0)},
	{number: unix.SYS_PWRITE64, name: "pwrite", of: fileOpened(0)}, {number: unix.SYS_COPY_FILE_RANGE, name: "copy_file_range", of: fileOpened(2), from: fileOpened(0)},
	{number: unix.SYS_FSYNC, name: fsync, of: fileOpened(0)}, {number: unix.SYS_FDATASYNC, name: fsync, of: fileOpened(0)},
	{number: unix.SYS_SYNC, name: syncAll}, {number: unix.SYS_SYNCFS, name: syncAll},
	{number: unix.SYS_MOUNT, name: "mount", of: fileNamed(1), from: anyText(0)}, {number: unix.SYS_MOVE_MOUNT, name: "mount", of: fileAt(2, 3)},
	{number: unix.SYS_MOUNT_SETATTR, name: "mount", of: fileAt(0, 1)},
	{number: unix.SYS_UMOUNT2, name: "umount2", of: fileNamed(0)},
	{number: unix.SYS_IOCTL, name: "ioctl", of: fileOpened(0), argument: 1, is: []uint32{unix.LOOP_SET_FD, unix.LOOP_CLR_FD, unix.LOOP_CONFIGURE}},
}, oldChanges...)

// Those of which not every one changes something.
const (
	open    = "open"
	fsync   = "fsync"
	syncAll = "sync" // cannot fail, nor is it shown
)

const (
	// makes are the flags with which a file is made or emptied.
	makes = unix.O_CREAT | unix.O_TRUNC
	// writes are those with which it can be written to.
	writes = unix.O_WRONLY | unix.O_RDWR
)

// Where struct seccomp_data has the call's number, the processor and the low half of the first argument.
const (
	atNumber   = 0
	atArch     = 4
	atArgument = 16
)

// changesFilter asks before each of some calls, by the first entry for its number, and lets all else pass.
func changesFilter(arch uint32, calls []change) []unix.SockFilter {
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	jump := func(test uint16, k uint32, yes, no int) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | test | unix.BPF_K, K: k, Jt: uint8(yes), Jf: uint8(no)}
	}
	end := func(with uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: with} }
	pass, ask := end(unix.SECCOMP_RET_ALLOW), end(unix.SECCOMP_RET_USER_NOTIF)

	filter := []unix.SockFilter{load(atArch), jump(unix.BPF_JEQ, arch, 1, 0), pass, load(atNumber)}
	for _, c := range calls {
		var tests []unix.SockFilter
		if c.bits != 0 {
			tests = append(tests, jump(unix.BPF_JSET, c.bits, 0, 1), ask)
		}
		for _, value := range c.is {
			tests = append(tests, jump(unix.BPF_JEQ, value, 0, 1), ask)
		}
		if tests == nil {
			filter = append(filter, jump(unix.BPF_JEQ, c.number, 0, 1), ask)
			continue
		}
		filter = append(filter, jump(unix.BPF_JEQ, c.number, 0, len(tests)+2), load(atArgument+8*uint32(c.argument)))
		filter = append(append(filter, tests...), pass)
	}
	return append(filter, pass)
}
