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

var link = regexp.MustCompile(`\]\(([^)#\s]+)(?:#[^)]*)?\)`)

func TestEveryLinkOfTheDocumentsLeadsToAFile(t *testing.T) {
	out, err := exec.Command("git", "-C", "../..", "ls-files", "-co", "--exclude-standard", "*.md").Output()
	require.NoError(t, err)
	documents := strings.Fields(string(out))
	require.NotEmpty(t, documents)
	for _, document := range documents {
		text, err := os.ReadFile(filepath.Join("../..", document))
		require.NoError(t, err)
		for _, to := range link.FindAllStringSubmatch(string(text), -1) {
			if !strings.Contains(to[1], "://") {
				_, err := os.Stat(filepath.Join("../..", filepath.Dir(document), to[1]))
				assert.NoError(t, err, "%s links %s", document, to[1])
			}
		}
	}
}
