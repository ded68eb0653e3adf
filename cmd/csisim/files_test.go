package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/scenario"
)

// Directories are searched for scenarios, not for manifests; named files are used unchecked.
func TestScenarioFilesComeFromFilesDirectoriesAndPatterns(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"all/b.yaml":           "apiVersion: x\nkind: Scenario\n",
		"all/a.yml":            "kind: \"Scenario\" # quoted\n",
		"all/deep/c.yaml":      "kind: Scenario\n",
		"all/deep/pod.yaml":    "kind: Pod\n",
		"all/README.md":        "kind: Scenario\n",
		"other/manifest.yaml":  "kind: Pod\n",
		"other/embedding.yaml": "kind: List\nitems:\n- kind: Scenario\n",
	} {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o644))
	}
	for _, test := range []struct {
		name string
		args []string
		want []string
		err  string
	}{
		{"a file", []string{"./other/manifest.yaml"}, []string{"other/manifest.yaml"}, ""},
		{"a directory, deep", []string{"all"}, []string{"all/a.yml", "all/b.yaml", "all/deep/c.yaml"}, ""},
		{"a pattern", []string{"all/*.y*ml"}, []string{"all/a.yml", "all/b.yaml"}, ""},
		{"a pattern that matches a directory", []string{"al*/dee?"}, []string{"all/deep/c.yaml"}, ""},
		{"each once, in the order given", []string{"all/b.yaml", "all"}, []string{"all/b.yaml", "all/a.yml", "all/deep/c.yaml"}, ""},
		{"nothing", []string{"gone.yaml"}, nil, "gone.yaml: no such file or directory"},
		{"a directory without", []string{"other"}, nil, "other: there is no scenario in this directory"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, err := scenarioFiles(test.args)
			assert.Equal(t, test.want, got)
			if test.err != "" {
				assert.EqualError(t, err, test.err)
			} else {
				assert.NoError(t, err)
			}
		})
	}
}

// Each scenario gets its own trace.
func TestTraceFilesAreNamedAfterScenarios(t *testing.T) {
	one := []*scenario.Scenario{{File: "s/basic.yaml"}}
	three := append(one, &scenario.Scenario{File: "s/move.yaml"}, &scenario.Scenario{File: "old/basic.yaml"})
	dir := t.TempDir()
	for _, test := range []struct {
		name, wanted string
		scenarios    []*scenario.Scenario
		want         []string
	}{
		{"none wanted", "", three, []string{"", "", ""}},
		{"one scenario", "out/t.jsonl", one, []string{"out/t.jsonl"}},
		{"several", "out/t.jsonl", three, []string{"out/basic-t.jsonl", "out/move-t.jsonl", "out/old-basic-t.jsonl"}},
		{"a directory to be made", "out/", three, []string{"out/basic.jsonl", "out/move.jsonl", "out/old-basic.jsonl"}},
		{"a directory", dir, one, []string{dir + "/basic.jsonl"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			files := traceFiles(test.wanted, ".jsonl", test.scenarios)
			for i, s := range test.scenarios {
				assert.Equal(t, test.want[i], files[s.File])
			}
		})
	}
}
