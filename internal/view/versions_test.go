package view

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Given a trace that begins with versions, then the page shows them. Their line counts neither as
// an event nor as a problem, however the trace is read.
func TestARecordingShowsTheVersionsThatMadeIt(t *testing.T) {
	made := [2]string{"Versions", "csisim v0.9.0, Kubernetes 1.34"}
	for _, c := range []struct {
		head string
		is   bool
	}{
		{`{"t":0,"k":"versions","obj":{"csisim":"v0.9.0","kubernetes":"1.34"}}` + "\n", true},
		{`{"t":0,"k":"versions","obj":"of another kind"}` + "\n", false},
		{`{"t":0,"k":"versions"}` + "\n", false},
		{"", false},
	} {
		text := []byte(c.head + step)
		e, f := NewEncoder(), NewFile(bytes.NewReader(text))
		problems, err := e.Read(bytes.NewReader(text))
		require.NoError(t, err)
		assert.Empty(t, problems)
		f.Read(t.Context())
		fromFile, err := f.Report("some")
		require.NoError(t, err)
		r := e.Recorded("some", problems)
		assert.Equal(t, r, fromFile)
		assert.Contains(t, r.Facts, [2]string{"Events", "1 event"})
		assert.Equal(t, c.is, slices.Contains(r.Facts, made), "%v", r.Facts)

		chunks, err := e.Chunks()
		require.NoError(t, err)
		require.Len(t, chunks, 1)
		between := inflated(t, chunks[0].Between)
		assert.Equal(t, c.head != "", strings.Contains(between, strings.TrimSpace(c.head)) && between != "", "an export of the page has the line")
	}
}
