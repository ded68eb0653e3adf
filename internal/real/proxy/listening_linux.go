package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// listening is the socket of a driver in another container of the pod. The proxy can observe that
// container's processes. The kubelet restarts its container.
type listening string

// start reports whether the driver serves.
func (l listening) start() error {
	conn, err := net.Dial("unix", string(l))
	if err == nil {
		err = conn.Close()
	}
	return err
}

func (l listening) kill() error { return l.end(unix.SIGKILL) }
func (l listening) stop() error { return l.end(unix.SIGTERM) }

// killTime bounds how long a process may exist after SIGKILL, because a process that waits for a
// device does not end.
const killTime = 10 * time.Second

// end ends the listening process, if there is one.
func (l listening) end(signal syscall.Signal) error {
	pid, err := l.process()
	if err != nil || pid == 0 {
		return err
	}
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		err := unix.Kill(pid, signal)
		switch {
		case errors.Is(err, unix.ESRCH) || isOver(pid):
			return nil
		case err != nil:
			return fmt.Errorf("end the driver, process %d: %w", pid, err)
		case time.Since(began) > stopTime+killTime:
			return fmt.Errorf("end the driver, process %d: it is still there after SIGKILL", pid)
		case time.Since(began) > stopTime:
			signal = unix.SIGKILL
		case signal != unix.SIGKILL:
			signal = 0 // only wait: the process has already received the signal
		}
	}
}

// process returns the number of the listening process; 0 if there is none.
func (l listening) process() (pid int, err error) {
	conn, err := net.Dial("unix", string(l))
	if errors.Is(err, unix.ECONNREFUSED) || errors.Is(err, unix.ENOENT) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	raw, err := conn.(*net.UnixConn).SyscallConn()
	if err != nil {
		return 0, err
	}
	var peer *unix.Ucred
	var failed error
	if err := raw.Control(func(fd uintptr) { peer, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); err != nil {
		return 0, err
	}
	switch {
	case failed != nil:
		return 0, fmt.Errorf("find the process that listens at %s: %w", string(l), failed)
	case peer.Pid <= 0:
		return 0, fmt.Errorf("the process that listens at %s is not seen: the pod does not share its processes", string(l))
	}
	return int(peer.Pid), nil
}

// stateOf returns the state of a process: the letter after its name in brackets.
func stateOf(pid int) (byte, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	after := bytes.LastIndex(text, []byte(") "))
	if after < 0 || after+2 >= len(text) {
		return 0, fmt.Errorf("process %d has no state", pid)
	}
	return text[after+2], nil
}

// isOver reports whether a process has ended and waits for its parent.
func isOver(pid int) bool {
	state, err := stateOf(pid)
	return err != nil || state == 'Z' || state == 'X'
}
