package view_test

import (
	"bytes"
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

	"github.com/csisim/csisim/internal/view"
	"github.com/csisim/csisim/internal/view/index"
)

// sources returns the files that the bundle in web/dist depends on, in the order of web/build.mjs.
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

// node returns a command for a script of web; this requires npm ci.
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

func TestTheBundleIsReproducible(t *testing.T) {
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

// pageFile writes a page to a file.
func pageFile(t *testing.T, write func(to *bytes.Buffer) error) string {
	t.Helper()
	var page bytes.Buffer
	require.NoError(t, write(&page))
	file := filepath.Join(t.TempDir(), "page.html")
	require.NoError(t, os.WriteFile(file, page.Bytes(), 0o600))
	return file
}

func chunksOf(t *testing.T, e *view.Encoder) []view.Chunk {
	t.Helper()
	chunks, err := e.Chunks()
	require.NoError(t, err)
	return chunks
}

// A real browser opens three pages at both widths and in both schemes: the report of a driver that
// leaves a mount behind, the report of a passed run with a lagging cache, and two traces side by
// side.
func TestABrowserShowsAReport(t *testing.T) {
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("there is no chromium")
	}
	const forgets, stale = "testdata/unpublish-leaves-mount.jsonl", "testdata/stale-cache.jsonl"
	failed := pageFile(t, func(to *bytes.Buffer) error {
		_, err := to.WriteString(pageOf(t, forgets))
		return err
	})
	passed := pageFile(t, func(to *bytes.Buffer) error {
		r := view.Report{Name: "stale", Verdict: "passed", Sentence: "All expectations of the scenario held.", Steps: []view.Step{{Number: 1, Title: "apply pod/web", State: "passed"}}}
		return view.Write(to, r, chunksOf(t, encoded(t, stale)))
	})
	both := pageFile(t, func(to *bytes.Buffer) error {
		r := view.Report{Name: "both", Verdict: "trace", Sentence: "The two traces differ on 1 of 2 levels."}
		r.Compare = &view.Comparison{A: "a.jsonl", B: "b.jsonl", Pairs: [][2]int{{6, 93}}, Levels: []view.Level{
			{Name: "calls", What: "the calls", Compared: 1, Differences: 1, First: &view.Difference{
				Subject: "v1", What: "NodeUnpublishVolume is only in B", Index: 1,
				Rows: []view.Aligned{{A: "NodePublishVolume", B: "NodePublishVolume", TimeA: 1000, TimeB: 11000, Same: true}, {B: "NodeUnpublishVolume", TimeB: 12530}},
			}}, {Name: "gaps", What: "the gaps", Compared: 3},
		}}
		return view.WriteBoth(to, r, chunksOf(t, encoded(t, stale)), chunksOf(t, encoded(t, forgets)))
	})
	listed := pageFile(t, func(to *bytes.Buffer) error {
		return index.Write(to, index.Page{
			Title: "a.csi.example.com <1>", Summary: "1 passed, 1 failed", Failed: true, Text: "FAIL Life of a volume",
			Findings: []index.Finding{{Name: "NodeStageVolume is not idempotent", Detail: "OK, then Internal", Harm: "stuck", Runs: 1, File: filepath.Base(failed), Replay: "csisim check"}},
			Groups: []index.Group{{Title: "Life of a volume", Runs: []index.Run{
				{Name: "life/filesystem", State: index.Failed, Why: "NodeStageVolume is not idempotent", File: filepath.Base(failed), Took: "12 ms"},
				{Name: "life/block", State: index.Passed}, {Name: "life/secrets", State: index.NotTried, Why: "the budget is spent"},
			}}},
		})
	})
	files := []string{listed}
	for _, file := range []string{forgets, stale} {
		file, err := filepath.Abs(file)
		require.NoError(t, err)
		files = append(files, file)
	}
	out, err := node(t, append([]string{"test/report.mjs", chromium, failed, passed, both}, files...)...).CombinedOutput()
	assert.NoError(t, err, string(out))
}
