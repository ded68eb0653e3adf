package fakekubelet

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/machine"
)

var noon = time.Date(2024, 1, 1, 12, 0, 0, 0, time.UTC)

// shown returns the contents of the directory of a projection: files with their text, links with
// their targets.
func shown(t *testing.T, m machine.Machine, dir string) map[string]string {
	t.Helper()
	entries, err := m.ReadDir(dir)
	require.NoError(t, err)
	all := map[string]string{}
	for _, e := range entries {
		name := filepath.Join(dir, e.Name())
		switch {
		case e.IsDir():
			for below, text := range shown(t, m, name) { // any order: they go into a map
				all[e.Name()+"/"+below] = text
			}
		case e.Type() == fs.ModeSymlink:
			target, err := m.Readlink(name)
			require.NoError(t, err)
			all[e.Name()] = "-> " + target
		default:
			data, err := m.ReadFile(name)
			require.NoError(t, err)
			all[e.Name()] = string(data)
		}
	}
	return all
}

func TestFilesOfAVolumeAreLaidOutAsByTheRealKubelet(t *testing.T) {
	m := machine.NewMemory("node-a")
	v := projection{machine: m, dir: "/var/lib/kubelet/pods/uid/files/config"}
	step := func(content files, now time.Time, want map[string]string) {
		t.Helper()
		require.NoError(t, v.write(content, 0o400, now))
		assert.Equal(t, want, shown(t, m, v.dir))
	}
	first := map[string]string{
		"..data": "-> ..2024_01_01_12_00_00.000000001", "token": "-> ..data/token", "etc": "-> ..data/etc",
		"..2024_01_01_12_00_00.000000001/token": "a", "..2024_01_01_12_00_00.000000001/etc/app/config": "b",
	}
	step(files{"token": []byte("a"), "etc/app/config": []byte("b")}, noon, first)
	step(files{"token": []byte("a"), "etc/app/config": []byte("b")}, noon.Add(time.Hour), first)
	step(files{"token": []byte("c"), "ca.crt": []byte("d")}, noon, map[string]string{
		"..data": "-> ..2024_01_01_12_00_00.000000002", "token": "-> ..data/token", "ca.crt": "-> ..data/ca.crt",
		"..2024_01_01_12_00_00.000000002/token": "c", "..2024_01_01_12_00_00.000000002/ca.crt": "d",
	})
	data, err := m.ReadFile(v.dir + "/token")
	require.NoError(t, err)
	assert.Equal(t, "c", string(data))
	info, err := m.Lstat(v.dir + "/..data/ca.crt")
	require.NoError(t, err)
	assert.Equal(t, fs.FileMode(0o400), info.Mode())
	step(files{}, noon.Add(time.Minute), map[string]string{"..data": "-> ..2024_01_01_12_01_00.000000001"})
}

// A process that reads a file during the update gets the old file or the new one.
func TestFilesAreReplacedAtomically(t *testing.T) {
	m, err := machine.NewDisk("node-a", filepath.Join(t.TempDir(), "n"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, m.Close()) })
	v := projection{machine: m, dir: "/var/lib/kubelet/pods/uid/files/token"}
	write := func(n int) {
		require.NoError(t, v.write(files{"token": bytes.Repeat([]byte{byte('a' + n%26)}, 100_000*(1+n%3))}, 0o644, noon))
	}
	write(0)
	done, wrong := make(chan struct{}), make(chan string, 1)
	reads := 0
	go func() {
		defer close(wrong)
		for {
			select {
			case <-done:
				return
			default:
			}
			data, err := os.ReadFile(m.Path(v.dir + "/token"))
			// The file was found in a directory that has since been removed.
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if whole := len(data) > 0 && len(data)%100_000 == 0 && bytes.Count(data, data[:1]) == len(data); err != nil || !whole {
				wrong <- "a part of a file, or of two"
				return
			}
			reads++
		}
	}()
	for n := range 300 {
		write(n)
	}
	close(done)
	assert.Empty(t, <-wrong)
	assert.Positive(t, reads)
}

// Files have individual modes, and the pod's group can read all of them. (kubernetes v1.36.3,
// pkg/volume/volume_linux.go, changeFilePermission)
func TestFilesOfAVolumeHaveTheirModesAndTheGroupOfThePod(t *testing.T) {
	m := machine.NewMemory("node-a")
	v := projection{machine: m, dir: "/v", modes: itemModes([]corev1.KeyToPath{{Key: "key", Path: "tls/key", Mode: new(int32(0o400))}})}
	modeOf := func(name string) fs.FileMode {
		real, err := m.EvalSymlinks("/v/" + name)
		require.NoError(t, err)
		info, err := m.Lstat(real)
		require.NoError(t, err)
		return info.Mode().Perm()
	}
	require.NoError(t, v.write(files{"tls/key": []byte("k"), "cert": []byte("c")}, 0o644, noon))
	assert.Equal(t, []fs.FileMode{0o400, 0o644}, []fs.FileMode{modeOf("tls/key"), modeOf("cert")})
	v.group = new(int64(2000))
	require.NoError(t, v.write(files{"tls/key": []byte("k2"), "cert": []byte("c")}, 0o600, noon))
	assert.Equal(t, []fs.FileMode{0o440, 0o640}, []fs.FileMode{modeOf("tls/key"), modeOf("cert")})
}
