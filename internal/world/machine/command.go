package machine

import (
	"slices"
	"strings"
	"time"
)

// Command is a program to run on a machine.
type Command struct {
	Path string   // the executable, a path of the host; a bare name is looked up in PATH
	Args []string // without the program's name
	Env  []string // "NAME=value", in addition to csisim's own environment; they take precedence
	Dir  string   // working directory, a node path; default: the kubelet's directory
	// Hostname is the host name for the program and its children, in a namespace. Default: the
	// machine's name.
	Hostname string
	Stdout   string // host file for standard output; empty: discarded. See Process.Stdout
	Stderr   string // host file for standard error; may be the same as Stdout
	// Began is the cluster's time at the start of the program. If set, csisim records the time of
	// each line of output in StampsOf the log, and continues by the real clock. Standard output and
	// standard error must be one file.
	Began time.Time
	// Stdin keeps the program's standard input open for clients that attach to it: see
	// Process.Attach. It needs Began. Default: standard input is empty.
	Stdin bool
	// StdinOnce closes the program's standard input when the input of the first attached client
	// ends.
	StdinOnce bool
	// Terminal makes the standard streams a terminal, for a program to which clients can attach.
	Terminal bool
	// Attached replaces the files as standard streams, as if it were attached before the program
	// starts.
	Attached *Stdio
	// Beside is a running program. The new program shares its mounts and ends when it ends. Volumes
	// must then equal the Volumes of that program. Default: the program has separate mounts.
	Beside *Process
	// Administrator means that the program changes the mounts of the machine itself, like a shell
	// on a real node. Its mounts and its leftover processes outlast it. Such a program has no
	// Volumes, Root or Container. Default: the program has separate mounts.
	Administrator bool
	// Volumes are visible only to this program; they require a namespace.
	Volumes []Volume
	// OwnKubeletDir removes the kubelet's directory from the program's mounts, except for the
	// Volumes in it. It requires a namespace and no Root.
	OwnKubeletDir bool
	// Root is the program's own root directory; it requires a namespace. Path and Dir (default /)
	// are then relative to it, and the PATH of Env is searched for Path. Default: the machine's
	// root.
	Root *Root
	// Container gives the program the root directory of a container. It requires a namespace and no
	// Root. Default: the machine's root.
	Container *Container
	// Network is the network namespace of the program; it requires a namespace. A program Beside
	// another is in that program's network. Default: csisim's own.
	Network *Network
	// IPC is the IPC namespace of the program; only in a namespace. Default: the machine's.
	IPC *IPC
	// Limits bound the program and its children. A program Beside another has that program's
	// limits.
	Limits Limits
	// Memory limits the memory of the program itself, in bytes. The program is killed when it is
	// observed to exceed the limit. Unlike Limits it does not count the program's children, and
	// needs no control group. Default: no limit.
	Memory int64
	// Capabilities are capabilities from Withheld that the program has nevertheless. A program with
	// its own root has the capabilities of its Root. Default: none.
	Capabilities []string
	// Bare omits csisim's own environment, except for PATH.
	Bare bool
	// Followed observes the program's changes to files, if the system permits it: see
	// Process.HoldAfter.
	Followed bool
	// SeesLookups also observes the calls by which a Followed program looks up files. BrokenMounts
	// need it. Each such call costs some microseconds.
	SeesLookups bool
	// OwnDirs are host directories that belong to the machine's own disk, like all files that only
	// the machine has in its namespace. A power-off loses a Followed program's writes there unless
	// they were synced.
	OwnDirs []string
	// Ended is called on a separate thread when the program has ended.
	Ended func(*Process)
}

// Volume is a directory or a file of the node that a program finds at a second path, like a
// container's volume mount. Missing parent directories that would have to be created on the host
// are created only for this program.
type Volume struct {
	Source   string // a path of the node
	Path     string // its path for the program: /csi
	ReadOnly bool
	// Private hides the program's mounts below the volume from all other programs. It also hides
	// their later mounts there from the program.
	Private bool
	// Slave propagates later mounts of other programs below the volume to the program, but not the
	// reverse.
	Slave bool
	// Shared makes the directory at Source a mount of the node, so that mounts below it propagate
	// to all programs that have the directory.
	Shared bool
	// Device means that the volume is a device that an unprivileged program may use.
	Device bool
	// Optional skips the volume if it has no mount point and none can be created, because it is
	// below another, read-only volume.
	Optional bool
}

// environment returns the program's environment.
func (c Command) environment(own []string) []string {
	if c.Bare {
		own = slices.DeleteFunc(slices.Clone(own), func(entry string) bool { return !strings.HasPrefix(entry, "PATH=") })
	}
	return append(own, c.Env...)
}
