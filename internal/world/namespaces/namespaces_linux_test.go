package namespaces

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/namespaces/seccomptest"
)

const role = "NAMESPACES_TEST_ROLE"

// TestMain makes this binary run itself again if its environment has a role, and then plays the
// role.
func TestMain(m *testing.M) {
	if os.Getenv(role) == "" {
		os.Exit(m.Run())
	}
	switch os.Getenv(role) {
	case "is confined":
		if err := seccomptest.Filter(); err != nil {
			panic(err)
		}
		fallthrough
	case "is free":
		fmt.Println(Refused().Cause)
		os.Exit(0)
	}
	ctx, _ := Interruptible(context.Background())
	Arrive()
	if !Entered() {
		code, err := Again(ctx, options())
		if err != nil {
			fmt.Println(err)
			code = 99
		}
		os.Exit(code)
	}
	play(os.Getenv(role))
	<-ctx.Done()
	os.Exit(InterruptedCode(ctx))
}

func play(role string) {
	switch role {
	case "dials":
		playDials()
		os.Exit(0)
	case "exits":
		os.Exit(7)
	case "asks":
		fmt.Println(Refused() == nil)
		os.Exit(0)
	case "starts":
		slack, err := exec.Command("cat", "/proc/self/timerslack_ns").CombinedOutput()
		fmt.Print(string(slack), err)
		os.Exit(0)
	case "tells":
		fmt.Printf("uid %d, alone %t, marked %t, rootless %t\n", os.Getuid(), alone(), os.Getenv(variable) != "", Rootless())
		os.Exit(0)
	case "waits":
		child := exec.Command("sleep", "1000")
		child.Env = []string{"PATH=" + os.Getenv("PATH")}
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := child.Start(); err != nil {
			fmt.Println(err)
		}
		fmt.Println("waiting as", PID())
	}
}

// alone reports whether the process namespace has only this process.
func alone() bool {
	others, err := filepath.Glob("/proc/[0-9]*")
	return err == nil && len(others) == 1
}

// program returns this binary in a role, as root or as an unprivileged user.
func program(t *testing.T, what string, nobody bool) *exec.Cmd {
	t.Helper()
	if os.Geteuid() != 0 && !nobody {
		t.Skip("it takes root")
	}
	bin := filepath.Join(tempDir(t), "program")
	self, err := os.ReadFile(os.Args[0])
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(bin, self, 0o755))
	c := exec.CommandContext(t.Context(), bin)
	c.Env = append(os.Environ(), role+"="+what)
	if nobody && os.Geteuid() == 0 {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	}
	return c
}

// tempDir returns a directory that all users can reach, unlike t.TempDir.
func tempDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "ns")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o755))
	return dir
}

// users runs a test as root and as an unprivileged user.
func users(t *testing.T, test func(t *testing.T, nobody bool)) {
	for name, nobody := range map[string]bool{"root": false, "nobody": true} {
		t.Run(name, func(t *testing.T) {
			probe := program(t, "exits", nobody)
			out, _ := probe.CombinedOutput() // the exit status is checked otherwise
			if probe.ProcessState.ExitCode() == 99 {
				t.Skipf("%s", out)
			}
			test(t, nobody)
		})
	}
}

func TestTheProgramIsRootAndSeesItsOwnProcesses(t *testing.T) {
	users(t, func(t *testing.T, nobody bool) {
		out, err := program(t, "tells", nobody).CombinedOutput()
		require.NoError(t, err, string(out))
		assert.Equal(t, fmt.Sprintf("uid 0, alone true, marked false, rootless %t\n", nobody), string(out))
	})
}

func TestTheExitCodeIsThatOfTheProgram(t *testing.T) {
	users(t, func(t *testing.T, nobody bool) {
		c := program(t, "exits", nobody)
		_ = c.Run() // the exit status is checked otherwise
		assert.Equal(t, 7, c.ProcessState.ExitCode())
	})
}

// In a namespace with additional permissions, all users have them; outside, only root has them.
func TestNamespacesArePermittedInNamespaces(t *testing.T) {
	users(t, func(t *testing.T, nobody bool) {
		out, err := program(t, "asks", nobody).CombinedOutput()
		require.NoError(t, err, string(out))
		assert.Equal(t, "true\n", string(out))
	})
}

// Without timer slack a Go runtime in each program would wake up every 20 µs.
func TestTimersOfProgramsMayBeLate(t *testing.T) {
	users(t, func(t *testing.T, nobody bool) {
		out, err := program(t, "starts", nobody).CombinedOutput()
		require.NoError(t, err, string(out))
		assert.Equal(t, fmt.Sprintf("%d\n<nil>", timerSlack.Nanoseconds()), string(out))
	})
}

// Filters are detected by comparing the errors with those of the kernel.
func TestRefusalsOfARealFilter(t *testing.T) {
	for role, want := range map[string]string{
		"is confined": "root has no CAP_SYS_ADMIN here, and a seccomp filter, such as that of Docker and Kubernetes, forbids unshare(2) and mount(2)",
		"is free":     "root has no CAP_SYS_ADMIN here, and the program was not started in a user namespace",
	} {
		t.Run(role, func(t *testing.T) {
			c := program(t, role, false)
			c.Path, c.Args = "/usr/bin/setpriv", append([]string{"setpriv", "--bounding-set=-sys_admin"}, c.Args...)
			out, err := c.CombinedOutput()
			require.NoError(t, err, string(out))
			assert.Equal(t, want+"\n", string(out))
		})
	}
}

// A signal that ends this process ends the program and all of its children.
func TestSignals(t *testing.T) {
	users(t, func(t *testing.T, nobody bool) {
		for s, want := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143, syscall.SIGKILL: -1} {
			t.Run(s.String(), func(t *testing.T) {
				c := program(t, "waits", nobody)
				out, err := c.StdoutPipe()
				require.NoError(t, err)
				require.NoError(t, c.Start())
				line, err := bufio.NewReader(out).ReadString('\n')
				require.NoError(t, err)
				var pid int
				_, err = fmt.Sscanf(line, "waiting as %d", &pid)
				require.NoError(t, err, line)
				inside, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", pid))
				require.NoError(t, err, "it tells the number that it has outside")
				require.Len(t, processesIn(inside), 2)

				require.NoError(t, c.Process.Signal(s))
				_ = c.Wait() // the exit status is checked otherwise
				assert.Equal(t, want, c.ProcessState.ExitCode())
				assert.Eventually(t, func() bool { return len(processesIn(inside)) == 0 }, time.Minute, time.Millisecond)
			})
		}
	})
}

// A signal is neither lost nor handled differently while the program starts again.
func TestSignalsWhileItIsRunAgain(t *testing.T) {
	users(t, func(t *testing.T, nobody bool) {
		for i := range 40 {
			s, want := syscall.SIGINT, 130
			if i%2 == 1 {
				s, want = syscall.SIGTERM, 143
			}
			c := program(t, "waits", nobody)
			require.NoError(t, c.Start())
			time.Sleep(time.Duration(i) * time.Millisecond)
			require.NoError(t, c.Process.Signal(s))
			_ = c.Wait() // the exit status is checked otherwise
			assert.Equal(t, want, exitCode(c.ProcessState), "after %d ms", i)
		}
	})
}

// processesIn returns the processes of a process namespace.
func processesIn(namespace string) (found []string) {
	links, _ := filepath.Glob("/proc/[0-9]*/ns/pid")
	for _, link := range links {
		if its, err := os.Readlink(link); err == nil && its == namespace {
			found = append(found, strings.Split(link, "/")[2])
		}
	}
	return found
}
