package machine

// Root is a separate root directory for a program, like that of a container. The program's writes
// there are discarded when it ends. It contains the program's own processes, the machine's network
// and, unless Privileged, only a few devices.
type Root struct {
	// Dir is a host directory with the root's content. It is not modified.
	Dir string
	// ReadOnly permits the program to write only to its volumes.
	ReadOnly bool
	// Privileged shows all devices of the machine, and keeps all capabilities except those in
	// Withheld.
	Privileged bool
	// Capabilities are the capabilities that the program may have, such as "CHOWN"; it loses all
	// others. For a Privileged program it lists those in Withheld.
	Capabilities []string
	// NoNewPrivileges denies programs the privileges of setuid bits.
	NoNewPrivileges bool
	// HostProcesses runs the program in the machine's process namespace. Default: the program is
	// process 1 of its own process namespace, and all processes there end with it. If the machine
	// cannot have one (SharesProcesses), the program sees csisim's processes.
	HostProcesses bool
	// Processes is a program of the machine. The new program joins that program's process namespace
	// instead of a separate one.
	Processes *Process
	// User is "user", "uid", "user:group" or "uid:gid". Names are looked up in /etc/passwd and
	// /etc/group of the root directory. Default: root. If csisim runs as an ordinary user, all
	// programs run as that user.
	User string
	// Groups are the program's supplementary groups.
	Groups []uint32
	// Files are written before the program starts, by their paths.
	Files map[string]string
}

// Capabilities are the capabilities of Linux, in the order of their numbers.
var Capabilities = []string{
	"CHOWN", "DAC_OVERRIDE", "DAC_READ_SEARCH", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID", "SETPCAP", "LINUX_IMMUTABLE",
	"NET_BIND_SERVICE", "NET_BROADCAST", "NET_ADMIN", "NET_RAW", "IPC_LOCK", "IPC_OWNER", "SYS_MODULE", "SYS_RAWIO", "SYS_CHROOT", "SYS_PTRACE",
	"SYS_PACCT", "SYS_ADMIN", "SYS_BOOT", "SYS_NICE", "SYS_RESOURCE", "SYS_TIME", "SYS_TTY_CONFIG", "MKNOD", "LEASE", "AUDIT_WRITE",
	"AUDIT_CONTROL", "SETFCAP", "MAC_OVERRIDE", "MAC_ADMIN", "SYSLOG", "WAKE_ALARM", "BLOCK_SUSPEND", "AUDIT_READ", "PERFMON", "BPF",
	"CHECKPOINT_RESTORE",
}

// Withheld are capabilities that no driver needs and that give root access beyond its machine: to
// open files of the host by their numbers, set the clock, or restart the host. Programs have them
// only if they request them.
var Withheld = []string{"DAC_READ_SEARCH", "SYS_BOOT", "SYS_TIME"}
