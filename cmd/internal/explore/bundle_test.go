package explore

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Given a scenario that names files. When it is bundled, then the bundle contains its manifests,
// and programs have absolute paths.
func TestABundledScenarioWorksFromAnyDirectory(t *testing.T) {
	dir := t.TempDir()
	at := filepath.Join(dir, "scenarios")
	for name, text := range map[string]string{"claim.yaml": "kind: A", "scenarios/claim.yaml": "kind: B", "scenarios/manifests/pod.yaml": "kind: Pod"} {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	text, files, err := bundled([]byte(`
objects: {file: manifests/pod.yaml}
drivers: [{name: d, program: {command: [./driver, --endpoint={{.Endpoint}}]}}]
steps:
- apply: {file: claim.yaml, copies: 2}
- apply: [{file: ../claim.yaml}, {file: nowhere.yaml}]
`), at)
	require.NoError(t, err)
	assert.Equal(t, `
objects: {file: manifests/pod.yaml}
drivers: [{name: d, program: {command: [`+at+`/driver, --endpoint={{.Endpoint}}]}}]
steps:
- apply: {file: claim.yaml, copies: 2}
- apply: [{file: 2-claim.yaml}, {file: nowhere.yaml}]
`, text)
	assert.Equal(t, map[string]string{"manifests/pod.yaml": "kind: Pod", "claim.yaml": "kind: B", "2-claim.yaml": "kind: A"}, files)
}

func TestAReplayWritesNothingOutsideItsDirectory(t *testing.T) {
	f := &File{Head: Head{Scenario: "../../x.yaml"}, Text: "kind: Scenario", Files: map[string]string{"../y.yaml": "kind: Pod"}}
	dir := t.TempDir()
	_, err := f.Unpack(dir)
	assert.EqualError(t, err, `files: "../y.yaml" leads out of the directory of the scenario`)

	f.Files = map[string]string{"manifests/y.yaml": "kind: Pod"}
	name, err := f.Unpack(dir)
	require.NoError(t, err)
	assert.Equal(t, filepath.Join(dir, "x.yaml"), name)
	assert.FileExists(t, filepath.Join(dir, "manifests/y.yaml"))
}
