package incident_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/incident"
	"github.com/csisim/csisim/internal/incident/explain"
	"github.com/csisim/csisim/internal/incident/reenact"
)

// Given any input, then the import, the explanation and the scenario do not panic, and the trace is
// readable.
func FuzzImport(f *testing.F) {
	files, err := filepath.Glob("testdata/[ht]*/*.*")
	require.NoError(f, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(f, err)
		for i, line := range strings.SplitAfterN(string(text), "\n", 40) {
			if i%4 == 0 {
				f.Add([]byte(line))
			}
		}
	}
	f.Fuzz(func(t *testing.T, input []byte) {
		var out bytes.Buffer
		_, err := incident.Run(t.Context(), incident.Options{Paths: []string{"-"}, Stdin: bytes.NewReader(input), Until: until}, &out)
		if err != nil || out.Len() == 0 {
			return
		}
		story, err := explain.Read(bytes.NewReader(out.Bytes()))
		require.NoError(t, err)
		require.NoError(t, story.Explain().Text(io.Discard))
		played, err := reenact.Read(bytes.NewReader(out.Bytes()))
		require.NoError(t, err)
		_ = played.Write(io.Discard, "x") // an error says that there is no volume
	})
}
