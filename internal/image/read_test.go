package image_test

import (
	"archive/tar"
	"bytes"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/image"
)

// made returns an image with layers.
func made(t *testing.T, architecture string, layers ...[]tar.Header) v1.Image {
	all, err := mutate.ConfigFile(empty.Image, &v1.ConfigFile{OS: "linux", Architecture: architecture, Config: v1.Config{Cmd: []string{"/bin/app"}}})
	require.NoError(t, err)
	for _, entries := range layers {
		var text bytes.Buffer
		archive := tar.NewWriter(&text)
		for _, h := range entries {
			if h.Typeflag == 0 {
				h.Typeflag = tar.TypeReg
			}
			h.Size = 0
			if h.Typeflag == tar.TypeReg {
				h.Size = int64(len(h.Name))
			}
			if h.Mode == 0 {
				h.Mode = 0o755
			}
			require.NoError(t, archive.WriteHeader(&h))
			if h.Typeflag == tar.TypeReg {
				_, err := archive.Write([]byte(h.Name))
				require.NoError(t, err)
			}
		}
		require.NoError(t, archive.Close())
		layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text.Bytes())), nil })
		require.NoError(t, err)
		all, err = mutate.AppendLayers(all, layer)
		require.NoError(t, err)
	}
	return all
}

func save(t *testing.T, images map[string]v1.Image) string {
	file := filepath.Join(t.TempDir(), "image.tar")
	tags := map[name.Tag]v1.Image{}
	for tag, i := range images {
		parsed, err := name.NewTag(tag)
		require.NoError(t, err)
		tags[parsed] = i
	}
	require.NoError(t, tarball.MultiWriteToFile(file, tags))
	return file
}

func unpacked(t *testing.T, file string) string {
	read, err := image.ReadFrom(t.Context(), file, "x/y:1")
	require.NoError(t, err)
	assert.Equal(t, []string{"/bin/app"}, read.Config.Cmd)
	dir := t.TempDir()
	require.NoError(t, read.Unpack(t.Context(), dir, false))
	return dir
}

// OCI image specification, Applying Changesets.
func TestLayersLieOverEachOther(t *testing.T) {
	i := made(t, runtime.GOARCH,
		[]tar.Header{
			{Name: "usr/bin/", Typeflag: tar.TypeDir}, {Name: "bin", Typeflag: tar.TypeSymlink, Linkname: "/usr/bin"}, {Name: "bin/app"},
			{Name: "etc/gone"}, {Name: "etc/kept"}, {Name: "opt/below/x"}, {Name: "opt/below/y/z"}, {Name: "was-file"}, {Name: "was-dir/x"},
		},
		[]tar.Header{
			{Name: "bin/tool"}, {Name: "etc/.wh.gone"}, {Name: "opt/below/own"}, {Name: "opt/below/.wh..wh..opq"},
			{Name: "was-file/", Typeflag: tar.TypeDir}, {Name: "was-dir"}, {Name: "bin/linked", Typeflag: tar.TypeLink, Linkname: "bin/app"},
			{Name: "usr/bin/sudo", Mode: 0o4755},
		})
	oci := filepath.Join(t.TempDir(), "oci")
	_, err := layout.Write(oci, mutate.AppendManifests(empty.Index, mutate.IndexAddendum{Add: i}))
	require.NoError(t, err)
	for _, source := range []string{save(t, map[string]v1.Image{"x/y:1": i}), oci} {
		require.True(t, image.Is(source))
		require.False(t, image.IsRootFS(source))
		dir := unpacked(t, source)
		for file, text := range map[string]string{"usr/bin/app": "bin/app", "usr/bin/tool": "bin/tool", "usr/bin/linked": "bin/app", "etc/kept": "etc/kept", "opt/below/own": "opt/below/own", "was-dir": "was-dir"} {
			content, err := os.ReadFile(filepath.Join(dir, file))
			require.NoError(t, err)
			assert.Equal(t, text, string(content))
		}
		for _, file := range []string{"etc/gone", "opt/below/x", "opt/below/y"} {
			assert.NoFileExists(t, filepath.Join(dir, file))
		}
		assert.DirExists(t, filepath.Join(dir, "was-file"))
		info, err := os.Stat(filepath.Join(dir, "usr/bin/sudo"))
		require.NoError(t, err)
		assert.Equal(t, os.ModeSetuid|0o755, info.Mode())
	}
}

