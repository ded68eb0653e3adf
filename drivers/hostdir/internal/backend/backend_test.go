//go:build linux

package backend

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func open(t *testing.T) *Backend {
	b, err := Open(t.TempDir())
	require.NoError(t, err)
	return b
}

func TestCreateVolumeIsIdempotentForTheSameSpecification(t *testing.T) {
	first := VolumeSpec{Name: "v", RequiredBytes: 4 << 20, Parameters: map[string]string{"a": "b"}}
	for name, tt := range map[string]struct {
		change func(s *VolumeSpec)
		want   error
	}{
		"same":             {func(*VolumeSpec) {}, nil},
		"smaller":          {func(s *VolumeSpec) { s.RequiredBytes = 1 }, nil},
		"larger":           {func(s *VolumeSpec) { s.RequiredBytes *= 2 }, ErrIncompatible},
		"limited":          {func(s *VolumeSpec) { s.RequiredBytes, s.LimitBytes = 1, 2 }, ErrIncompatible},
		"other kind":       {func(s *VolumeSpec) { s.Block = true }, ErrIncompatible},
		"other parameters": {func(s *VolumeSpec) { s.Parameters = nil }, ErrIncompatible},
		"other place":      {func(s *VolumeSpec) { s.Accessible = func(map[string]string) bool { return false } }, ErrIncompatible},
	} {
		t.Run(name, func(t *testing.T) {
			b, spec := open(t), first
			v, err := b.CreateVolume(spec)
			require.NoError(t, err)
			tt.change(&spec)
			again, err := b.CreateVolume(spec)
			assert.ErrorIs(t, err, tt.want)
			if tt.want == nil {
				assert.Equal(t, v, again)
			}
		})
	}
}

func TestCapacityOfAVolume(t *testing.T) {
	for name, tt := range map[string]struct {
		spec   VolumeSpec
		source int64
		want   int64
		err    error
	}{
		"none asked":                 {spec: VolumeSpec{}, want: 1 << 30},
		"none asked, limited":        {spec: VolumeSpec{LimitBytes: 5}, want: 5},
		"none asked, large source":   {spec: VolumeSpec{}, source: 2 << 30, want: 2 << 30},
		"smaller than the source":    {spec: VolumeSpec{RequiredBytes: 1}, source: 2, err: ErrOutOfRange},
		"block is aligned":           {spec: VolumeSpec{RequiredBytes: 5000, Block: true}, want: 8192},
		"alignment exceeds limit":    {spec: VolumeSpec{RequiredBytes: 5000, LimitBytes: 6000, Block: true}, err: ErrOutOfRange},
		"larger than the largest":    {spec: VolumeSpec{RequiredBytes: MaxVolumeBytes + 1}, err: ErrOutOfRange},
		"source larger than a limit": {spec: VolumeSpec{LimitBytes: 5}, source: 6, err: ErrOutOfRange},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := (&Backend{}).capacity(tt.spec, tt.source)
			assert.ErrorIs(t, err, tt.err)
			assert.Equal(t, tt.want, got)
		})
	}
}

func TestIDsThatWereNeverIssuedAreNotFound(t *testing.T) {
	b := open(t)
	for _, id := range []string{"", ".", "..", "../volumes", "a/b", "none"} {
		_, err := b.Volume(id)
		assert.ErrorIs(t, err, ErrNotFound, "id %q", id)
		assert.NoError(t, b.DeleteVolume(id), "id %q", id)
	}
	assert.DirExists(t, filepath.Join(b.Dir(), volumesDir))
}

func TestLeftoversOfAKilledProcessAreCleared(t *testing.T) {
	b := open(t)
	leftover := filepath.Join(b.Dir(), partialDir, VolumeID("v"), "data")
	require.NoError(t, os.MkdirAll(leftover, 0o755))
	_, err := b.CreateVolume(VolumeSpec{Name: "v"})
	require.NoError(t, err)

	require.NoError(t, os.MkdirAll(leftover, 0o755))
	b, err = Open(b.Dir())
	require.NoError(t, err)
	assert.NoDirExists(t, leftover)
	_, err = b.Volume(VolumeID("v"))
	assert.NoError(t, err)
}

