package machine

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAStorageIsSharedByMachinesThatMountIt(t *testing.T) {
	storage, a, b := NewMemory("storage"), NewMemory("node-a"), NewMemory("node-b")
	require.NoError(t, storage.MkdirAll("/v", 0o755))
	for _, m := range []*Memory{a, b} {
		require.NoError(t, m.MkdirAll("/mnt", 0o755))
		assert.False(t, m.IsShared("/mnt"))
		require.NoError(t, m.BindMountFrom(storage, "/v", "/mnt", m == b))
		assert.True(t, m.IsShared("/mnt"))
	}
	require.NoError(t, a.WriteFile("/mnt/f", []byte("one"), 0o644))
	data, err := b.ReadFile("/mnt/f")
	require.NoError(t, err)
	assert.Equal(t, "one", string(data))
	assert.Error(t, b.WriteFile("/mnt/f", []byte("two"), 0o644), "it is mounted read-only")

	other := NewMemory("other storage")
	require.NoError(t, other.MkdirAll("/copy/old", 0o755))
	require.NoError(t, storage.MkdirAll("/v/dir", 0o755))
	require.NoError(t, storage.WriteFile("/v/dir/g", []byte("deep"), 0o644))
	require.NoError(t, CopyTree(storage, "/v", other, "/copy"))
	entries, err := other.ReadDir("/copy")
	require.NoError(t, err)
	assert.Len(t, entries, 2, "the earlier entries are removed")
	data, err = other.ReadFile("/copy/dir/g")
	require.NoError(t, err)
	assert.Equal(t, "deep", string(data))
}
