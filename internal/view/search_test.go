package view

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// inPage returns the texts of a trace's events in the form in which web/src/filter.ts searches them
// on a page with the whole trace.
func inPage(t *testing.T, text []byte) (events []string) {
	t.Helper()
	e := NewEncoder()
	_, err := e.Read(bytes.NewReader(text))
	require.NoError(t, err)
	chunks, err := e.Chunks()
	require.NoError(t, err)
	for _, c := range chunks {
		lines := strings.Split(strings.TrimSpace(inflated(t, c.Details)), "\n")[1:]
		for i := 0; i+1 < len(lines); i += 2 {
			var words []any
			require.NoError(t, json.Unmarshal([]byte(lines[i+1]), &words))
			events = append(events, strings.ToLower(words[0].(string)+"\n"+words[1].(string)+"\n"+lines[i]))
		}
	}
	return events
}

func withText(events []string, wanted string) map[int]bool {
	found := map[int]bool{}
	for row, text := range events {
		if strings.Contains(text, strings.ToLower(wanted)) {
			found[row] = true
		}
	}
	return found
}

// A search in a file finds the same as a page with the whole trace, in lines and in descriptions,
// regardless of case.
func TestASearchInAFileEqualsASearchInAFullPage(t *testing.T) {
	for _, file := range traces(t) {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		text = append(append(bytes.Clone(text), "oh no\n"...), `{"t":99999999,"k":"step","msg":"Größe ändern"}`...)
		f := NewFile(bytes.NewReader(text))
		f.perChunk = 50
		f.Read(t.Context())
		events := inPage(t, text)
		for _, wanted := range []string{
			"NODEPUBLISHVOLUME", "gone", "phase bound", "finalizer +", "✗ ", "…/", "größe ÄNDERN", "oh no", "\"seq\":2", "there is no such thing", "event pod", "created:",
		} {
			found := map[int]bool{}
			for rows, err := range f.Search(t.Context(), wanted) {
				require.NoError(t, err)
				for _, row := range rows {
					assert.False(t, found[row], "%s: %s: row %d comes twice", file, wanted, row)
					found[row] = true
				}
			}
			require.Equal(t, withText(events, wanted), found, "%s: %s", file, wanted)
		}
	}
}

// A search ends when its context ends, and the next search continues from there.
func TestASearchEndsWithItsContext(t *testing.T) {
	text, err := os.ReadFile("testdata/unpublish-leaves-mount.jsonl")
	require.NoError(t, err)
	f := NewFile(bytes.NewReader(text))
	f.perChunk = 10
	f.Read(t.Context())
	superseded := errors.New("superseded")
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	batches := 0
	for _, err := range f.Search(ctx, "e") {
		if batches++; batches == 2 {
			cancel(superseded)
		}
		if batches > 2 {
			require.ErrorIs(t, err, superseded)
		}
	}
	assert.Equal(t, 3, batches)
	assert.Empty(t, f.speaking.chunks)
	found := map[int]bool{}
	for rows, err := range f.Search(t.Context(), "gone") {
		require.NoError(t, err)
		for _, row := range rows {
			found[row] = true
		}
	}
	assert.Equal(t, withText(inPage(t, text), "gone"), found)
	assert.Len(t, f.speaking.chunks, len(f.columns))
}
