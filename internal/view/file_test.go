package view

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// traces returns some recordings of real clusters, and traces of simulations.
func traces(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../scenarios/golden/*.jsonl")
	require.NoError(t, err)
	simulated, err := filepath.Glob("testdata/*.jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	require.NotEmpty(t, simulated)
	for i := 0; i < len(files); i += 6 {
		simulated = append(simulated, files[i])
	}
	return simulated
}

func inflated(t *testing.T, packed string) string {
	t.Helper()
	if packed == "" {
		return ""
	}
	deflated, err := base64.StdEncoding.DecodeString(packed)
	require.NoError(t, err)
	text, err := io.ReadAll(flate.NewReader(bytes.NewReader(deflated)))
	require.NoError(t, err)
	return string(text)
}

// A page that reads a trace from a file in pieces shows the same as a page with the whole trace,
// for all sizes of chunks.
func TestAFileIsShownAsASelfContainedPage(t *testing.T) {
	for _, file := range traces(t) {
		for _, perChunk := range []int{7, perChunk} {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			text = append(text, "oh no\n"...)
			e, f := NewEncoder(), NewFile(bytes.NewReader(text))
			e.perChunk, f.perChunk = perChunk, perChunk
			problems, err := e.Read(bytes.NewReader(text))
			require.NoError(t, err)
			f.Read(t.Context())
			chunks, err := e.Chunks()
			require.NoError(t, err)
			require.Len(t, f.columns, len(chunks))
			for i, c := range chunks {
				columns, isOne := f.Columns(i)
				require.True(t, isOne)
				require.True(t, inflated(t, c.Columns) == string(columns), "%s: columns of chunk %d", file, i)
				said, err := f.Look(i)
				require.NoError(t, err)
				require.Equal(t, inflated(t, c.Details), said.Details, "%s: chunk %d", file, i)
				require.Equal(t, inflated(t, c.Between), said.Between, "%s: chunk %d", file, i)
			}
			r, err := f.Report("some")
			require.NoError(t, err)
			require.Equal(t, e.Recorded("some", problems), r)
		}
	}
}

// A change is hidden if and only if it has no description. Columns determine this without the
// description.
func TestAChangeWithoutInformationIsHidden(t *testing.T) {
	for _, file := range traces(t) {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		e := NewEncoder()
		_, err = e.Read(bytes.NewReader(text))
		require.NoError(t, err)
		rows := slices.Clone(e.rows)
		chunks, err := e.Chunks()
		require.NoError(t, err)
		lines := strings.Split(inflated(t, chunks[0].Details), "\n")[1:]
		for i, r := range rows {
			if !strings.Contains(lines[2*i], `"ev":"MODIFIED"`) {
				continue
			}
			saysNothing := strings.Contains(lines[2*i+1], "nothing that a trace keeps has changed")
			assert.Equal(t, saysNothing, r.flags&flagQuiet != 0, "%s: %s", file, lines[2*i])
		}
	}
}

// An earlier event looks the same after a later one was shown.
func TestAnEarlierEventIsTheSameAfterALaterOne(t *testing.T) {
	text, err := os.ReadFile("testdata/unpublish-leaves-mount.jsonl")
	require.NoError(t, err)
	f := NewFile(bytes.NewReader(text))
	f.perChunk = 10
	f.Read(t.Context())
	for _, chunk := range []int{5, 2, 9, 5} {
		before, err := f.Look(chunk)
		require.NoError(t, err)
		_, err = f.Look(chunk + 1)
		require.NoError(t, err)
		again, err := f.Look(chunk)
		require.NoError(t, err)
		assert.Equal(t, before, again)
	}
	_, err = f.Look(1000)
	assert.ErrorContains(t, err, "there is no chunk 1000")
}

func TestTheBeginningOfATooLongFileIsShown(t *testing.T) {
	f := NewFile(strings.NewReader(strings.Repeat(step, 5)))
	f.most = 3
	f.Read(t.Context())
	r, err := f.Report("long")
	require.NoError(t, err)
	assert.Equal(t, []string{"Only the first 3 events are shown: line 4 and all that follow are left out. Cut the trace to see them."}, r.Problems)
	assert.Equal(t, 3, f.events)
}

func TestAFileWithoutAnyEventIsRefused(t *testing.T) {
	f := NewFile(strings.NewReader("a: b\n"))
	f.Read(t.Context())
	_, isOne := f.Columns(0)
	assert.False(t, isOne)
	_, err := f.Report("other")
	assert.ErrorContains(t, err, "no line of it is an event of a trace: line 1 is no JSON object")
}
