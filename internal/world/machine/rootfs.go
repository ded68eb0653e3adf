package machine

// Root is a root directory of a program's own, as a container has it. What the program writes there is thrown
// away at its end. Its own processes, the machine's network and, unless it is Privileged, a few devices are seen in it.
type Root struct {
	// Dir is the directory of the host that is shown; it stays as it is.
	Dir string
	// ReadOnly says that the program may write in its volumes only.
	ReadOnly bool
	// Privileged shows all devices of the machine, and keeps all capabilities.
	Privileged bool
	// Capabilities are the ones that programs may have, such as "CHOWN"; all others are lost.
	Capabilities []string
	// NoNewPrivileges says that programs with setuid bits gain nothing.
	NoNewPrivileges bool
	// HostProcesses makes the program one of the machine's processes, which it sees. Default: it is process 1 of a process namespace
	// of its own, with which all ends that it has started; on a machine that has none (SharesProcesses) it sees csisim's.
	HostProcesses bool
	// Processes is a program of the machine in whose process namespace this one runs, instead of its own.
	Processes *Process
	// User is "user", "uid", "user:group" or "uid:gid"; names are those of the root directory's own
	// /etc/passwd and /etc/group. Default: root. An ordinary user's csisim runs all as that user.
	User string
	// Groups are the program's further groups.
	Groups []uint32
	// Files are written before the program starts, by their paths.
	Files map[string]string
}

// Capabilities are those of Linux, by their numbers.
var Capabilities = []string{
	"CHOWN", "DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID", "SETPCAP", "LINUX_IMMUTABLE",
	"NET_BIND_SERVICE", "NET_BROADCAST", "NET_ADMIN", "NET_RAW", "IPC_LOCK", "IPC_OWNER", "SYS_MODULE", "SYS_RAWIO", "SYS_CHROOT", "SYS_PTRACE",
	"SYS_PACCT", "SYS_ADMIN", "SYS_BOOT", "SYS_NICE", "SYS_RESOURCE", "SYS_TIME", "SYS_TTY_CONFIG", "MKNOD", "LEASE", "AUDIT_WRITE",
	"AUDIT_CONTROL", "SETFCAP", "MAC_OVERRIDE", "MAC_ADMIN", "SYSLOG", "WAKE_ALARM", "BLOCK_SUSPEND", "AUDIT_READ", "PERFMON", "BPF",
	"CHECKPOINT_RESTORE",
}
