package privatemounts

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
)

const inside = "CSISIM_TEST_PRIVATE_MOUNTS"

// Enter is for the start of a TestMain. As root it runs the test binary again in a
// new mount namespace, and exits as that does; in the namespace, and for users who
// may not have one, it returns.
func Enter() {
	if os.Geteuid() != 0 || os.Getenv(inside) != "" {
		return
	}
	runtime.LockOSThread() // the tests die with the thread that started them
	tests := exec.Command("/proc/self/exe", os.Args[1:]...)
	tests.Env = append(os.Environ(), inside+"=1")
	tests.Stdin, tests.Stdout, tests.Stderr = os.Stdin, os.Stdout, os.Stderr
	tests.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS, Pdeathsig: syscall.SIGKILL}
	err := tests.Run()
	var failed *exec.ExitError
	switch {
	case errors.As(err, &failed):
		os.Exit(max(failed.ExitCode(), 1))
	case err != nil:
		fmt.Fprintln(os.Stderr, "running the tests in a mount namespace of their own:", err)
		os.Exit(1)
	}
	os.Exit(0)
}
