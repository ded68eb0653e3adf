package documents

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// readmeBlock returns the first block of code of a language in README.md.
func readmeBlock(t *testing.T, language string) []byte {
	t.Helper()
	text, err := os.ReadFile("../../../README.md")
	require.NoError(t, err)
	block := regexp.MustCompile("(?ms)^```" + language + "\n(.*?)^```$").FindSubmatch(text)
	require.NotNil(t, block, "README.md has no block in %s", language)
	return block[1]
}

// The test in README.md passes unchanged with the driver of examples/inprocess.
func TestTheGoTestOfTheReadmePasses(t *testing.T) {
	driver, err := filepath.Abs("../../../examples/inprocess")
	require.NoError(t, err)
	dir := t.TempDir()
	source, overlay := filepath.Join(dir, "readme_test.go"), filepath.Join(dir, "overlay.json")
	require.NoError(t, os.WriteFile(source, readmeBlock(t, "go"), 0o644))
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(driver, "readme_test.go"): source}})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(overlay, replace, 0o644))

	test := exec.CommandContext(t.Context(), "go", "test", "-v", "-overlay", overlay, "-run", "^TestLostPublishAnswerIsRetried$", ".")
	test.Dir = driver
	out, err := test.CombinedOutput()
	require.NoError(t, err, string(out))
	assert.Contains(t, string(out), "--- PASS: TestLostPublishAnswerIsRetried", "it runs in fact")
}