// OCI image specification, Whiteouts: they hide entries of lower layers, but never entries of their
// own layer, at any position in it.
func TestWhiteoutsHideLayersBelow(t *testing.T) {
	below := []tar.Header{{Name: "a/x"}, {Name: "a/b/old"}, {Name: "f"}, {Name: "kept"}}
	for name, tt := range map[string]struct {
		layer []tar.Header
		want  string
	}{
		"file":                     {[]tar.Header{{Name: ".wh.f"}}, "a a/b a/b/old a/x kept"},
		"directory":                {[]tar.Header{{Name: ".wh.a"}}, "f kept"},
		"of nothing":               {[]tar.Header{{Name: ".wh.none"}}, "a a/b a/b/old a/x f kept"},
		"own file before":          {[]tar.Header{{Name: "f"}, {Name: ".wh.f"}}, "a a/b a/b/old a/x f kept"},
		"own file after":           {[]tar.Header{{Name: ".wh.f"}, {Name: "f"}}, "a a/b a/b/old a/x f kept"},
		"own directory before":     {[]tar.Header{{Name: "a/", Typeflag: tar.TypeDir}, {Name: "a/new"}, {Name: ".wh.a"}}, "a a/new f kept"},
		"own file below":           {[]tar.Header{{Name: "a/b/new"}, {Name: ".wh.a"}}, "a a/b a/b/new f kept"},
		"opaque":                   {[]tar.Header{{Name: "a/.wh..wh..opq"}, {Name: "a/new"}}, "a a/new f kept"},
		"opaque, own file before":  {[]tar.Header{{Name: "a/x"}, {Name: "a/.wh..wh..opq"}}, "a a/x f kept"},
		"opaque, own file below":   {[]tar.Header{{Name: "a/b/new"}, {Name: "a/.wh..wh..opq"}}, "a a/b a/b/new f kept"},
		"opaque, of a missing one": {[]tar.Header{{Name: "new/.wh..wh..opq"}}, "a a/b a/b/old a/x f kept new"},
	} {
		dir := unpacked(t, save(t, map[string]v1.Image{"x/y:1": made(t, runtime.GOARCH, below, tt.layer)}))
		var has []string
		require.NoError(t, fs.WalkDir(os.DirFS(dir), ".", func(file string, _ fs.DirEntry, err error) error {
			has = append(has, file)
			return err
		}))
		assert.Equal(t, tt.want, strings.Join(has[1:], " "), name)
	}
}

func TestAnImageOfAnArchiveIsSelectedByName(t *testing.T) {
	one, other := made(t, runtime.GOARCH, []tar.Header{{Name: "one"}}), made(t, runtime.GOARCH, []tar.Header{{Name: "other"}})
	assert.FileExists(t, unpacked(t, save(t, map[string]v1.Image{"x/y:1": one, "x/z:1": other}))+"/one")
	_, err := image.ReadFrom(t.Context(), save(t, map[string]v1.Image{"x/w:1": one, "x/z:1": other}), "x/y:1")
	require.ErrorContains(t, err, "it has 2 images, none of which is index.docker.io/x/y:1: ")
}

// A harmful image, or one that cannot run here, is rejected in one line.
func TestAnInvalidImageIsAnError(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(outside, []byte("of the host"), 0o600))
	for want, entries := range map[string][]tar.Header{
		"unpack layer 1 of 1: ../x: it leads out of the image":                                                  {{Name: "../x"}},
		"unpack layer 1 of 1: a/../../x: it leads out of the image":                                             {{Name: "a/../../x"}},
		"unpack layer 1 of 1: l: it leads out of the image":                                                     {{Name: "l", Typeflag: tar.TypeLink, Linkname: "../secret"}},
		"unpack layer 1 of 1: dev/sda: it is a device or a pipe: images have directories, files and links only": {{Name: "dev/sda", Typeflag: tar.TypeBlock}},
		"unpack layer 1 of 1: file/x: file is no directory":                                                     {{Name: "file"}, {Name: "file/x"}},
		"unpack layer 1 of 1: a/.wh.: it is a whiteout of nothing":                                              {{Name: "a/.wh."}},
		"unpack layer 1 of 1: a/.wh..: it is a whiteout of nothing":                                             {{Name: "a/.wh.."}},
		"unpack layer 1 of 1: a/.wh...: it is a whiteout of nothing":                                            {{Name: "a/.wh..."}},
		"unpack layer 1 of 1: a/x: too many symlinks":                                                           {{Name: "a", Typeflag: tar.TypeSymlink, Linkname: "a"}, {Name: "a/x"}},
	} {
		read, err := image.ReadFrom(t.Context(), save(t, map[string]v1.Image{"x/y:1": made(t, runtime.GOARCH, entries)}), "x/y:1")
		require.NoError(t, err)
		assert.EqualError(t, read.Unpack(t.Context(), t.TempDir(), false), want)
	}
	link := made(t, runtime.GOARCH, []tar.Header{{Name: "out", Typeflag: tar.TypeSymlink, Linkname: filepath.Dir(outside)}, {Name: "out/secret"}})
	dir := unpacked(t, save(t, map[string]v1.Image{"x/y:1": link}))
	content, err := os.ReadFile(outside)
	require.NoError(t, err)
	assert.Equal(t, "of the host", string(content), "a symlink of the image stays in it")
	assert.FileExists(t, filepath.Join(dir, outside))

	_, err = image.ReadFrom(t.Context(), save(t, map[string]v1.Image{"x/y:1": made(t, "s390x")}), "x/y:1")
	require.EqualError(t, err, "it is for linux/s390x, and this machine runs linux/"+runtime.GOARCH)
	require.True(t, image.Is(outside))
	_, err = image.ReadFrom(t.Context(), outside, "x/y:1")
	require.ErrorContains(t, err, "it is neither a program, nor a directory, nor an archive as docker save writes it: ")
}
