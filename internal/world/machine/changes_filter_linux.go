package machine

import "golang.org/x/sys/unix"

// architectures are the processors with known system calls.
var architectures = map[string]uint32{"amd64": unix.AUDIT_ARCH_X86_64, "arm64": unix.AUDIT_ARCH_AARCH64}

// change is a system call that changes files. write(2) is not among them, because programs also
// write to sockets with it. A write counts with the open call of its file.
type change struct {
	number uint32
	name   string // the name without variants, as in SystemCalls
	of     spot   // the file that it changes
	from   spot   // the source of a mount, a rename or a link
	// The call changes something only if one of these bits is set in this argument. If no bits are
	// given, the call always changes something.
	argument int
	bits     uint32
	// If set, the call changes something only if the argument has one of these values.
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

// Names of calls that do not always change something.
const (
	open    = "open"
	fsync   = "fsync"
	syncAll = "sync" // cannot fail, and is not shown
)

const (
	// makes are the flags that create or truncate a file.
	makes = unix.O_CREAT | unix.O_TRUNC
	// writes are the flags that open a file for writing.
	writes = unix.O_WRONLY | unix.O_RDWR
)

// Offsets in struct seccomp_data: the call's number, the processor, and the low half of the first
// argument.
const (
	atNumber   = 0
	atArch     = 4
	atArgument = 16
)

// changesFilter returns a seccomp filter that notifies the listener before some calls. It uses the
// first entry with the call's number, and allows all other calls.
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