func TestAttachmentsRespectNodeAndLimit(t *testing.T) {
	b := open(t)
	require.NoError(t, b.RegisterNode(Node{ID: "a", MaxVolumes: 1, Topology: map[string]string{"zone": "1"}}))
	here, err := b.CreateVolume(VolumeSpec{Name: "here", Topology: map[string]string{"zone": "1"}})
	require.NoError(t, err)
	there, err := b.CreateVolume(VolumeSpec{Name: "there", Topology: map[string]string{"zone": "2"}})
	require.NoError(t, err)
	more, err := b.CreateVolume(VolumeSpec{Name: "more"})
	require.NoError(t, err)

	attach := func(v Volume, node string, a Attachment) error {
		_, err := b.Attach(v.ID, node, a, true)
		return err
	}
	rw := Attachment{Mode: "w"}
	assert.ErrorIs(t, attach(here, "b", rw), ErrNotFound)
	assert.ErrorIs(t, attach(there, "a", rw), ErrUnsuitable)
	assert.NoError(t, attach(here, "a", rw))
	assert.NoError(t, attach(here, "a", rw), "repeated")
	assert.ErrorIs(t, attach(here, "a", Attachment{Mode: "w", ReadOnly: true}), ErrIncompatible)
	assert.ErrorIs(t, attach(more, "a", rw), ErrExhausted)
	assert.ErrorIs(t, b.DeleteVolume(here.ID), ErrInUse)
	require.NoError(t, b.Detach(here.ID, "a"))
	assert.NoError(t, attach(more, "a", rw))
}

func TestSnapshotOutlivesItsVolume(t *testing.T) {
	b := open(t)
	v, err := b.CreateVolume(VolumeSpec{Name: "v"})
	require.NoError(t, err)
	require.NoError(t, os.Symlink("f", filepath.Join(b.DataPath(v), "link")))
	require.NoError(t, os.WriteFile(filepath.Join(b.DataPath(v), "f"), []byte("x"), 0o640))
	require.NoError(t, os.Mkdir(filepath.Join(b.DataPath(v), "closed"), 0o555))
	s, err := b.CreateSnapshot("s", v.ID)
	require.NoError(t, err)
	_, err = b.CreateSnapshot("s", "other")
	assert.ErrorIs(t, err, ErrIncompatible)
	require.NoError(t, b.DeleteVolume(v.ID))

	restored, err := b.CreateVolume(VolumeSpec{Name: "r", Source: Source{SnapshotID: s.ID}})
	require.NoError(t, err)
	assert.Equal(t, v.CapacityBytes, restored.CapacityBytes)
	content, err := os.ReadFile(filepath.Join(b.DataPath(restored), "link"))
	require.NoError(t, err)
	assert.Equal(t, "x", string(content))
	info, err := os.Stat(filepath.Join(b.DataPath(restored), "closed"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o555), info.Mode().Perm())

	_, err = b.CreateVolume(VolumeSpec{Name: "b", Block: true, Source: Source{SnapshotID: s.ID}})
	assert.ErrorIs(t, err, ErrUnsuitable)
}

func TestCopiedImageStaysSparse(t *testing.T) {
	b := open(t)
	v, err := b.CreateVolume(VolumeSpec{Name: "v", Block: true, RequiredBytes: 64 << 20})
	require.NoError(t, err)
	image, err := os.OpenFile(b.DataPath(v), os.O_RDWR, 0)
	require.NoError(t, err)
	defer image.Close()
	_, err = image.WriteAt([]byte("deep"), 32<<20)
	require.NoError(t, err)

	clone, err := b.CreateVolume(VolumeSpec{Name: "c", Block: true, RequiredBytes: 64 << 20, Source: Source{VolumeID: v.ID}})
	require.NoError(t, err)
	var stat unix.Stat_t
	require.NoError(t, unix.Stat(b.DataPath(clone), &stat))
	assert.EqualValues(t, 64<<20, stat.Size)
	assert.Less(t, stat.Blocks*512, int64(1<<20))
	copied, err := os.Open(b.DataPath(clone))
	require.NoError(t, err)
	defer copied.Close()
	text := make([]byte, 4)
	_, err = copied.ReadAt(text, 32<<20)
	require.NoError(t, err)
	assert.Equal(t, "deep", string(text))
}
