package machine

import (
	"errors"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// changes observes each change that a program makes to a file before it takes effect. The kernel
// notifies a listener of seccomp(2) and waits for the response. It lasts as long as the program.
type changes struct {
	listener int
	unsynced *unsynced    // nil if they are not tracked
	loops    *loopDevices // nil if they are not tracked
	lost     *lostFiles   // nil if there are none
	lookups  bool         // calls that change nothing are seen, too

	// fuse is set when the program or a child has mounted a FUSE file system. A lookup of a file
	// may then need a daemon, and the daemon's calls are observed, too.
	fuse atomic.Bool
	turn sync.Mutex // locked while a call is handled

	mu     sync.Mutex
	hold   *Hold          // nil if the program must not stop
	inUse  *inUse         // nil unless some mounts must count as in use
	watch  *CallWatch     // nil if no watch is active
	opened map[string]int // how often files were opened, by path; nil if this is not counted
}

// inUse makes the program's mounts count as in use.
type inUse struct {
	refused bool // an unmount was refused
	// The target of a lazy unmount, which succeeds while the mount is in use; empty if there is
	// none.
	lazily string
}

// follow observes changes of files by the calling thread's children, notes unsynced files, and
// records lookups of lost files. It returns nil if that is not permitted, or if the system or its
// processor is not supported.
func follow(unsynced *unsynced, loops *loopDevices, lost *lostFiles, seesLookups bool) *changes {
	arch, known := architectures[runtime.GOARCH]
	if !known {
		return nil
	}
	calls := changesOfFiles
	switch {
	case seesLookups:
		calls = slices.Concat(lookups, usesOfFiles, changesOfFiles)
	case lost != nil:
		calls = slices.Concat(lookups, changesOfFiles)
	}
	filter := changesFilter(arch, calls)
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	flags := uintptr(unix.SECCOMP_FILTER_FLAG_NEW_LISTENER | unix.SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV)
	fd, _, err := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&program)))
	if err != 0 {
		return nil
	}
	c := &changes{listener: int(fd), unsynced: unsynced, loops: loops, lost: lost, lookups: lost != nil || seesLookups}
	if seesLookups {
		c.opened = map[string]int{}
	}
	// Wakes the calling program on the listener's processor. Older kernels lack this flag.
	_, _, _ = unix.Syscall(unix.SYS_IOCTL, fd, unix.SECCOMP_IOCTL_NOTIF_SET_FLAGS, unix.SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP)
	go c.serve()
	return c
}

// notification is struct seccomp_notif: a system call that waits for a response.
type notification struct {
	id     uint64
	pid    uint32 // of the thread
	_      uint32
	number int32
	_      uint32
	_      uint64
	args   [6]uint64
}

// response is struct seccomp_notif_resp.
type response struct {
	id    uint64
	_     int64
	error int32 // negative
	flags uint32
}

// serve responds to notifications until no process is left that could send any.
func (c *changes) serve() {
	defer func() { _ = unix.Close(c.listener) }()
	for {
		waiting := []unix.PollFd{{Fd: int32(c.listener), Events: unix.POLLIN}}
		if _, err := unix.Poll(waiting, -1); errors.Is(err, unix.EINTR) {
			continue
		}
		if waiting[0].Revents&unix.POLLIN == 0 {
			return
		}
		var n notification
		if c.ioctl(unix.SECCOMP_IOCTL_NOTIF_RECV, unsafe.Pointer(&n)) != 0 {
			continue // the caller is dead
		}
		if c.fuse.Load() {
			go c.respond(&n)
		} else {
			c.respond(&n)
		}
	}
}

// respond allows, holds or refuses a call. It immediately allows a call of a FUSE daemon if it
// examines another call, because the examination may need the daemon.
func (c *changes) respond(n *notification) {
	if !c.turn.TryLock() {
		if n.servesFUSE() {
			c.goOn(n.id)
			return
		}
		c.turn.Lock()
	}
	defer c.turn.Unlock()
	c.lost.see(n)
	switch {
	case c.failsBroken(n):
	case c.lookups && !n.isChange():
		c.note(n)
		c.goOn(n.id)
	default:
		c.see(n)
	}
}

