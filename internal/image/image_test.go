package image_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/image"
)

func read(t *testing.T, archive []byte, tag string) (v1.Image, map[string]int64) {
	parsed, err := name.NewTag(tag)
	require.NoError(t, err)
	made, err := tarball.Image(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(archive)), nil }, &parsed)
	require.NoError(t, err)
	files := map[string]int64{}
	for content := tar.NewReader(mutate.Extract(made)); ; {
		h, err := content.Next()
		if errors.Is(err, io.EOF) {
			return made, files
		}
		require.NoError(t, err)
		if h.Typeflag == tar.TypeReg {
			files["/"+h.Name] = h.Mode
		}
	}
}

// digest returns the digest of the image in an archive, with its names in any order.
func digest(t *testing.T, archive []byte) string {
	made, _ := read(t, archive, "registry.local/sleep:1")
	hash, err := made.Digest()
	require.NoError(t, err)
	return hash.String()
}

func TestAnImageHasItsProgramsUnderAllItsNames(t *testing.T) {
	script := filepath.Join(t.TempDir(), "run")
	require.NoError(t, os.WriteFile(script, []byte("#!/bin/sh\n"), 0o600))
	var first, second bytes.Buffer
	wanted := image.Image{Names: []string{"registry.local/sleep:1", "example.com/driver:v2"}, Files: map[string]string{"/bin/run": script}, Entrypoint: []string{"/bin/run", "now"}}
	require.NoError(t, image.Write(&first, "arm64", wanted))
	require.NoError(t, image.Write(&second, "arm64", wanted))
	assert.Equal(t, digest(t, first.Bytes()), digest(t, second.Bytes()), "the same files make the same image")
	for _, tag := range wanted.Names {
		made, files := read(t, first.Bytes(), tag)
		assert.Equal(t, map[string]int64{"/bin/run": 0o755}, files)
		config, err := made.ConfigFile()
		require.NoError(t, err)
		assert.Equal(t, []string{"/bin/run", "now"}, config.Config.Entrypoint)
		assert.Equal(t, "linux/arm64", config.OS+"/"+config.Architecture)
	}
}

// A program in the image runs without any other files.
func TestADynamicProgramBringsItsLibraries(t *testing.T) {
	program, err := exec.LookPath("mount")
	if err != nil || os.Getuid() != 0 {
		t.Skip("needs root and a dynamically linked program")
	}
	var archive bytes.Buffer
	require.NoError(t, image.Write(&archive, "amd64", image.Image{Names: []string{"x/y:1"}, Files: map[string]string{"/mount": program}}))
	made, _ := read(t, archive.Bytes(), "x/y:1")
	root := t.TempDir()
	for content := tar.NewReader(mutate.Extract(made)); ; {
		h, err := content.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		at := filepath.Join(root, h.Name)
		if h.Typeflag == tar.TypeDir {
			require.NoError(t, os.MkdirAll(at, 0o755))
			continue
		}
		text, err := io.ReadAll(content)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(at, text, 0o755))
	}
	out, err := exec.Command("chroot", root, "/mount", "--version").CombinedOutput()
	assert.NoError(t, err, string(out))
	assert.Contains(t, string(out), "mount")
}

func TestTheErrorNamesAMissingProgram(t *testing.T) {
	err := image.Write(io.Discard, "amd64", image.Image{Names: []string{"x/y:1"}, Files: map[string]string{"/driver": "/nowhere/driver"}})
	assert.ErrorContains(t, err, "make image x/y:1")
	assert.ErrorContains(t, err, "/nowhere/driver")
}

// An ID shows whether a node has this image or another one with the same name.
func TestAnImagesIDIsThatOfItsContent(t *testing.T) {
	script := filepath.Join(t.TempDir(), "run")
	wanted := image.Image{Names: []string{"example.com/driver:v2"}, Files: map[string]string{"/bin/run": script}, Entrypoint: []string{"/bin/run"}}
	id := func(content string) string {
		require.NoError(t, os.WriteFile(script, []byte(content), 0o600))
		found, err := wanted.ID("arm64")
		require.NoError(t, err)
		return found
	}
	first := id("#!/bin/sh\n")
	assert.Regexp(t, "^sha256:[0-9a-f]{64}$", first)
	assert.Equal(t, first, id("#!/bin/sh\n"))
	assert.NotEqual(t, first, id("#!/bin/sh\nexit 1\n"))
}
