//go:build linux

package defect

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Each defect is in one file, named after the defect.
func TestOneDefectIsOneFile(t *testing.T) {
	names := map[string]bool{}
	for _, d := range all {
		assert.NotEmpty(t, d.Does, d.Name)
		assert.False(t, names[d.Name], "%s is listed twice", d.Name)
		names[d.Name] = true
		text, err := os.ReadFile(strings.ReplaceAll(d.Name, "-", "_") + ".go")
		require.NoError(t, err)
		assert.Equal(t, 1, strings.Count(string(text), "&Defect{"), d.Name)
	}
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	described := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		if !strings.HasSuffix(file, "_test.go") {
			described += strings.Count(string(text), "&Defect{")
		}
	}
	assert.Equal(t, len(all), described, "a file has a defect that is not in the list")
}

// The chosen defects apply in the order of the list, even if they are named in another order.
func TestDefectsAreChosenByTheirNames(t *testing.T) {
	set, err := Parse(" stage-panics, ignore-readonly,,")
	require.NoError(t, err)
	assert.Equal(t, []string{"ignore-readonly", "stage-panics"}, set.Names())
	empty, err := Parse("")
	require.NoError(t, err)
	assert.Empty(t, empty)
	_, err = Parse("ignore-readonly,no-such")
	assert.ErrorContains(t, err, `no broken behaviour "no-such"`)
}
