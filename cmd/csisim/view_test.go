package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const recording = "../../scenarios/golden/lifecycle-attach.jsonl"

func TestARecordingOfARealClusterIsShown(t *testing.T) {
	page := filepath.Join(t.TempDir(), "lifecycle.html")
	got := csisim(t, "view", recording, "--output", page)
	require.Zero(t, got.code, got.stderr)
	assert.Empty(t, got.stderr)
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Contains(t, string(text), "<title>lifecycle-attach · csisim</title>")
	assert.Less(t, len(text), 400<<10)
}

// Of a damaged trace what can be read is shown, and what cannot is named; of one without any event nothing is.
func TestADamagedTraceIsShownAsFarAsItCanBeRead(t *testing.T) {
	whole, err := os.ReadFile(recording)
	require.NoError(t, err)
	lines := strings.SplitAfter(string(whole), "\n")
	for _, test := range []struct {
		name, trace string
		code        int
		said        string
	}{
		{"cut off", string(whole[:len(whole)-20]), 0, "is cut off: the trace was not written to its end"},
		{"with lines that are no JSON", lines[0] + "oh no\n" + lines[1], 0, "Line 2 is no JSON object: invalid character 'o'"},
		{"of a newer csisim", lines[0] + `{"t":1,"k":"quantum","msg":"leap"}` + "\n", 0, `Events of kind "quantum" are of a newer csisim`},
		{"with lines that are no events", lines[0] + `{"a":1}` + "\n", 0, "Line 2 has no kind (field k)"},
		{"empty", "", 2, "there is no event in it"},
		{"something else", "a: b\nc: d\n", 2, "no line of it is an event of a trace: line 1 is no JSON object"},
	} {
		t.Run(test.name, func(t *testing.T) {
			dir := t.TempDir()
			file, page := filepath.Join(dir, "some.jsonl"), filepath.Join(dir, "page.html")
			require.NoError(t, os.WriteFile(file, []byte(test.trace), 0o600))
			got := csisim(t, "view", file, "--output", page)
			assert.Equal(t, test.code, got.code, got.stderr)
			assert.Contains(t, got.stderr, file+": ")
			assert.Contains(t, got.stderr, test.said)
			if test.code != 0 {
				assert.NoFileExists(t, page)
				return
			}
			text, err := os.ReadFile(page)
			require.NoError(t, err)
			assert.Contains(t, string(text), `"problems":[`)
		})
	}
}

func TestTwoTracesAreShownSideBySide(t *testing.T) {
	page := filepath.Join(t.TempDir(), "both.html")
	got := csisim(t, "view", recording, "../../scenarios/golden/kubelet-restart.jsonl", "--output", page)
	require.Zero(t, got.code, got.stderr)
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Regexp(t, `"sentence":"The two traces differ on \d of 7 levels\."`, string(text))

	simulated := filepath.Join(t.TempDir(), "simulated.jsonl")
	got = csisim(t, "run", "../../scenarios/rwo-filesystem.yaml", "--trace", simulated)
	require.Zero(t, got.code, got.stderr)
	got = csisim(t, "view", simulated, simulated, "--output", page)
	require.Zero(t, got.code, got.stderr)
	text, err = os.ReadFile(page)
	require.NoError(t, err)
	var pairs [][2]int
	found := regexp.MustCompile(`"pairs":(\[\[[0-9,\[\]]*\]\])`).FindSubmatch(text)
	require.NotNil(t, found, "calls that both have")
	require.NoError(t, json.Unmarshal(found[1], &pairs))
	lines, err := os.ReadFile(simulated)
	require.NoError(t, err)
	var events []string
	for line := range strings.Lines(string(lines)) {
		if strings.Contains(line, `"seq":`) {
			events = append(events, line)
		}
	}
	for _, p := range pairs {
		assert.Equal(t, p[0], p[1], "a trace beside itself")
		assert.Contains(t, events[p[0]], `"k":"csi"`)
	}
	got = csisim(t, "view", recording, recording, "--output", page)
	require.Zero(t, got.code, got.stderr)
	text, err = os.ReadFile(page)
	require.NoError(t, err)
	assert.Contains(t, string(text), "The two traces are equal on all levels.")
}
