package program

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Programs print their rejection of a flag before or after the list of all flags.
func TestTheEndOfALogIsTheRejectionOfAFlag(t *testing.T) {
	flags := strings.Repeat("  -some-flag string\n    \ta text\n", 200)
	for name, test := range map[string]struct {
		log  string
		want []string
	}{
		"Go":      {"flag provided but not defined: -endpont\nUsage of driver:\n" + flags, []string{"flag provided but not defined: -endpont"}},
		"Python":  {"usage: driver [-h]\n" + flags + "driver: error: unrecognized arguments: --endpont\n", []string{"driver: error: unrecognized arguments: --endpont"}},
		"cobra":   {"Error: required flag(s) \"endpoint\" not set\nUsage:\n" + flags, []string{`Error: required flag(s) "endpoint" not set`}},
		"another": {"invalid value in the config\nno backend\n", []string{"invalid value in the config", "no backend"}},
	} {
		file := filepath.Join(t.TempDir(), "log")
		require.NoError(t, os.WriteFile(file, []byte(test.log), 0o600))
		assert.Equal(t, test.want, tail(file), name)
	}
}