// see allows, holds or refuses a call.
func (c *changes) see(n *notification) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.inUse != nil && !c.inUse.refused && n.unmounts(false):
		c.inUse.refused = true
		c.answer(response{id: n.id, error: -int32(unix.EBUSY)})
		return
	case c.inUse != nil && n.unmounts(true):
		c.inUse.lazily = n.pathOf(spot{path: 1})
	}
	switch {
	case c.isOfDaemon(n):
		c.make(n)
	case c.hold != nil && c.hold.meets(n):
		c.hold.id = n.id
		close(c.hold.reached)
		c.hold = nil
	case c.watch != nil:
		c.show(n)
	default:
		c.make(n)
	}
}

// isOfDaemon reports whether a FUSE daemon that the program has started makes a call. Such a call
// serves a container, which would wait while the call is held.
func (c *changes) isOfDaemon(n *notification) bool {
	var program *Process
	switch {
	case c.hold != nil:
		program = c.hold.of
	case c.watch != nil:
		program = c.watch.of
	}
	return program != nil && c.fuse.Load() && !program.hasThread(n.pid) && (program.leftSession(n.pid) || n.servesFUSE())
}

// make allows a call.
func (c *changes) make(n *notification) {
	if n.mountsFUSE() {
		c.fuse.Store(true)
	}
	c.unsynced.note(n)
	c.loops.note(n)
	c.goOn(n.id)
}

// show passes a call to the watch, which decides on it.
func (c *changes) show(n *notification) {
	call := n.systemCall()
	if call == nil {
		c.make(n)
		return
	}
	outcome := c.watch.decide(*call)
	if outcome == made && call.begins {
		outcome = c.showWrite(n, *call)
	}
	switch outcome {
	case made:
		c.make(n)
	case fails:
		c.answer(response{id: n.id, error: -int32(c.watch.interference.Fails)})
	case waits:
		c.watch.held = n.id
		close(c.watch.reached)
	}
}

// showWrite passes to the watch the first write to a file that a call is about to create or
// truncate. If the program must stop before that write, csisim itself creates or truncates the
// file.
func (c *changes) showWrite(n *notification, call SystemCall) outcome {
	call.Name, call.Makes = Write, false
	outcome := c.watch.decide(call)
	if outcome == waits {
		file := fileOf(n)
		defer file.close()
		_ = file.begin() // if csisim cannot create it, the program cannot either
	}
	return outcome
}

// meets counts the changes of a call, and reports whether the call must wait.
func (h *Hold) meets(n *notification) bool {
	weight := n.weight()
	file := fileOf(n)
	if file != nil {
		defer file.close()
		weight = file.weight()
	}
	switch {
	case weight == 0:
		return false
	case h.left == 0:
		return true
	case weight == 2 && h.left == 1: // between the file's creation and its content
		return file.begin() == nil
	}
	h.left -= weight
	return false
}

func (c *changes) arm(h *Hold) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hold = h
}

func (c *changes) release(h *Hold) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hold == h {
		c.hold = nil
	}
	if h.id != 0 {
		c.letGo(h.id, h.of)
		h.id = 0
	}
}

func (c *changes) watchBy(w *CallWatch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.watch = w
}

func (c *changes) seenBy(w *CallWatch) []SystemCall {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(w.seen)
}

func (c *changes) endWatch(w *CallWatch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watch == w {
		c.watch = nil
	}
	if w.held != 0 {
		c.letGo(w.held, w.of)
		w.held = 0
	}
}

func (c *changes) refuseUnmount() (end func() (refused bool, lazily string)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	use := &inUse{}
	c.inUse = use
	return func() (bool, string) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.inUse == use {
			c.inUse = nil
		}
		return use.refused, use.lazily
	}
}

func (c *changes) goOn(id uint64) {
	c.answer(response{id: id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE})
}

// letGo releases a waiting call. If the program was killed, the call must not take effect, although
// a killed process may not have exited yet. Therefore the call is refused, as are calls of the
// program's children.
func (c *changes) letGo(id uint64, of *Process) {
	if of.hasEnded() {
		c.answer(response{id: id, error: -int32(unix.EINTR)})
		return
	}
	c.goOn(id)
}

// answer responds to a call. If the caller is dead, the response has no effect.
func (c *changes) answer(r response) {
	c.ioctl(unix.SECCOMP_IOCTL_NOTIF_SEND, unsafe.Pointer(&r))
}

func (c *changes) ioctl(request uintptr, argument unsafe.Pointer) unix.Errno {
	_, _, err := unix.Syscall(unix.SYS_IOCTL, uintptr(c.listener), request, uintptr(argument))
	return err
}
