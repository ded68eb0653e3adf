package view_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/view"
)

var update = flag.Bool("update", false, "write the golden files anew")

// encoded reads a trace of testdata.
func encoded(t *testing.T, file string) *view.Encoder {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	e := view.NewEncoder()
	for line := range bytes.Lines(text) {
		require.NoError(t, e.Add(bytes.TrimSpace(line)))
	}
	return e
}

// For a driver that does not unmount, the report shows the call that made the mount, the action of
// the user, and the call that answered OK without unmounting.
func TestTheChainLeadsFromTheMountToTheCallThatLeftIt(t *testing.T) {
	r := encoded(t, "testdata/unpublish-leaves-mount.jsonl").Recorded("unpublish-leaves-mount", nil)
	text, err := json.MarshalIndent(r, "", "  ")
	require.NoError(t, err)
	golden(t, "testdata/unpublish-leaves-mount.json", string(text)+"\n")
}

// For a wait that times out, the report shows the failing call, the number of failures, and the
// successful calls before.
func TestTheChainOfAFailedWaitLeadsToTheFailingCall(t *testing.T) {
	e := encoded(t, "testdata/stage-fails.jsonl")
	r := view.Report{Findings: []view.Finding{{
		Verdict: "timed out waiting for the condition: pod web in phase Running (after 2m0s of cluster time)", About: 40,
		Judged: verdict.Verdict{Breaks: verdict.Progress, Found: []string{"pod web in phase Running", "2m0s"}},
	}}}
	e.Explain(&r)
	assert.Equal(t, "Timed out waiting 2 min for pod web in phase Running: the driver fails NodeStageVolume on node-a: mkfs.ext4 failed", r.Sentence)
	assert.Equal(t, []view.Link{
		{Seq: 10, Why: ""},
		{Seq: 12, Why: "the last that succeeded"},
		{Seq: 20, Why: "the first of 3 attempts"},
		{Seq: 38, Why: "the last of them"},
		{Seq: 40, Why: "reports it"},
	}, r.Findings[0].Chain)
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff(string(want), got), "run with -update if this is right")
}

func pageOf(t *testing.T, file string) string {
	t.Helper()
	e := encoded(t, file)
	r := e.Recorded(strings.TrimSuffix(filepath.Base(file), ".jsonl"), nil)
	r.Notes = []string{"left behind: directory /var/lib/kubelet/plugins/kubernetes.io/csi/a.csi.example.com/6dc29508/globalmount"}
	chunks, err := e.Chunks()
	require.NoError(t, err)
	var page bytes.Buffer
	require.NoError(t, view.Write(&page, r, chunks))
	return page.String()
}

// The headline names a leftover of a call, and Found is short. The report also contains the
// complete text.
func TestALeftoverOfACallIsASentence(t *testing.T) {
	const path = "/var/lib/kubelet/plugins/kubernetes.io/csi/a.csi.example.com/6dc29508101512e191ba198dc56ebe4db68a2834b7d18e2d7fa865d2d2544ef3/globalmount"
	const got = "mount " + path + " on node-a: made by NodeStageVolume at 10.5 s (step 4: wait pod web), should have gone with NodeUnstageVolume at 11.4 s (step 6: wait pod web, gone true), which answered OK"
	for more, want := range map[int]string{0: "", 1: " (and 1 more)"} {
		judged := verdict.Verdict{
			Breaks: verdict.LeftBehind, Kind: "mount", Method: "Node/NodeStageVolume", Undo: "NodeUnstageVolume", Node: "node-a",
			Found: []string{path}, More: more,
		}
		r := view.Report{Findings: []view.Finding{{Verdict: "left behind: " + got + want, Judged: judged, Got: got}}}
		encoded(t, "testdata/stage-fails.jsonl").Explain(&r)
		assert.Equal(t, "NodeUnstageVolume answered OK, but the mount that NodeStageVolume made is still there on node-a: …/6dc2…/globalmount"+want, r.Findings[0].Short)
		assert.Equal(t, r.Findings[0].Short, r.Sentence)
		assert.True(t, strings.HasPrefix(r.Findings[0].Found, "mount …/6dc2…/globalmount on node-a: made by"), r.Findings[0].Found)
		assert.Equal(t, got, r.Findings[0].Got)
	}
}

func TestAFailedWaitIsASentenceEvenWithoutAnExplainingCall(t *testing.T) {
	judged := verdict.Verdict{Breaks: verdict.Progress, Found: []string{"the cluster to settle", "10m0s"}}
	r := view.Report{Findings: []view.Finding{{Verdict: "timed out waiting for the condition", Judged: judged}}}
	encoded(t, "testdata/stage-fails.jsonl").Explain(&r)
	assert.Equal(t, "Timed out waiting 10 min for the cluster to settle", r.Sentence)
}

func TestAPageMakesNoRequests(t *testing.T) {
	page := pageOf(t, "testdata/unpublish-leaves-mount.jsonl")
	assert.Contains(t, page, `default-src 'none'`)
	assert.Contains(t, page, `connect-src 'none'`)
	assert.NotContains(t, page, "unsafe-inline")
	assert.NotRegexp(t, regexp.MustCompile(`<(link|img|script src|iframe)\b`), page)
	assert.Less(t, len(page), 400<<10)
}

func TestTheTextOfATraceIsEscaped(t *testing.T) {
	e := view.NewEncoder()
	require.NoError(t, e.Add([]byte(`{"t":1,"k":"violation","seq":1,"msg":"</script><script>alert(1)</script>"}`)))
	r := e.Recorded("</title><script>", []string{"<!--"})
	chunks, err := e.Chunks()
	require.NoError(t, err)
	var page bytes.Buffer
	require.NoError(t, view.Write(&page, r, chunks))
	assert.NotContains(t, page.String(), "alert(1)</script>")
	assert.NotContains(t, page.String(), "</title><script>")
	assert.Equal(t, 4, strings.Count(page.String(), "</script>"), "report, columns, details, viewer")
}

func TestALineThatIsNoEventIsRefused(t *testing.T) {
	assert.Error(t, view.NewEncoder().Add([]byte(`{"t":1`)))
}
