package construction

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tell is a verb that used to replace seven others; the table of words in CONTRIBUTING.md lists
// those.
var tell = regexp.MustCompile(`(?i)\b(tells?|told|telling)\b`)

func TestTheVerbsAreTheFields(t *testing.T) {
	out, err := exec.Command("git", "-C", "../..", "ls-files", "-co", "--exclude-standard", "*.go", "*.md").Output()
	require.NoError(t, err)
	files := strings.Fields(string(out))
	require.Greater(t, len(files), 1000)
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || strings.HasSuffix(file, ".pb.go") || strings.HasPrefix(file, "docs/spec/") || file == "CONTRIBUTING.md" {
			continue
		}
		text, err := os.ReadFile(filepath.Join("../..", file))
		if os.IsNotExist(err) {
			continue // it is being removed
		}
		require.NoError(t, err)
		for i, line := range strings.Split(string(text), "\n") {
			assert.False(t, tell.MatchString(line), "%s:%d: %s", file, i+1, line)
		}
	}
}

// place is a path in the table "Where is …?" of docs/explanation/design.md. NAME matches any name.
var place = regexp.MustCompile("`([a-z][\\w./]*)`")

func TestThePlacesOfTheDesignExist(t *testing.T) {
	text, err := os.ReadFile("../../docs/explanation/design.md")
	require.NoError(t, err)
	_, table, found := strings.Cut(string(text), "## Where is …?")
	require.True(t, found)
	table, _, _ = strings.Cut(table, "\n## ")
	rows := 0
	for _, row := range strings.Split(table, "\n") {
		if !strings.HasPrefix(row, "| ") || !strings.Contains(row, "`") {
			continue
		}
		rows++
		folder := ""
		for _, at := range place.FindAllStringSubmatch(row, -1) {
			path := at[1]
			if !strings.Contains(path, "/") {
				path = folder + "/" + path // a file in the previous folder
			} else if !strings.HasSuffix(path, ".go") {
				folder = path
			}
			there, err := filepath.Glob(filepath.Join("../..", strings.ReplaceAll(path, "NAME", "*")))
			require.NoError(t, err)
			assert.NotEmpty(t, there, "%s: %s", row, path)
		}
	}
	assert.GreaterOrEqual(t, rows, 12)
}
