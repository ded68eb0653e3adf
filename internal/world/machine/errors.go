package machine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/csisim/csisim/internal/world/namespaces"
)

// ErrNoPermission is returned if the host permits this user neither to mount nor to create
// namespaces. The error that wraps it names the attempt and a remedy.
var ErrNoPermission = errors.New("no permission")

// maxSocketPath is the longest path of a unix socket in bytes: the size of the kernel's field minus
// the final zero.
const maxSocketPath = len(syscall.RawSockaddrUnix{}.Path) - 1

// SocketPathError is returned if a socket's path on the host is too long.
type SocketPathError struct {
	Path string // on the host
}

func (e *SocketPathError) Error() string {
	return fmt.Sprintf("the path of socket %s is %d bytes long and the limit is %d: choose a shorter work directory",
		e.Path, len(e.Path), maxSocketPath)
}

// needsRoot names the cause if an operation that needs CAP_SYS_ADMIN is not permitted.
func needsRoot(tried string, err error) error {
	if !errors.Is(err, fs.ErrPermission) && !errors.Is(err, syscall.ENOSPC) {
		return err
	}
	if refusal := namespaces.Refused(); refusal != nil {
		return fmt.Errorf("%s: %w: %w: %w", tried, ErrNoPermission, err, refusal)
	}
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("%s: %w: %w", tried, ErrNoPermission, err)
	}
	return err
}

// nodeError replaces host paths by node paths in an error.
func (d *Disk) nodeError(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return &fs.PathError{Op: path.Op, Path: d.NodePath(path.Path), Err: path.Err}
	}
	var link *os.LinkError
	if errors.As(err, &link) {
		return &os.LinkError{Op: link.Op, Old: d.NodePath(link.Old), New: d.NodePath(link.New), Err: link.Err}
	}
	return err
}
