package machine

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/csisim/csisim/internal/world/nodeinit"
)

// startContained starts a program from the calling thread, which has the program's own root. The
// program becomes process 1 of a new process namespace, or runs in that of another program or of
// the machine. Children that the thread starts later are in the same process namespace.
func (r *Root) startContained(cmd *exec.Cmd, id *identity, on *ownRoot) error {
	if r.HostProcesses || on.layers.first.Load() == nil {
		if err := r.confine(); err != nil {
			return err
		}
		if err := id.apply(cmd); err != nil {
			return err
		}
		return fork(cmd)
	}
	if err := r.contain(cmd, id, on); err != nil {
		return err
	}
	return r.confine()
}

// contain starts csisim's own binary, which then executes the container's program.
func (r *Root) contain(cmd *exec.Cmd, id *identity, on *ownRoot) error {
	start := &exec.Cmd{
		Path: "/proc/self/exe", Env: []string{"GOMAXPROCS=1"}, Dir: "/", Stdin: cmd.Stdin, Stdout: cmd.Stdout, Stderr: cmd.Stderr, SysProcAttr: cmd.SysProcAttr,
	}
	as := nodeinit.Fork
	switch {
	case r.Processes != nil:
		as = nodeinit.Container
		if err := enterProcesses(r.Processes.pid); err != nil {
			return err
		}
	case cmd.SysProcAttr.Setctty:
		as = nodeinit.ForkWithTerminal
		start.SysProcAttr = &syscall.SysProcAttr{UseCgroupFD: cmd.SysProcAttr.UseCgroupFD, CgroupFD: cmd.SysProcAttr.CgroupFD}
	}
	if cmd.Path != "" {
		if err := id.apply(cmd); err != nil {
			return err
		}
	}
	start.SysProcAttr.Credential = nil // the user is changed after the processes are mounted
	program := nodeinit.ContainerProgram{User: r.userOf(id), Dir: cmd.Dir, Path: cmd.Path, Args: cmd.Args, Env: cmd.Env}
	start.Args = append([]string{as}, program.Words()...)
	reports, err := newReports()
	if err != nil {
		return err
	}
	if err := forkOn(on, start, reports.sent); err != nil {
		reports.close()
		return err
	}
	pid, err := reports.read(cmd.Path)
	reports.close() // the program ends now if it was waiting
	if as == nodeinit.Container {
		cmd.Process = start.Process
	} else {
		_ = start.Wait() // the program has reported the error
		if pid != 0 {
			cmd.Process, _ = os.FindProcess(pid) // never fails
		}
	}
	if err == nil && cmd.Process == nil {
		err = errors.New("csisim's own program ended before it was the container's")
	}
	if err != nil {
		awaitChildren() // they end by themselves
	}
	return err
}

// awaitChildren waits for all children of the calling thread, including those that were killed
// before their numbers were known. The kernel keeps a process namespace while the exit status of
// one of its processes can still be read.
func awaitChildren() {
	for {
		if _, err := unix.Wait4(-1, nil, unix.WALL|unix.WNOTHREAD, nil); err != nil && !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// forkOn starts a program of this machine from the calling thread, which has another root. The
// program has the machine's root, because its libraries may be missing or different in the thread's
// root. Its first descriptors are the files and the thread's root.
func forkOn(on *ownRoot, start *exec.Cmd, files ...*os.File) (err error) {
	root, err := os.Open("/")
	if err != nil {
		return err
	}
	defer root.Close()
	if err := enterDir(on.layers.top); err != nil {
		return fmt.Errorf("enter the machine's root: %w", err)
	}
	start.ExtraFiles = append(files, root)
	err = fork(start)
	if failed := enterDir(root); failed != nil {
		err = errors.Join(err, fmt.Errorf("enter the root again: %w", failed))
	}
	return err
}

// enterDir makes a directory the root of the calling thread.
func enterDir(dir *os.File) error {
	if err := unix.Fchdir(int(dir.Fd())); err != nil {
		return err
	}
	return unix.Chroot(".")
}

// userOf returns the user of the root's program, and the privileges that it lacks.
func (r *Root) userOf(id *identity) nodeinit.ContainerUser {
	return nodeinit.ContainerUser{
		UID: id.uid, GID: id.gid, Groups: id.groups, One: id.oneUser, Dropped: r.dropped(), NoNewPrivileges: r.NoNewPrivileges, Keys: r.Privileged,
	}
}

// reports is a socket on which a program reports its progress while it becomes a container's
// program.
type reports struct {
	socket int
	sent   *os.File
}

func newReports() (*reports, error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socketpair", err)
	}
	r := &reports{socket: pair[0], sent: os.NewFile(uintptr(pair[1]), "report")}
	if err := unix.SetsockoptInt(r.socket, unix.SOL_SOCKET, unix.SO_PASSCRED, 1); err != nil {
		r.close()
		return nil, os.NewSyscallError("setsockopt", err)
	}
	return r, nil
}

func (r *reports) close() {
	_ = r.sent.Close() // it may be closed already
	_ = unix.Close(r.socket)
}

// read returns when the program has become the container's, or an error if it failed. pid is the
// program's number outside its process namespace, taken from the sender of its report. From then
// on, the calling thread's children are in that namespace.
func (r *reports) read(path string) (pid int, err error) {
	_ = r.sent.Close() // otherwise reads would never return the end
	for {
		var said nodeinit.Report
		sender := make([]byte, unix.CmsgSpace(unix.SizeofUcred))
		n, control, _, _, err := unix.Recvmsg(r.socket, said[:], sender, 0)
		switch {
		case errors.Is(err, unix.EINTR):
			continue
		case err != nil || n == 0:
			return pid, err
		case said[0] == nodeinit.Beginning:
			if pid, err = senderOf(sender[:control]); err == nil {
				err = enterProcesses(pid)
			}
			if err == nil {
				_, err = unix.Write(r.socket, []byte{0})
			}
			if err != nil {
				return pid, err
			}
		default:
			return pid, reported(said, path)
		}
	}
}

// senderOf returns the number of the process that sent a message.
func senderOf(control []byte) (int, error) {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil || len(messages) != 1 {
		return 0, fmt.Errorf("a report without its sender: %w", errors.Join(err, unix.EBADMSG))
	}
	from, err := unix.ParseUnixCredentials(&messages[0])
	if err != nil {
		return 0, err
	}
	return int(from.Pid), nil
}

// reported returns the error of a program that could not become the container's.
func reported(said nodeinit.Report, path string) error {
	number := syscall.Errno(said[1])
	switch said[0] {
	case nodeinit.Forking:
		return fmt.Errorf("make a process namespace: %w", number)
	case nodeinit.EnteringRoot:
		return fmt.Errorf("enter the container's root: %w", number)
	case nodeinit.ShowingProcesses:
		return fmt.Errorf("show the container's processes: %w", number)
	case nodeinit.GivingUp:
		return fmt.Errorf("become the container's user: %w", number)
	}
	return &os.PathError{Op: "fork/exec", Path: path, Err: number}
}

// enterProcesses places later children of this thread in the process namespace of a program.
func enterProcesses(pid int) error {
	fd, err := unix.PidfdOpen(pid, 0)
	if err == nil {
		err = unix.Setns(fd, unix.CLONE_NEWPID)
		_ = unix.Close(fd)
	}
	if err != nil {
		return fmt.Errorf("enter the process namespace: %w", err)
	}
	return nil
}

// dropped has a bit for each capability that the root's programs must not have.
func (r *Root) dropped() (bits uint64) {
	for number, name := range Capabilities {
		if !r.has(name) {
			bits |= 1 << number
		}
	}
	return bits
}
