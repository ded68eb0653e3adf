// Package machine provides the computer that a simulated node runs on: its
// directory tree, its mount table, its sockets and its programs. A node can
// live in memory, in a directory on disk, or in a mount namespace of its own.
package machine

import (
	"io"
	"io/fs"

	"google.golang.org/grpc"
)

// KubeletDir is the directory that the kubelet owns on every node.
const KubeletDir = "/var/lib/kubelet"

// Machine is the computer of one simulated node. All paths are absolute and as
// the node sees them ("/var/lib/kubelet/pods/..."). Errors are those of package
// os: they satisfy fs.ErrNotExist and fs.ErrExist, and carry the syscall.Errno
// that Linux gives (ENOTEMPTY, EBUSY, EROFS, ...).
type Machine interface {
	// Name is the name of the node.
	Name() string

	Mkdir(path string, perm fs.FileMode) error
	MkdirAll(path string, perm fs.FileMode) error
	WriteFile(path string, data []byte, perm fs.FileMode) error
	ReadFile(path string) ([]byte, error)
	// ReadEnd is ReadFile for the end of a file, at most so many bytes.
	ReadEnd(path string, most int64) ([]byte, error)
	// Remove unlinks a file or removes an empty directory. A directory with
	// entries gives ENOTEMPTY, a mount point EBUSY.
	Remove(path string) error
	// RemoveAll removes path and what is below it, but never enters a mount: it
	// leaves every mount point in place and gives EBUSY if there was one. A
	// missing path is no error.
	RemoveAll(path string) error
	// ReadDir lists a directory, sorted by name.
	ReadDir(path string) ([]fs.DirEntry, error)
	// Lstat describes path itself, even if it is a symlink. The FileInfo's Sys is
	// a *syscall.Stat_t, which has the owner.
	Lstat(path string) (fs.FileInfo, error)
	// Chmod sets the permissions and the setuid, setgid and sticky bits of what
	// path leads to.
	Chmod(path string, mode fs.FileMode) error
	// Lchown gives path itself, even if it is a symlink, to a user and a group; -1
	// leaves either as it is.
	Lchown(path string, uid, gid int) error
	Symlink(target, link string) error
	// Relink makes link point to target, also if it is a symlink already: whoever
	// follows it meanwhile finds either. Anything else there gives EEXIST.
	Relink(target, link string) error
	Readlink(path string) (string, error)
	EvalSymlinks(path string) (string, error)

	// Mounts lists the mounts in the node's own tree, sorted by target; of two
	// mounts on one target the covering one comes last.
	Mounts() ([]Mount, error)
	// Missing lists the mounts that running programs have found at their start and
	// have taken off for themselves alone: each has a mount table of its own, but for
	// what lies below the kubelet's directory.
	Missing() ([]Missing, error)
	// IsMountPoint says whether something is mounted at path; a missing path
	// gives fs.ErrNotExist.
	IsMountPoint(path string) (bool, error)
	// References lists the other mount points that show what is mounted at path,
	// sorted; none if path is missing or no mount point.
	References(path string) ([]string, error)
	// BindMount shows source at target, without the mounts below source. Both
	// must exist and be both directories or both not.
	BindMount(source, target string, readOnly bool) error
	// Unmount takes the topmost mount off target: EINVAL if there is none, EBUSY
	// if something is mounted below it.
	Unmount(target string) error

	// BindSocket serves gRPC services at a unix socket. Missing parent
	// directories are made with mode 0700; an existing file, even one that a
	// dead server left behind, gives EADDRINUSE.
	BindSocket(path string, services ...Service) (Listener, error)
	// DialSocket returns a client of whatever serves at path at the time of
	// each call. The dial itself never fails for want of a server: calls then
	// end at once with code Unavailable and the words of a real gRPC client.
	DialSocket(path string) (grpc.ClientConnInterface, io.Closer, error)
	// Watch reports what appears and disappears below dir, at any depth,
	// starting with what is there already. Changes made through the Machine are
	// reported before the call that makes them returns.
	Watch(dir string, onEvent func(Event)) (stop func(), err error)

	// Start runs a program on this machine.
	Start(Command) (*Process, error)
	// Strays lists the processes that running programs have started.
	Strays() ([]Stray, error)
	// Path is where path is for csisim itself, outside of the node.
	Path(path string) string
	// ProgramPath is where path is for a program of this machine.
	ProgramPath(path string) string
	// NodePath is the inverse of Path.
	NodePath(path string) string
	// PowerOff kills all programs and servers and drops all mounts. Files stay,
	// those of sockets too, but for what was not synced where that is known.
	PowerOff() error
	// Close powers off and removes everything.
	Close() error
}

// Mount is one line of a node's mount table.
type Mount struct {
	Source   string // what the file system was made from, such as /dev/sda1
	Target   string // the mount point, a node path
	Root     string // what of the file system is shown; a node path if it lies in the node's tree
	FSType   string
	Device   string // major:minor
	Options  []string
	ReadOnly bool
}

// Missing is a mount that a program has taken off.
type Missing struct {
	PID    int    // of the program
	Target string // the mount point, a node path
}

// Service is one gRPC service of a socket: its description and what implements it.
type Service struct {
	Desc   *grpc.ServiceDesc
	Server any
	// Prompt promises that the server's methods never block, and change nothing of what they are
	// asked and have answered. In memory they are then called on the caller's own stack, without a
	// thread and a deadline, and with the caller's own request; the caller has their answer itself.
	Prompt bool
}

// Listener is a bound socket. Close ends it like a clean shutdown, which removes
// the socket file.
type Listener interface {
	io.Closer
	// Abandon ends it like a crash: the socket file stays behind.
	Abandon()
}

// Op says what happened to a path.
type Op int

// The two kinds of change that a plugin watcher acts on (K-REG-3).
const (
	Created Op = iota + 1
	Removed
)

func (o Op) String() string {
	switch o {
	case Created:
		return "created"
	case Removed:
		return "removed"
	}
	return "unknown"
}

// Event is one change below a watched directory.
type Event struct {
	Op       Op
	Path     string
	IsSocket bool
}
