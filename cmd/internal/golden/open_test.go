package golden_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/diff"
)

// openList holds, by recording and level, the reason why a simulated run still differs. A recording
// without levels has no scenario yet. The list may only become shorter: -update removes the levels
// that agree.
type openList map[string]map[diff.Level]string

const openFile = "open.txt"

// readOpen reads lines "name, level: reason" and "name: reason".
func readOpen(t *testing.T) openList {
	t.Helper()
	content, err := os.ReadFile(openFile)
	require.NoError(t, err)
	open := openList{}
	for line := range strings.Lines(string(content)) {
		line = strings.TrimSpace(line)
		about, reason, ok := strings.Cut(line, ": ")
		require.True(t, ok, "%s: %q has no reason", openFile, line)
		name, level, _ := strings.Cut(about, ", ")
		if open[name] == nil {
			open[name] = map[diff.Level]string{}
		}
		if level != "" {
			require.Contains(t, diff.Levels, diff.Level(level), openFile)
			open[name][diff.Level(level)] = reason
		}
	}
	return open
}

func writeOpen(t *testing.T, open openList) {
	t.Helper()
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(open)) {
		for _, level := range diff.Levels {
			if reason, ok := open[name][level]; ok {
				fmt.Fprintf(&out, "%s, %s: %s\n", name, level, reason)
			}
		}
		if !exists(name + ".yaml") {
			fmt.Fprintf(&out, "%s: no scenario yet\n", name)
		}
	}
	require.NoError(t, os.WriteFile(openFile, []byte(out.String()), 0o644))
}
