package incident_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/csisim/csisim/internal/incident"
	"github.com/csisim/csisim/internal/incident/explain"
)

// Given logs as in public issues, with neutral names, then the first finding names the component
// that holds the volume, or says that the logs do not show it. The head of each file contains the
// expectations.
func TestPublicIncidents(t *testing.T) {
	files, err := filepath.Glob("testdata/threads/*.txtar")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 20)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			require.NoError(t, err)
			report := explained(t, archive.Files)
			text := textOf(t, report)
			want := expectations(string(archive.Comment))
			if want["none"] == "true" {
				assert.Empty(t, report.Findings, text)
				return
			}
			require.NotEmpty(t, report.Findings, text)
			first := report.Findings[0]
			assert.True(t, strings.HasSuffix(first.Component, want["component"]) || strings.HasPrefix(first.Component, want["component"]), "component %s\n%s", first.Component, text)
			assert.Equal(t, want["certainty"], string(first.Certainty), text)
			assert.Contains(t, first.Title, want["title"], text)
			for _, key := range []string{"cause", "rule", "chain", "next", "collect"} {
				assert.Contains(t, text, want[key])
			}
		})
	}
}

func expectations(head string) map[string]string {
	found := map[string]string{}
	for line := range strings.SplitSeq(head, "\n") {
		if key, value, ok := strings.Cut(line, ": "); ok {
			found[key] = value
		}
	}
	return found
}

func explained(t *testing.T, files []txtar.File) *explain.Report {
	t.Helper()
	dir := t.TempDir()
	for _, f := range files {
		require.NoError(t, os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o600))
	}
	var out bytes.Buffer
	_, err := incident.Run(t.Context(), incident.Options{Paths: []string{dir}, Until: until}, &out)
	require.NoError(t, err)
	story, err := explain.Read(&out)
	require.NoError(t, err)
	return story.Explain()
}

func textOf(t *testing.T, r *explain.Report) string {
	t.Helper()
	var text bytes.Buffer
	require.NoError(t, r.Text(&text))
	return text.String()
}
