package construction

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var (
	namedFile     = regexp.MustCompile("`((?:cmd|sim|fakekubelet|fakecontroller|internal)/[a-z0-9_/.]+)`")
	namedFunction = regexp.MustCompile("`([A-Za-z]+)` in\\s+`((?:cmd|sim|fakekubelet|fakecontroller|internal)/[a-z0-9_/]+\\.go)`")
)

// The page that follows a claim through the code names existing files and functions.
func TestThePlacesOfTheArchitectureExist(t *testing.T) {
	page, err := os.ReadFile("../../docs/explanation/architecture.md")
	require.NoError(t, err)
	files := namedFile.FindAllSubmatch(page, -1)
	assert.GreaterOrEqual(t, len(files), 20)
	for _, file := range files {
		_, err := os.Stat(filepath.Join("../..", string(file[1])))
		assert.NoError(t, err)
	}
	functions := namedFunction.FindAllSubmatch(page, -1)
	assert.GreaterOrEqual(t, len(functions), 15)
	for _, f := range functions {
		text, err := os.ReadFile(filepath.Join("../..", string(f[2])))
		require.NoError(t, err)
		assert.Regexp(t, `(?m)^func (\([^)]*\) )?`+string(f[1])+`\(`, string(text), "%s", f[2])
	}
}
