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
	Env  []string // "NAME=value", in addition to csisim's own environment, which they override
	Dir  string   // working directory, a node path; default: the kubelet's directory
	// Hostname is the host name that the program and its children see, in a namespace. Default: the
	// machine's name.
	Hostname string
	Stdout   string // host file for standard output; empty: discarded. See Process.Stdout
	Stderr   string // host file for standard error; may be the same as Stdout
	// Began is the cluster's time at the start of the program. If set, csisim records the time of
	// each line of output in StampsOf the log, counting on by the real clock. Standard output and
	// standard error must be one file.
	Began time.Time
	// Stdin keeps the program's standard input open for clients that attach to it, see
	// Process.Attach. It needs Began. Default: standard input is empty.
	Stdin bool
	// StdinOnce closes the program's standard input together with the input of the first client
	// that attaches one.
	StdinOnce bool
	// Terminal makes the standard streams a terminal, for a program that clients can attach to.
	Terminal bool
	// Attached replaces the files as standard streams, as if attached before the program starts.
	Attached *Stdio
	// Beside is a running program. This one shares its mounts and ends when it ends; Volumes must
	// then be that program's. Default: the program has mounts of its own.
	Beside *Process
	// Administrator means that the program changes the mounts of the machine itself, as a shell on
	// a real node does: they outlast it, and so do processes that it leaves behind. Such a program
	// has no Volumes, Root or Container. Default: the program has mounts of its own.
	Administrator bool
	// Volumes are visible to this program only; they require a namespace.
	Volumes []Volume
	// OwnKubeletDir leaves the kubelet's directory out of the program's mounts, except for the
	// Volumes in it; only in a namespace, and without Root.
	OwnKubeletDir bool
	// Root is a root directory of its own; only in a namespace. Path and Dir (default /) are then
	// relative to it, and Path is looked up by the PATH of Env. Default: the machine's root.
	Root *Root
	// Container gives it the root directory of a container; only in a namespace, and without Root.
	// Default: the machine's root.
	Container *Container
	// Network is the network namespace of the program; only in a namespace. A program Beside
	// another is in that program's network. Default: csisim's own.
	Network *Network
	// IPC is the IPC namespace of the program; only in a namespace. Default: the machine's.
	IPC *IPC
	// Limits bound the program and its children. A program Beside another has that program's
	// limits.
	Limits Limits
	// Memory limits the memory of the program itself, in bytes: it is killed when it is seen to
	// exceed that. Unlike Limits it does not count the program's children, and needs no control
	// group. Default: no limit.
	Memory int64
	// Capabilities are those of Withheld that the program has nevertheless. One in a root of its
	// own has those of its Root. Default: none.
	Capabilities []string
	// Bare leaves out csisim's own environment, but for PATH.
	Bare bool
	// Followed observes the program's changes of files, where the system permits it: see
	// Process.HoldAfter.
	Followed bool
	// SeesLookups also observes the calls by which a Followed program looks at files. BrokenMounts
	// need it. Each such call costs some microseconds.
	SeesLookups bool
	// OwnDirs are directories of the host that count as the machine's own disk, like all files that
	// only the machine has in its namespace. A write of a Followed program there is lost at a
	// power-off unless it was synced.
	OwnDirs []string
	// Ended is called, on a thread of its own, when the program has ended.
	Ended func(*Process)
}

// Volume is a directory or a file of the node that a program finds at a second path, as a container
// finds its volume mounts. Missing parent directories that would have to be made on the host are
// made for this program alone.
type Volume struct {
	Source   string // a path of the node
	Path     string // its path for the program: /csi
	ReadOnly bool
	// Private hides the program's mounts below it from all others, and their later mounts there
	// from the program.
	Private bool
	// Slave lets later mounts of others below it reach the program, but not the reverse.
	Slave bool
	// Shared makes the directory at Source a mount of the node: mounts below it reach all programs
	// that have the directory.
	Shared bool
	// Device means that the volume is a device, which a program without privileges may use.
	Device bool
	// Optional skips the volume if it has no mount point and none can be made, since it is below
	// another volume that is read-only.
	Optional bool
}

// environment returns the program's environment.
func (c Command) environment(own []string) []string {
	if c.Bare {
		own = slices.DeleteFunc(slices.Clone(own), func(entry string) bool { return !strings.HasPrefix(entry, "PATH=") })
	}
	return append(own, c.Env...)
}
