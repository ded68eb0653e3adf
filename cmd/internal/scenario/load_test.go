package scenario_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/fakecontroller"
	"github.com/csisim/csisim/internal/input/strict/stricttest"
)

const header = "apiVersion: csisim.dev/v1alpha1\nkind: Scenario\n"

func withHeader(text string) string {
	if strings.Contains(text, "apiVersion: csisim.dev") {
		return text
	}
	return header + text
}

func TestMistakesAreReportedAllAtOnceWithTheirPlaces(t *testing.T) {
	stricttest.Golden(t, "testdata/mistakes.txt", func(input string) string {
		_, err := scenario.Parse("x.yaml", []byte(withHeader(input)))
		if err == nil {
			return "no mistake"
		}
		return err.Error()
	})
}

func TestAMissingFileIsAnError(t *testing.T) {
	_, err := scenario.Load("testdata/none.yaml")
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestTheNameOfAScenarioIsThatOfItsFile(t *testing.T) {
	s, err := scenario.Parse("some/folder/my-scenario.yaml", []byte(header))
	require.NoError(t, err)
	assert.Equal(t, "my-scenario", s.Name)
}

// The examples in the documentation are valid steps.
func TestTheExampleOfEveryStepIsOfItsKind(t *testing.T) {
	for _, step := range scenario.Steps() {
		t.Run(step.Name, func(t *testing.T) {
			lines := strings.Split(step.Example, "\n")
			text := header + "steps:\n- " + strings.Join(lines, "\n  ") + "\n"
			_, err := scenario.Parse("x.yaml", []byte(text))
			if err != nil { // an example may refer to a cluster that does not exist
				for _, line := range strings.Split(err.Error(), "\n") {
					assert.NotContains(t, line, "unknown field")
					assert.NotContains(t, line, "found string")
				}
			}
			assert.True(t, strings.HasPrefix(step.Example, step.Name+":"), step.Example)
			assert.NotEmpty(t, step.Summary)
		})
	}
}

func TestTheSchemaIsTheSameEachTimeAndDescribesEveryStep(t *testing.T) {
	first, err := scenario.Schema()
	require.NoError(t, err)
	second, err := scenario.Schema()
	require.NoError(t, err)
	require.Equal(t, string(first), string(second))
	var parsed struct {
		Definitions map[string]struct {
			Properties map[string]any `json:"properties"`
		} `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(first, &parsed))
	for _, step := range scenario.Steps() {
		assert.Contains(t, parsed.Definitions["Step"].Properties, step.Name)
	}
}

// Copies multiply the text of a file, so its size is checked before they are made.
func TestCopiesAreBounded(t *testing.T) {
	dir := t.TempDir()
	text := "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: \"c-{{i}}\"}\n" + strings.Repeat("# a comment\n", 200_000)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "large.yaml"), []byte(text), 0o644))
	file := filepath.Join(dir, "x.yaml")
	require.NoError(t, os.WriteFile(file, []byte("apiVersion: csisim.dev/v1alpha1\nkind: Scenario\nsteps:\n- apply: {file: large.yaml, copies: 100}\n"), 0o644))
	_, err := scenario.Load(file)
	assert.ErrorContains(t, err, `x.yaml:4:17: steps[0].apply.file: found 100 times the 2400059 bytes of file "large.yaml", want no more than 128 MiB of manifests in a scenario`)
}

// The capabilities of a program are known only when it runs, so any sidecar is accepted before.
func TestEverySidecarMayBeBesideAProgram(t *testing.T) {
	for _, program := range (fakecontroller.Sidecars{}).OfController() {
		sidecar := program.Name()
		_, err := scenario.Parse("x.yaml", []byte(header+"drivers: [{name: a.example.com, program: {command: [./driver]}}]\nsteps: [{restart-controller: "+sidecar+"/a.example.com}]\n"))
		assert.NoError(t, err, sidecar)
	}
}

func TestAManifestIsNoScenario(t *testing.T) {
	_, err := scenario.Load("../../../scenarios/manifests/pod-with-claim.yaml")
	assert.EqualError(t, err, "../../../scenarios/manifests/pod-with-claim.yaml:1:1: found a Kubernetes manifest (PersistentVolumeClaim, Pod), "+
		"want a scenario; apply the manifest from a step of one: `- apply: {file: pod-with-claim.yaml}`")
}
