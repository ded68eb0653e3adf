package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// hugeArchive is an image with a file of so many zeros, for which the archive takes no room on the disk.
func hugeArchive(t *testing.T, at string, size int64) {
	t.Helper()
	var layer bytes.Buffer
	require.NoError(t, tar.NewWriter(&layer).WriteHeader(&tar.Header{Name: "huge", Typeflag: tar.TypeReg, Mode: 0o644, Size: size}))
	config, err := json.Marshal(v1.ConfigFile{OS: "linux", Architecture: runtime.GOARCH, Config: v1.Config{Cmd: []string{"/huge"}},
		RootFS: v1.RootFS{Type: "layers", DiffIDs: []v1.Hash{{Algorithm: "sha256", Hex: strings.Repeat("0", 64)}}}})
	require.NoError(t, err)
	manifest, err := json.Marshal(tarball.Manifest{{Config: "config.json", RepoTags: []string{"registry.local/huge:1"}, Layers: []string{"layer.tar"}}})
	require.NoError(t, err)

	file, err := os.Create(at)
	require.NoError(t, err)
	archive := tar.NewWriter(file)
	for _, content := range []struct {
		name string
		text []byte
	}{{"config.json", config}, {"manifest.json", manifest}} {
		require.NoError(t, archive.WriteHeader(&tar.Header{Name: content.name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(content.text))}))
		_, err := archive.Write(content.text)
		require.NoError(t, err)
	}
	end := int64(2 * 512)
	require.NoError(t, archive.WriteHeader(&tar.Header{Name: "layer.tar", Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(layer.Len()) + size + end}))
	_, err = file.Write(layer.Bytes())
	require.NoError(t, err)
	written, err := file.Seek(0, io.SeekCurrent)
	require.NoError(t, err)
	require.NoError(t, file.Truncate(written+size+2*end))
	require.NoError(t, file.Close())
}

// Given an image that takes long to unpack. When csisim is interrupted meanwhile, then it ends, and nothing of the image is left.
func TestAnInterruptEndsTheUnpackingOfAnImage(t *testing.T) {
	needsNamespaces(t)
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM} {
		p := newPlace(t, build(t))
		hugeArchive(t, filepath.Join(p.dir, "huge.tar"), 1<<40)
		p.write("cluster.yaml", header+"cluster: {nodes: 1}\nimages: {registry.local/huge: ./huge.tar}\n")
		up := p.command("up", "-f", "cluster.yaml", "--kubeconfig", filepath.Join(p.dir, "config"))
		up.Env = append(up.Env, "HOME="+p.dir, "XDG_CACHE_HOME="+p.dir)
		r := startCommand(t, p, up, func() bool {
			unpacked, err := filepath.Glob(filepath.Join(p.work, "csisim-*/images/0/huge"))
			return err == nil && len(unpacked) > 0
		})
		r.signal(t, s)
		r.awaitEnd(t, interrupted)
		assert.Empty(t, r.leftovers())
	}
}
