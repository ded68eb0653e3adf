package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/namespaces"
)

// binaries is a directory that every user can read; TestMain makes and removes it.
var binaries string

// buildAll builds two drivers there and adds csisim, which is a copy of this test binary.
var buildAll = sync.OnceValue(func() error {
	out, err := exec.Command("go", "build", "-ldflags=-s -w", "-o", binaries, "./testdata/baddriver", "../../drivers/hostdir").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	program, err := os.ReadFile(os.Args[0])
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(binaries, "csisim"), program, 0o755)
})

func build(t *testing.T) (bin string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("the drivers of these tests mount, on Linux only")
	}
	require.NoError(t, buildAll())
	return binaries
}

// place holds one run: the scenario, and the work directory w. Its path is short, since sockets
// have to fit.
type place struct {
	t              *testing.T
	dir, work, bin string
}

func newPlace(t *testing.T, bin string) *place {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "b")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
	require.NoError(t, os.Chmod(dir, 0o755))
	p := &place{t: t, dir: dir, work: filepath.Join(dir, "w"), bin: bin}
	require.NoError(t, os.Mkdir(p.work, 0o755))
	return p
}

func (p *place) write(name, text string) {
	p.t.Helper()
	require.NoError(p.t, os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o644))
}

// command returns csisim with the work directory of the place, unless the arguments have one.
func (p *place) command(args ...string) *exec.Cmd {
	args = append([]string{args[0], "--work-dir", "w"}, args[1:]...)
	c := exec.CommandContext(p.t.Context(), filepath.Join(p.bin, "csisim"), args...)
	c.Dir = p.dir
	c.Env = append(os.Environ(), asCommand+"=1", "GITHUB_ACTIONS=", "PATH="+p.bin+":"+os.Getenv("PATH"), "TMPDIR="+p.work)
	return c
}

// leftovers lists everything that runs in the place have left: processes, mounts, loop devices,
// listening sockets and directories.
func (p *place) leftovers() (found []string) {
	for _, pid := range p.programs("") {
		found = append(found, fmt.Sprintf("process %d", pid))
	}
	for _, table := range []string{"/proc/self/mountinfo", "/proc/net/unix"} {
		found = append(found, p.linesOf(table)...)
	}
	found = append(found, p.loops()...)
	for _, pattern := range []string{"csisim-*", "*/csisim-*"} {
		dirs, err := filepath.Glob(filepath.Join(p.dir, pattern))
		require.NoError(p.t, err)
		found = append(found, dirs...)
	}
	return found
}

// programs returns the processes of runs in the place, all or those of one name.
func (p *place) programs(name string) (pids []int) {
	entries, err := os.ReadDir("/proc")
	require.NoError(p.t, err)
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		read := func(file string) string {
			text, _ := os.ReadFile(filepath.Join("/proc", entry.Name(), file)) // the process may have ended
			return string(text)
		}
		dir, _ := os.Readlink(filepath.Join("/proc", entry.Name(), "cwd"))
		belongs := strings.Contains(read("environ"), "CSISIM_RUN="+p.dir) || strings.Contains(read("cmdline"), p.dir) || dir == p.dir
		if belongs && (name == "" || strings.TrimSpace(read("comm")) == name) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func (p *place) linesOf(table string) (found []string) {
	text, err := os.ReadFile(table)
	require.NoError(p.t, err)
	for line := range strings.Lines(string(text)) {
		if strings.Contains(line, p.dir+"/") {
			found = append(found, table+": "+strings.TrimSpace(line))
		}
	}
	return found
}

// loops returns the loop devices backed by files of the place.
func (p *place) loops() (found []string) {
	files, err := filepath.Glob("/sys/block/loop*/loop/backing_file")
	require.NoError(p.t, err)
	for _, file := range files {
		backing, _ := os.ReadFile(file) // the device may be detached
		if strings.HasPrefix(string(backing), p.dir+"/") {
			found = append(found, "loop device of "+strings.TrimSpace(string(backing)))
		}
	}
	return found
}

// asUnprivileged gives the place to a user without rights and runs the command as this user. It
// changes nothing for an ordinary user.
func (p *place) asUnprivileged(c *exec.Cmd) {
	if !isRoot() {
		return
	}
	const nobody = 65534
	require.NoError(p.t, os.Chown(p.dir, nobody, nobody))
	require.NoError(p.t, os.Chown(p.work, nobody, nobody))
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
}

func isRoot() bool { return os.Geteuid() == 0 && !namespaces.Rootless() }

func needsRoot(t *testing.T) {
	t.Helper()
	if !isRoot() {
		t.Skip("mounting on the host takes root")
	}
}

// needsNamespaces skips the test if ordinary users may not create namespaces.
func needsNamespaces(t *testing.T) {
	t.Helper()
	if out, err := exec.Command("setpriv", "--reuid=65534", "unshare", "--user", "--map-root-user", "--mount", "true").CombinedOutput(); isRoot() && err != nil {
		t.Skipf("ordinary users have no namespaces here: %s", out)
	}
	if !isRoot() && !namespaces.Entered() {
		t.Skip("this user has no namespaces here")
	}
}

// isLocked reports whether a run holds the lock of its directory. A killed run holds it until its
// last thread has ended.
func (p *place) isLocked() bool {
	locks, err := filepath.Glob(filepath.Join(p.work, "csisim-*", ".lock"))
	require.NoError(p.t, err)
	for _, name := range locks {
		lock, err := os.Open(name)
		require.NoError(p.t, err)
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		require.NoError(p.t, lock.Close())
		if err != nil {
			return true
		}
	}
	return false
}
