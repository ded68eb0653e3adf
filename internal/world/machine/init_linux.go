package machine

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/csisim/csisim/internal/world/nodeinit"
)

// firstProcess is process 1 of a machine. All programs of the machine are in its process namespace:
// they see only each other, process 1 adopts orphans, and all programs end with process 1. It ends
// with csisim. A process that enters its mount namespace is on the machine.
type firstProcess struct {
	cmd       *exec.Cmd
	ended     chan struct{}
	closing   atomic.Bool
	once      sync.Once // it is ended
	hold      *os.File  // process 1 lasts until this is closed
	answers   *os.File
	namespace *os.File // of its processes
	processes *os.File // the directory that shows the processes
}

// startFirst starts process 1, which mounts its processes in root/proc. root will be the machine's
// root directory, and proc shows csisim's own processes. Process 1 ends at the latest with the
// calling thread. startFirst fails if csisim may not create process namespaces, or may not inspect
// them.
func startFirst(root, proc string) (*firstProcess, error) {
	held, hold, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer held.Close()
	answers, answered, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, hold.Close())
	}
	defer answered.Close()
	f := &firstProcess{hold: hold, answers: answers, ended: make(chan struct{})}
	for _, path := range firstPrograms() {
		f.cmd = &exec.Cmd{
			Path: proc + path, Args: []string{nodeinit.Name}, Env: []string{"GOMAXPROCS=1"}, Dir: root, Stdin: held, Stdout: answered,
			SysProcAttr: &syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWPID, Pdeathsig: syscall.SIGKILL, Setsid: true},
		}
		if err = fork(f.cmd); err == nil {
			break
		}
	}
	if err != nil {
		return nil, errors.Join(err, hold.Close(), answers.Close())
	}
	go f.await()
	_ = answered.Close() // otherwise reads would never return its end
	err = f.answer("show the machine's processes")
	if err == nil {
		f.namespace, err = os.Open(fmt.Sprintf("%s/%d/ns/pid", proc, f.cmd.Process.Pid))
	}
	if err == nil {
		f.processes, err = os.Open(root + "/proc")
	}
	if err != nil {
		return nil, errors.Join(err, f.end())
	}
	return f, nil
}

// firstPrograms are the programs that can be process 1, the preferred one first, by their paths
// below /proc. The small one needs an executable file in memory.
var firstPrograms = sync.OnceValue(func() []string {
	const own = "/self/exe"
	small, err := inMemory(nodeinit.Name, nodeinit.First())
	if err != nil {
		return []string{own}
	}
	return []string{fmt.Sprintf("/self/fd/%d", small), own}
})

// inMemory opens an executable file in memory with some content, sealed against changes.
func inMemory(name string, content []byte) (fd int, err error) {
	if content == nil {
		return 0, errors.ErrUnsupported
	}
	const flags = unix.MFD_CLOEXEC | unix.MFD_ALLOW_SEALING
	fd, err = unix.MemfdCreate(name, flags|unix.MFD_EXEC)
	if errors.Is(err, unix.EINVAL) { // older kernels lack MFD_EXEC
		fd, err = unix.MemfdCreate(name, flags)
	}
	if err != nil {
		return 0, err
	}
	if _, err = unix.Write(fd, content); err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SEAL|unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_WRITE)
	}
	if err != nil {
		return 0, errors.Join(err, unix.Close(fd))
	}
	return fd, nil
}

// enterRoot makes process 1 enter the machine's current root.
func (f *firstProcess) enterRoot() error {
	if _, err := f.hold.Write([]byte{0}); err != nil {
		return err
	}
	return f.answer("enter the machine's root")
}

func (f *firstProcess) answer(to string) error {
	var answer nodeinit.Answer
	if _, err := io.ReadFull(f.answers, answer[:]); err != nil {
		return fmt.Errorf("%s: process 1 of the machine has ended: %w", to, err)
	}
	if answer[0] != 0 {
		return fmt.Errorf("%s: %w", to, syscall.Errno(answer[0]))
	}
	return nil
}

// adopt places later children of the calling thread in the machine's process namespace.
func (f *firstProcess) adopt() error {
	if err := unix.Setns(int(f.namespace.Fd()), unix.CLONE_NEWPID); err != nil {
		return fmt.Errorf("enter the process namespace: %w", err)
	}
	return nil
}

// await waits for the end of process 1.
func (f *firstProcess) await() {
	_ = f.cmd.Wait() // the process state has more information than the error
	close(f.ended)
}

// end ends process 1, and with it all processes of the machine.
func (f *firstProcess) end() (err error) {
	f.once.Do(func() { err = f.endOnce() })
	return err
}

func (f *firstProcess) endOnce() error {
	f.closing.Store(true)
	_ = f.cmd.Process.Kill() // it may already have exited
	<-f.ended
	err := errors.Join(f.hold.Close(), f.answers.Close())
	for _, opened := range []*os.File{f.namespace, f.processes} {
		if opened != nil {
			err = errors.Join(err, opened.Close())
		}
	}
	return err
}

// others returns the number of processes besides process 1.
func (f *firstProcess) others() (number int, err error) {
	dir, err := unix.Openat(int(f.processes.Fd()), ".", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	defer func() { _ = unix.Close(dir) }()
	var entries [8 << 10]byte
	for {
		n, err := unix.Getdents(dir, entries[:])
		if n <= 0 || err != nil {
			return number - 1, err
		}
		for rest := entries[:n]; len(rest) > 0; {
			const length, name = 16, 19 // offsets in struct linux_dirent64
			if first := rest[name]; '0' <= first && first <= '9' {
				number++
			}
			rest = rest[binary.NativeEndian.Uint16(rest[length:]):]
		}
	}
}
