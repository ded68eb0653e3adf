package workdir_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// tmpfs mounts a file system in memory with the given options.
func tmpfs(t *testing.T, options string) string {
	needRoot(t)
	dir := t.TempDir()
	flags := uintptr(0)
	if options == "ro" {
		flags, options = unix.MS_RDONLY, ""
	}
	require.NoError(t, unix.Mount("tmpfs", dir, "tmpfs", flags, options))
	t.Cleanup(func() { require.NoError(t, unix.Unmount(dir, 0)) })
	return dir
}

// bind shows source at target until the end of the test, at the latest.
func bind(t *testing.T, source, target string) {
	needRoot(t)
	require.NoError(t, unix.Mount(source, target, "", unix.MS_BIND, ""))
	t.Cleanup(func() {
		if err := unix.Unmount(target, 0); !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.EINVAL) {
			require.NoError(t, err)
		}
	})
}
