package machine_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/csisim/csisim/internal/world/machine"
)

// A read-only mount of a container is also read-only on the node to which it propagates.
func TestAReadOnlyMountIsReadOnlyWhereItIsPropagatedTo(t *testing.T) {
	dir := t.TempDir()
	node, container := filepath.Join(dir, "node"), filepath.Join(dir, "container")
	for _, made := range []string{node, container} {
		require.NoError(t, os.Mkdir(made, 0o755))
	}
	mount(t, "tmpfs", node, "tmpfs", 0)
	mount(t, "", node, "", unix.MS_SHARED)
	mount(t, node, container, "", unix.MS_BIND)
	for _, made := range []string{"volume", "target"} {
		require.NoError(t, os.Mkdir(filepath.Join(node, made), 0o755))
	}

	m := machine.NewHost("")
	require.NoError(t, m.BindMount(filepath.Join(container, "volume"), filepath.Join(container, "target"), true))
	defer func() { require.NoError(t, m.Unmount(filepath.Join(container, "target"))) }()

	require.ErrorIs(t, os.WriteFile(filepath.Join(node, "target", "file"), nil, 0o600), unix.EROFS)
	require.NoError(t, os.WriteFile(filepath.Join(node, "volume", "file"), nil, 0o600))
}

func mount(t *testing.T, source, target, kind string, flags uintptr) {
	require.NoError(t, unix.Mount(source, target, kind, flags, ""), target)
	if flags&unix.MS_SHARED == 0 {
		t.Cleanup(func() { require.NoError(t, unix.Unmount(target, unix.MNT_DETACH)) })
	}
}
