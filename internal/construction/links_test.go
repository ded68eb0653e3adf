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

var (
	link    = regexp.MustCompile(`\]\(([^)#\s]*)(?:#([^)\s]*))?\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	anchor  = regexp.MustCompile(`<a id="([^"]+)">`)
	code    = regexp.MustCompile("(?ms)^```.*?^```$")
	unnamed = regexp.MustCompile(`[^\p{L}\p{N}\s_-]`)
)

func TestEveryLinkOfTheDocumentsLeadsSomewhere(t *testing.T) {
	files := list(t, "*.md")
	require.NotEmpty(t, files)
	texts := map[string]string{}
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join("../..", file))
		require.NoError(t, err)
		texts[file] = code.ReplaceAllString(string(text), "")
	}
	for file, text := range texts {
		for _, to := range link.FindAllStringSubmatch(text, -1) {
			if strings.Contains(to[1], "://") {
				continue
			}
			target := file
			if to[1] != "" {
				target = filepath.Join(filepath.Dir(file), to[1])
			}
			_, err := os.Stat(filepath.Join("../..", target))
			assert.NoError(t, err, "%s links %s", file, to[1])
			if page, is := texts[target]; is && to[2] != "" {
				assert.Contains(t, anchors(page), to[2], "%s links %s#%s", file, target, to[2])
			}
		}
	}
}

// list returns the files that match a pattern, including uncommitted files.
func list(t *testing.T, pattern string) (files []string) {
	t.Helper()
	out, err := exec.Command("git", "-C", "../..", "ls-files", "-co", "--exclude-standard", pattern).Output()
	require.NoError(t, err)
	for _, file := range strings.Fields(string(out)) {
		if _, err := os.Stat(filepath.Join("../..", file)); err == nil {
			files = append(files, file)
		}
	}
	return files
}

// anchors returns the fragments of a page: the fragments of its headings, with GitHub's names, and
// explicit fragments.
func anchors(page string) (all []string) {
	for _, h := range heading.FindAllStringSubmatch(page, -1) {
		name := unnamed.ReplaceAllString(strings.ToLower(h[1]), "")
		all = append(all, strings.ReplaceAll(name, " ", "-"))
	}
	for _, a := range anchor.FindAllStringSubmatch(page, -1) {
		all = append(all, a[1])
	}
	return all
}

// longest is the maximum number of words on a page, so that readers finish it.
const longest = 1500

// long are pages for looking things up: generated pages, and tables of measurements.
var long = regexp.MustCompile(`^docs/(?:spec|records)/|^docs/reference/(?:commands|scenarios|profiles|faults|diff|golden|versions)\.md$`)

func TestPagesAreShortEnoughToBeRead(t *testing.T) {
	files := list(t, "docs/*.md")
	require.Greater(t, len(files), 40)
	for _, file := range files {
		text, err := os.ReadFile(filepath.Join("../..", file))
		require.NoError(t, err)
		if words := len(strings.Fields(string(text))); !long.MatchString(file) {
			assert.LessOrEqual(t, words, longest, file)
		}
	}
	text, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	assert.LessOrEqual(t, strings.Count(string(text), "\n"), 150, "README.md")
}
