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
	// Hostname is what the program and all that it starts find as the name of their host, in a namespace. Default: the machine's name.
	Hostname string
	Stdout   string // host file for standard output; empty: discarded. See Process.Stdout
	Stderr   string // host file for standard error; may be the same as Stdout
	// Began is the cluster's time at the start of the program. If it is set, the time of each
	// line of its output, by the real clock from then on, is noted in StampsOf the log;
	// standard output and standard error must be one file.
	Began time.Time
	// Stdin keeps its standard input open for those who attach to it, see Process.Attach. It is
	// for a program whose lines are noted. Default: it reads nothing.
	Stdin bool
	// StdinOnce ends its standard input with that of the first who attaches with one.
	StdinOnce bool
	// Terminal makes its standard streams a terminal, of a program that others can attach to.
	Terminal bool
	// Attached are its standard streams instead of files, as if attached before it starts.
	Attached *Stdio
	// Beside is a program that runs, whose mounts this one shares and at whose end it ends, too.
	// Volumes are then that program's. Default: the program has mounts of its own.
	Beside *Process
	// Volumes are shown to this program alone; only in a namespace.
	Volumes []Volume
	// Root is a root directory of its own; only in a namespace. Path and Dir, default /, are then below that, and Path
	// is looked up by the PATH of Env. Default: the machine's root.
	Root *Root
	// Container gives it the root directory of a container; only in a namespace, and without Root.
	// Default: the machine's root.
	Container *Container
	// Network is the one that the program is in; only in a namespace. Beside a program it is that program's. Default: csisim's own.
	Network *Network
	// Limits are those of the program and all that it starts. Beside a program they are that program's.
	Limits Limits
	// Memory is how much memory the program itself may have, in bytes: it is killed when it is seen to have more. Unlike Limits it does not
	// count what the program starts, and takes no control group. Default: no bound.
	Memory int64
	// Bare leaves out csisim's own environment, but for PATH.
	Bare bool
	// Followed says that its changes of files are seen, where the system permits it: see
	// Process.HoldAfter.
	Followed bool
	// SeesLookups says that of a Followed program also the calls are seen by which it looks at files:
	// BrokenMounts take it. Each of them costs some microseconds.
	SeesLookups bool
	// OwnDirs are directories of the host that are on the machine's own disk, as all is that only the machine has in its namespace. What a
	// program makes there, is Followed and does not sync is lost with the machine's power.
	OwnDirs []string
	// Ended is called, on a thread of its own, when the program has ended.
	Ended func(*Process)
}

// Volume is a directory or a file of the node that a program finds at another path
// too, as a container does its volume mounts. Missing directories on the way there are
// made for this program alone where they would be the host's.
type Volume struct {
	Source   string // a path of the node
	Path     string // where the program finds it: /csi
	ReadOnly bool
	// Private says that nobody else sees what the program mounts below it, nor it what
	// others mount there later.
	Private bool
	// Slave says that later mounts of others below it reach the program, and its own reach no other program.
	Slave bool
	// Optional leaves it out where there is nothing to mount it on, and nothing can be made: below another volume that is read-only.
	Optional bool
}

// environment is what the program finds in its environment.
func (c Command) environment(own []string) []string {
	if c.Bare {
		own = slices.DeleteFunc(slices.Clone(own), func(entry string) bool { return !strings.HasPrefix(entry, "PATH=") })
	}
	return append(own, c.Env...)
}
