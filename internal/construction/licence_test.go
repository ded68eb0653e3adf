package construction

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// withNotice are the files that carry a licence or a copyright notice: the repository's own, and
// the files with code of others.
var withNotice = map[string]bool{
	"LICENSE":                               true,
	"internal/view/web/dist/preact.LICENSE": true, // bundled in pages
}

// notice is a copyright notice or a licence header.
var notice = regexp.MustCompile(`(?i)copyright (\(c\)|©|\d{4}|the )|` + `SPDX-License-` + `Identifier:|licensed under the`)

// LICENSE covers all files, and they have no headers. Code of others keeps its notice in a file
// that the test lists.
func TestNoFileHasAnotherLicence(t *testing.T) {
	found := 0
	for _, file := range list(t, ".") {
		text, err := os.ReadFile(filepath.Join("../..", file))
		if os.IsNotExist(err) {
			continue // its deletion is not committed yet
		}
		require.NoError(t, err)
		if notice.Match(text) && file != "internal/construction/licence_test.go" {
			assert.True(t, withNotice[file], "%s has a notice: LICENSE is for all files; see Code in CONTRIBUTING.md", file)
			found++
		}
	}
	assert.Equal(t, len(withNotice), found, "a file of the list has no notice")
}
