package machine

import (
	"io"
	"os"
	"sync"

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"
)

// mountTable is the mount table of a namespace. It is read anew only when the kernel
// says that it has changed: it is asked for after every call of a driver.
type mountTable struct {
	lock  sync.Mutex
	file  *os.File
	known []*mountinfo.Info
}

// read returns the table of the calling thread's namespace, which is the same each
// time. It must not be changed.
func (t *mountTable) read() ([]*mountinfo.Info, error) {
	t.lock.Lock()
	defer t.lock.Unlock()
	if t.file == nil {
		// os.Open would have Go's own poller watch the file, and be told instead of us.
		const path = "/proc/thread-self/mountinfo"
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return nil, &os.PathError{Op: "open", Path: path, Err: err}
		}
		t.file = os.NewFile(uintptr(fd), path)
	} else if !t.changed() {
		return t.known, nil
	}
	if _, err := t.file.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	table, err := mountinfo.GetMountsFromReader(t.file, nil)
	if err != nil {
		return nil, err
	}
	t.known = table
	return table, nil
}

// changed asks the kernel, which says so once for each time that it was asked.
func (t *mountTable) changed() bool {
	fds := []unix.PollFd{{Fd: int32(t.file.Fd()), Events: unix.POLLPRI}}
	n, err := unix.Poll(fds, 0)
	return err != nil || n > 0
}

// close lets go of the namespace, which would not vanish otherwise.
func (t *mountTable) close() error {
	t.lock.Lock()
	defer t.lock.Unlock()
	if t.file == nil {
		return nil
	}
	err := t.file.Close()
	t.file, t.known = nil, nil
	return err
}
