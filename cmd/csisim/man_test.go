package main

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra/doc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// manDir is set to write the man pages of a release. The command itself does not link the generator
// of these pages, because the generator's tables would be built each time csisim starts.
var manDir = flag.String("man", "", "write the man pages of csisim to this existing directory")

// Given the commands, then each has a page of section 1 with the date SOURCE_DATE_EPOCH.
func TestEachCommandHasAManPage(t *testing.T) {
	dir := *manDir
	if dir == "" {
		dir = t.TempDir()
		t.Setenv("SOURCE_DATE_EPOCH", "0")
	}
	root := newRoot(environment{getenv: os.Getenv})
	root.DisableAutoGenTag = true
	require.NoError(t, doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "csisim", Manual: "csisim"}, dir))
	for _, name := range commandNames(root) {
		page, err := os.ReadFile(filepath.Join(dir, "csisim-"+name+".1"))
		require.NoError(t, err)
		assert.Contains(t, string(page), ".SH SYNOPSIS")
		if *manDir == "" {
			assert.Contains(t, string(page), `"Jan 1970"`)
		}
	}
}
