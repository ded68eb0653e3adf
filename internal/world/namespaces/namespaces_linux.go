package namespaces

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

type set struct {
	names []string
	flags uintptr
}

// sets are the namespaces to try, the best first. Root needs no user namespace. In a container,
// mounting the /proc of a new process namespace may not be permitted.
var sets = []set{
	{[]string{"mount", "pid"}, unix.CLONE_NEWNS | unix.CLONE_NEWPID},
	{[]string{"user", "mount", "pid"}, unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID},
	{[]string{"mount"}, unix.CLONE_NEWNS},
	{[]string{"user", "mount"}, unix.CLONE_NEWUSER | unix.CLONE_NEWNS},
}

// timerSlack bounds the lateness of timers in the second run and its children. With the kernel's
// default of 50 µs, runs with driver programs use a tenth of their processor time in threads of
// Go's runtimes that wake up every 20 µs.
const timerSlack = 300 * time.Microsecond

// refused is the failed attempt of Again; nil if it did not fail.
var refused error

// Again runs this program again, with the same arguments, in the best namespaces that the machine
// permits. It returns the exit code. After a signal, this is the code that a shell would return. It
// forwards the signal that ends ctx. If this process is killed, the program is killed, too.
func Again(ctx context.Context, o Options) (code int, err error) {
	permitted := slices.Clone(sets)
	var as *user
	if o.Rootless {
		as = &user{idIn("SUDO_UID"), idIn("SUDO_GID")}
		permitted = slices.DeleteFunc(permitted, func(s set) bool { return s.flags&unix.CLONE_NEWUSER == 0 })
	}
	if o.Network == nil {
		return againIn(ctx, permitted, as, nil)
	}
	for i, s := range permitted {
		permitted[i] = set{append(slices.Clone(s.names), network), s.flags | unix.CLONE_NEWNET}
	}
	return againIn(ctx, permitted, as, o.Network.reached())
}

// user is an ordinary user of the machine.
type user struct{ uid, gid int }

// idIn returns the number in an environment variable; 65534 if it is not set.
func idIn(variable string) int {
	const nobody = 65534
	if id, err := strconv.Atoi(os.Getenv(variable)); err == nil && id > 0 {
		return id
	}
	return nobody
}

// againIn is Again in one of several sets of namespaces. Unless as is nil, the program runs as
// another user. In a separate network, the program can reach some addresses of the machine.
func againIn(ctx context.Context, sets []set, as *user, reached []string) (code int, err error) {
	runtime.LockOSThread() // the program is killed with the thread that starts it
	defer runtime.UnlockOSThread()
	// If this call fails, the program's timers are as precise as usual.
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(timerSlack), 0, 0, 0)
	// Without this call, programs find the keys of the user's session. Some kernels lack keyrings,
	// though.
	_, _, _ = unix.Syscall(unix.SYS_KEYCTL, unix.KEYCTL_JOIN_SESSION_KEYRING, 0, 0)
	var tried []error
	for _, set := range sets {
		if ctx.Err() != nil {
			return InterruptedCode(ctx), nil
		}
		program := again(set.names, set.flags, as)
		err := runUninterrupted(ctx, program, reached)
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) && program.ProcessState == nil {
			tried = append(tried, fmt.Errorf("%s: %w", strings.Join(set.names, ", "), err))
			continue
		}
		if code := program.ProcessState.ExitCode(); code != exitUnable {
			return exitCode(program.ProcessState), nil
		}
		tried = append(tried, fmt.Errorf("%s: they cannot be completed", strings.Join(set.names, ", ")))
	}
	refused = fmt.Errorf("%w: %w", ErrNotPermitted, errors.Join(tried...))
	return 0, refused
}

func again(names []string, flags uintptr, as *user) *exec.Cmd {
	// ctx does not end the program, because a program without a handler would lose the signal.
	program := exec.Command("/proc/self/exe", os.Args[1:]...)
	program.Args[0] = os.Args[0]
	program.Env = append(os.Environ(), variable+"="+strings.Join(names, ","))
	program.Stdin, program.Stdout, program.Stderr = os.Stdin, os.Stdout, os.Stderr
	// A separate group, so that it gets an interrupt from the terminal only through this process.
	program.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flags, Pdeathsig: syscall.SIGKILL, Setpgid: true}
	if flags&unix.CLONE_NEWUSER != 0 {
		program.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{HostID: os.Geteuid(), Size: 1}}
		program.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{HostID: os.Getegid(), Size: 1}}
	}
	if as != nil {
		program.SysProcAttr.UidMappings[0].HostID, program.SysProcAttr.GidMappings[0].HostID = as.uid, as.gid
		program.SysProcAttr.GidMappingsEnableSetgroups = true
		program.SysProcAttr.Credential = &syscall.Credential{} // without root's groups
	}
	return program
}

// listening is the descriptor of a pipe that the program closes when it handles signals.
const listening = 3

// runUninterrupted runs a program and forwards the signal that ends ctx as soon as the program
// handles signals, because the first process of a namespace never receives a signal without a
// handler.
func runUninterrupted(ctx context.Context, program *exec.Cmd, reached []string) error {
	listens, held, err := os.Pipe()
	if err != nil {
		return err
	}
	defer listens.Close()
	program.ExtraFiles = []*os.File{held}
	bridge, err := openBridge(program, reached)
	if err != nil {
		_ = held.Close()
		return err
	}
	defer bridge.close()
	err = program.Start()
	_ = held.Close() // the program has its own copy
	bridge.started()
	if err != nil {
		return err
	}
	ended := make(chan struct{})
	handed := make(chan struct{})
	go func() {
		defer close(handed)
		select {
		case <-ctx.Done():
			_, _ = listens.Read(make([]byte, 1)) // the program closes it, at its end at the latest
			_ = program.Process.Signal(signalOf(ctx))
		case <-ended:
		}
	}()
	err = program.Wait()
	close(ended)
	<-handed
	return err
}

// arrived closes the pipe: this process handles signals.
func arrived() { _ = unix.Close(listening) }

// exitCode returns the exit code of a program; like in a shell, 128 plus the signal after a signal.
func exitCode(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}

// settle separates the mounts from the host's mounts. If there is a new process namespace, it
// mounts the processes of that namespace.
func settle() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	if slices.Contains(entered, network) {
		if err := enterNetwork(); err != nil {
			return err
		}
	}
	if !slices.Contains(entered, "pid") {
		return nil
	}
	outside, err := os.Readlink("/proc/self") // /proc still shows the old namespace
	if err != nil {
		return err
	}
	if pid, err = strconv.Atoi(outside); err != nil {
		return err
	}
	return unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
}

// Rootless reports whether this process is root only in a user namespace. Then it may mount, but
// cannot use loop devices, create device nodes or change owners.
func Rootless() bool {
	ids := userIDs()
	return ids != nil && !slices.Equal(ids, []string{"0", "0", "4294967295"})
}

// Limits returns the reason why this process is root only in a user namespace; empty if it is not.
func Limits() string {
	ids := userIDs()
	switch {
	case !Rootless():
		return ""
	case len(ids) > 1 && ids[1] == "0":
		return "root has no CAP_SYS_ADMIN here, but in a user namespace"
	}
	return "not root, but in a user namespace"
}

// userIDs returns the user ids inside the user namespace with those outside.
func userIDs() []string {
	ids, _ := os.ReadFile("/proc/self/uid_map")
	return strings.Fields(string(ids))
}
