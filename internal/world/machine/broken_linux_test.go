package machine_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/machine"
)

// Given a program with a mounted file system that fails. When the program uses files there, then
// each command fails until the file system is unmounted. Files elsewhere can be used.
func TestAMountedFileSystemFailsUntilItIsUnmounted(t *testing.T) {
	for _, tt := range []struct {
		name     string
		fails    syscall.Errno
		commands []string
		fail     []string
	}{
		{
			"a stale handle", syscall.ESTALE,
			[]string{"stat m", "cat m/f", "ls m", "mkdir m/d", "rm v/f", "umount -n m", "stat m"},
			[]string{"stat m", "cat m/f", "ls m", "mkdir m/d"},
		},
		{
			"a file system that became read-only", syscall.EROFS,
			[]string{"stat m", "cat m/f", "ls m", "mkdir m/d", "echo b >m/g", "chmod 700 m", "rm m/f", "umount -n m"},
			[]string{"mkdir m/d", "echo b >m/g", "chmod 700 m", "rm m/f"},
		},
		{
			"files beside it", syscall.EIO,
			[]string{"mkdir d", "echo b >d/f", "cat d/f", "cat v/f", "rm d/f", "rmdir d", "stat m"},
			[]string{"stat m"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m, err := machine.NewNamespace("node-1", filepath.Join(shortDir(t), "n1"), false)
			if err != nil {
				t.Skip(err)
			}
			t.Cleanup(func() { require.NoError(t, m.Close()) })
			assert.Equal(t, tt.fail, failing(t, m, tt.fails, tt.commands))
		})
	}
}

// failing runs commands in a directory with v mounted at m, and returns those that fail. The file
// system at m fails with an error.
func failing(t *testing.T, m machine.Machine, fails syscall.Errno, commands []string) []string {
	dir := m.ProgramPath(machine.KubeletDir)
	script := `mkdir v m && echo a >v/f && mount -n --bind v m; while [ ! -e begin ]; do sleep 0.01; done; try() { (eval "$1") >/dev/null 2>&1 || echo "$1"; }`
	for _, command := range commands {
		script += "; try '" + command + "'"
	}
	c := shell("cd " + dir + "; " + script)
	c.Followed, c.SeesLookups, c.Stdout = true, true, filepath.Join(t.TempDir(), "out.log")
	p, err := m.Start(c)
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Kill() })
	w := p.NewCallWatch(machine.Interference{Broken: machine.BrokenMounts{Paths: []string{dir + "/m"}, Fails: fails}})
	if w == nil {
		t.Skip("this system does not show how programs change files")
	}
	w.Begin()
	require.NoError(t, m.WriteFile(machine.KubeletDir+"/begin", nil, 0o600))
	<-p.Done()
	w.End()
	text, err := os.ReadFile(c.Stdout)
	require.NoError(t, err)
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}
