package clitest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/namespaces"
)

// Place holds one run: the scenario, and the work directory w. Its path is short, because the paths
// of sockets are limited.
type Place struct {
	T              *testing.T
	Dir, Work, Bin string
}

func NewPlace(t *testing.T, bin string) *Place {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "b")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o755))
	p := &Place{T: t, Dir: dir, Work: filepath.Join(dir, "w"), Bin: bin}
	require.NoError(t, os.Mkdir(p.Work, 0o755))
	return p
}

func (p *Place) Write(name, text string) {
	p.T.Helper()
	require.NoError(p.T, os.WriteFile(filepath.Join(p.Dir, name), []byte(text), 0o644))
}

// Command returns csisim with the work directory of the place, unless the arguments have one.
func (p *Place) Command(args ...string) *exec.Cmd {
	args = append([]string{args[0], "--work-dir", "w"}, args[1:]...)
	c := exec.CommandContext(p.T.Context(), filepath.Join(p.Bin, "csisim"), args...)
	c.Dir = p.Dir
	c.Env = append(os.Environ(), AsCommand+"=1", "GITHUB_ACTIONS=", "PATH="+p.Bin+":"+os.Getenv("PATH"), "TMPDIR="+p.Work)
	return c
}

// Leftovers lists everything that runs in the place have left behind: processes, mounts, loop
// devices, listening sockets and directories.
func (p *Place) Leftovers() (found []string) {
	for _, pid := range p.Programs("") {
		found = append(found, fmt.Sprintf("process %d", pid))
	}
	for _, table := range []string{"/proc/self/mountinfo", "/proc/net/unix"} {
		found = append(found, p.LinesOf(table)...)
	}
	found = append(found, p.Loops()...)
	for _, pattern := range []string{"csisim-*", "*/csisim-*"} {
		dirs, err := filepath.Glob(filepath.Join(p.Dir, pattern))
		require.NoError(p.T, err)
		found = append(found, dirs...)
	}
	return found
}

// Programs returns the processes of runs in the place: all, or those with one name.
func (p *Place) Programs(name string) (pids []int) {
	entries, err := os.ReadDir("/proc")
	require.NoError(p.T, err)
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		read := func(file string) string {
			// The process may have ended.
			text, _ := os.ReadFile(filepath.Join("/proc", entry.Name(), file))
			return string(text)
		}
		dir, _ := os.Readlink(filepath.Join("/proc", entry.Name(), "cwd"))
		belongs := strings.Contains(read("environ"), "CSISIM_RUN="+p.Dir) || strings.Contains(read("cmdline"), p.Dir) || dir == p.Dir
		if belongs && (name == "" || strings.TrimSpace(read("comm")) == name) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func (p *Place) LinesOf(table string) (found []string) {
	text, err := os.ReadFile(table)
	require.NoError(p.T, err)
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, p.Dir+"/") {
			found = append(found, table+": "+strings.TrimSpace(line))
		}
	}
	return found
}

// Loops returns the loop devices backed by files of the place.
func (p *Place) Loops() (found []string) {
	files, err := filepath.Glob("/sys/block/loop*/loop/backing_file")
	require.NoError(p.T, err)
	for _, file := range files {
		backing, _ := os.ReadFile(file) // the device may be detached
		if strings.HasPrefix(string(backing), p.Dir+"/") {
			found = append(found, "loop device of "+strings.TrimSpace(string(backing)))
		}
	}
	return found
}

// AsUnprivileged gives the place to a user without rights and runs the command as this user. It
// changes nothing for an ordinary user.
func (p *Place) AsUnprivileged(c *exec.Cmd) {
	if !IsRoot() {
		return
	}
	const nobody = 65534
	require.NoError(p.T, os.Chown(p.Dir, nobody, nobody))
	require.NoError(p.T, os.Chown(p.Work, nobody, nobody))
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
}

func IsRoot() bool { return os.Geteuid() == 0 && !namespaces.Rootless() }

func NeedsRoot(t *testing.T) {
	t.Helper()
	if !IsRoot() {
		t.Skip("mounting on the host takes root")
	}
}

func NeedsMounts(t *testing.T) {
	t.Helper()
	NeedsRoot(t)
	if _, err := os.Stat("/dev/loop-control"); err != nil {
		t.Skip("this machine has no loop devices")
	}
}

// NeedsNamespaces skips the test if ordinary users may not create namespaces.
func NeedsNamespaces(t *testing.T) {
	t.Helper()
	if out, err := exec.Command("setpriv", "--reuid=65534", "unshare", "--user", "--map-root-user", "--mount", "true").CombinedOutput(); IsRoot() && err != nil {
		t.Skipf("ordinary users have no namespaces here: %s", out)
	}
	if !IsRoot() && !namespaces.Entered() {
		t.Skip("this user has no namespaces here")
	}
}

// IsLocked reports whether a run holds the lock of its directory. A killed run holds it until its
// last thread has ended.
func (p *Place) IsLocked() bool {
	locks, err := filepath.Glob(filepath.Join(p.Work, "csisim-*", ".lock"))
	require.NoError(p.T, err)
	for _, name := range locks {
		lock, err := os.Open(name)
		require.NoError(p.T, err)
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		require.NoError(p.T, lock.Close())
		if err != nil {
			return true
		}
	}
	return false
}
