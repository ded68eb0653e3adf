// Package machine provides the computer of a simulated node: its directory tree, its mount table,
// its sockets and its programs. A node can exist in memory, in a directory on disk, or in a
// separate mount namespace.
package machine

import (
	"io"
	"io/fs"

	"google.golang.org/grpc"
)

// Machine is the computer of one simulated node. All paths are absolute paths of the node
// ("/var/lib/kubelet/pods/..."). Errors have the form of package os: they satisfy fs.ErrNotExist
// and fs.ErrExist, and contain the syscall.Errno that Linux returns (ENOTEMPTY, EBUSY, EROFS, ...).
type Machine interface {
	// Name is the name of the node.
	Name() string
	// Layout returns the place of the kubelet's directory. If the kubelet's own path is a symlink,
	// the Machine also uses it in paths that it returns.
	Layout() Layout

	Mkdir(path string, perm fs.FileMode) error
	MkdirAll(path string, perm fs.FileMode) error
	WriteFile(path string, data []byte, perm fs.FileMode) error
	ReadFile(path string) ([]byte, error)
	// ReadEnd returns the last bytes of a file, at most that many.
	ReadEnd(path string, most int64) ([]byte, error)
	// Remove unlinks a file or removes an empty directory. A directory with entries returns
	// ENOTEMPTY, a mount point EBUSY.
	Remove(path string) error
	// RemoveAll removes path and everything below it, but never enters a mount. It keeps every
	// mount point, and returns EBUSY if it found a mount point. A missing path is no error.
	RemoveAll(path string) error
	// ReadDir lists a directory, sorted by name.
	ReadDir(path string) ([]fs.DirEntry, error)
	// Lstat describes path itself, even if it is a symlink. The FileInfo's Sys is
	// a *syscall.Stat_t, which has the owner.
	Lstat(path string) (fs.FileInfo, error)
	// Chmod sets the permissions and the setuid, setgid and sticky bits of the file that path leads
	// to.
	Chmod(path string, mode fs.FileMode) error
	// Lchown changes the user and group of path itself, even if it is a symlink; -1 leaves either
	// unchanged.
	Lchown(path string, uid, gid int) error
	Symlink(target, link string) error
	// Relink makes link point to target, even if link is already a symlink. Concurrent readers find
	// the old or the new target. Any other file there returns EEXIST.
	Relink(target, link string) error
	Readlink(path string) (string, error)
	EvalSymlinks(path string) (string, error)

	// Mounts lists the mounts in the node's own tree, sorted by target. If two mounts have the same
	// target, the covering mount is last.
	Mounts() ([]Mount, error)
	// Missing lists the mounts that running programs found at their start and have unmounted only
	// for themselves. Each program has its own mount table, except below the kubelet's directory.
	Missing() ([]Missing, error)
	// IsMountPoint reports whether there is a mount at path; a missing path returns fs.ErrNotExist.
	IsMountPoint(path string) (bool, error)
	// MountsAt counts the stacked mounts at path. A missing path has none.
	MountsAt(path string) (int, error)
	// References lists the other mount points of the file or directory that is mounted at path,
	// sorted. A missing path, or a path that is not a mount point, has none.
	References(path string) ([]string, error)
	// BindMount shows source at target, without the mounts below source. Both must exist. Either
	// both or neither must be directories.
	BindMount(source, target string, readOnly bool) error
	// Unmount removes the topmost mount at target. It returns EINVAL if there is none, and EBUSY if
	// something is mounted below it.
	Unmount(target string) error

	// BindSocket serves gRPC services at a unix socket. Missing parent directories are made with
	// mode 0700. If the file exists, even as the leftover of a killed server, it returns
	// EADDRINUSE.
	BindSocket(path string, services ...Service) (Listener, error)
	// DialSocket returns a client of the server that is at path at the time of each call. The dial
	// itself never fails because of a missing server. Calls then immediately return code
	// Unavailable, with the message of a real gRPC client.
	DialSocket(path string) (grpc.ClientConnInterface, io.Closer, error)
	// Watch reports files that appear and disappear below dir, at any depth, starting with the
	// existing ones. Changes made through the Machine are reported before the call that makes them
	// returns.
	Watch(dir string, onEvent func(Event)) (stop func(), err error)

	// Start runs a program on this machine.
	Start(Command) (*Process, error)
	// Strays lists the processes that running programs have started.
	Strays() ([]Stray, error)
	// Path returns the path that csisim itself uses, outside the node.
	Path(path string) string
	// ProgramPath returns the path that a program of this machine uses.
	ProgramPath(path string) string
	// NodePath is the inverse of Path.
	NodePath(path string) string
	// PowerOff kills all programs and servers and drops all mounts. Files remain, including those
	// of sockets, except for writes that are known to be unsynced.
	PowerOff() error
	// Close powers off and removes all files.
	Close() error
}

// Mount is one line of a node's mount table.
type Mount struct {
	Source string // the device of the file system, such as /dev/sda1
	Target string // the mount point, a node path
	// The part of the file system that is shown. It is a node path if it is in the node's tree.
	Root     string
	FSType   string
	Device   string // major:minor
	Options  []string
	ReadOnly bool
}

// Missing is a mount that a program has unmounted.
type Missing struct {
	PID    int    // of the program
	Target string // the mount point, a node path
}

// Service is one gRPC service of a socket: its description and implementation.
type Service struct {
	Desc   *grpc.ServiceDesc
	Server any
	// Prompt promises that the server's methods never block, and never modify their requests and
	// returned responses. In memory they are then called on the caller's own stack, without a
	// thread or a deadline. They get the caller's request itself, and the caller receives the
	// response itself.
	Prompt bool
}

// Listener is a bound socket. Close ends it like a clean shutdown, which removes
// the socket file.
type Listener interface {
	io.Closer
	// Abandon ends it like a crash: the socket file stays behind.
	Abandon()
}

// Op is a kind of change to a path.
type Op int

// The two kinds of change that a plugin watcher handles (K-REG-3).
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
