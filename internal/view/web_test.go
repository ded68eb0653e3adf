package view_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sources are the files that the bundle in web/dist depends on, in the order of web/build.mjs.
func sources(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("web/src/*")
	require.NoError(t, err)
	slices.Sort(files)
	return append(files, "web/build.mjs", "web/package-lock.json", "web/tsconfig.json")
}

func TestTheBundleIsMadeOfTheSources(t *testing.T) {
	hash := sha256.New()
	for _, file := range sources(t) {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		hash.Write([]byte(strings.TrimPrefix(file, "web/") + "\n"))
		hash.Write(text)
	}
	want, err := os.ReadFile("web/dist/sources.sha256")
	require.NoError(t, err)
	assert.Equal(t, strings.TrimSpace(string(want)), hex.EncodeToString(hash.Sum(nil)), "run make viewer")
}

// node is a command for a script of web, in which npm ci has been run.
func node(t *testing.T, arguments ...string) *exec.Cmd {
	t.Helper()
	program, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there is no node")
	}
	if _, err := os.Stat("web/node_modules/esbuild"); err != nil {
		t.Skip("there is no internal/view/web/node_modules: run npm ci there")
	}
	command := exec.CommandContext(t.Context(), program, arguments...)
	command.Dir = "web"
	return command
}

func TestTheBundleComesOutAgain(t *testing.T) {
	built := t.TempDir()
	out, err := node(t, "build.mjs", built).CombinedOutput()
	require.NoError(t, err, string(out))
	for _, file := range []string{"viewer.js", "viewer.css"} {
		want, err := os.ReadFile(filepath.Join("web/dist", file))
		require.NoError(t, err)
		got, err := os.ReadFile(filepath.Join(built, file))
		require.NoError(t, err)
		assert.True(t, string(want) == string(got), "%s: run make viewer", file)
	}
}

func TestTheTypesOfTheViewerFit(t *testing.T) {
	out, err := node(t, "node_modules/typescript/bin/tsc", "--noEmit").CombinedOutput()
	assert.NoError(t, err, string(out))
}

// A real browser opens the report of the driver that forgets a mount, at both widths and in both schemes.
func TestABrowserShowsAReport(t *testing.T) {
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("there is no chromium")
	}
	file := filepath.Join(t.TempDir(), "report.html")
	require.NoError(t, os.WriteFile(file, []byte(pageOf(t, "testdata/unpublish-leaves-mount.jsonl")), 0o600))
	trace, err := filepath.Abs("testdata/unpublish-leaves-mount.jsonl")
	require.NoError(t, err)
	out, err := node(t, "test/report.mjs", chromium, file, trace).CombinedOutput()
	assert.NoError(t, err, string(out))
}
