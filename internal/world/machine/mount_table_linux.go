package machine

import (
	"io"
	"os"
	"sync"

	"github.com/moby/sys/mountinfo"
	"golang.org/x/sys/unix"
)

// mountTable is the mount table of a namespace. It is needed after every driver call. Therefore it
// is read again only if the kernel reports a change.
type mountTable struct {
	lock  sync.Mutex
	file  *os.File
	known []*mountinfo.Info
	stale bool // it has changed since it was read
}

// of returns the table of the thread's namespace; without a thread, that of csisim's own. It must
// be the same thread each time. Callers must not modify it. The thread itself cannot read it,
// because its root may show other processes.
func (t *mountTable) of(in *thread) ([]*mountinfo.Info, error) {
	if in != nil && in.hasStopped() {
		return nil, errStopped
	}
	t.lock.Lock()
	defer t.lock.Unlock()
	if t.file != nil && !t.stale && !t.changed() { // any thread may check
		return t.known, nil
	}
	t.stale = true
	path := "/proc/self/mountinfo"
	if in != nil {
		path = in.file("mountinfo")
	}
	err := t.read(path)
	if err != nil && in != nil && in.hasStopped() { // meanwhile
		return nil, errStopped
	}
	return t.known, err
}

func (t *mountTable) read(path string) error {
	if t.file == nil {
		// os.Open would register the file with Go's poller, which would consume the event.
		fd, err := unix.Open(path, unix.O_RDONLY|unix.O_CLOEXEC, 0)
		if err != nil {
			return &os.PathError{Op: "open", Path: path, Err: err}
		}
		t.file = os.NewFile(uintptr(fd), path)
	}
	if _, err := t.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	table, err := mountinfo.GetMountsFromReader(t.file, nil)
	if err != nil {
		return err
	}
	t.known, t.stale = table, false
	return nil
}

// changed polls the kernel, which reports each change once.
func (t *mountTable) changed() bool {
	fds := []unix.PollFd{{Fd: int32(t.file.Fd()), Events: unix.POLLPRI}}
	n, err := unix.Poll(fds, 0)
	return err != nil || n > 0
}

// close closes the file, which would otherwise keep the namespace.
func (t *mountTable) close() error {
	t.lock.Lock()
	defer t.lock.Unlock()
	if t.file == nil {
		return nil
	}
	err := t.file.Close()
	t.file, t.known, t.stale = nil, nil, false
	return err
}
