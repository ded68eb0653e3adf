package machine_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/machine"
)

func TestTheTimesOfLinesAreNotedByTheClustersClock(t *testing.T) {
	onDisks(t, func(t *testing.T, m machine.Machine) {
		began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		c := shell("cd " + m.ProgramPath(machine.KubeletDir) + "; echo first; until test -e go; do sleep 0.01; done; echo second >&2; printf third")
		c.Stdout = filepath.Join(t.TempDir(), "out.log")
		c.Stderr, c.Began = c.Stdout, began
		p, err := m.Start(c)
		require.NoError(t, err)
		isStamped := func() bool { text, _ := os.ReadFile(machine.StampsOf(p.Stdout)); return len(text) > 0 }
		require.Eventually(t, isStamped, time.Minute, time.Millisecond, "a line has its time at once")
		require.NoError(t, m.WriteFile(machine.KubeletDir+"/go", nil, 0o600))
		<-p.Done()
		log, err := os.ReadFile(p.Stdout)
		require.NoError(t, err)
		assert.Equal(t, "first\nsecond\nthird", string(log), "all is there once the program has ended")

		text, err := os.ReadFile(machine.StampsOf(p.Stdout))
		require.NoError(t, err)
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		require.Len(t, lines, 3)
		var times []time.Time
		for i, offset := range []string{"0", "6", "13"} {
			at, stamp, _ := strings.Cut(lines[i], " ")
			assert.Equal(t, offset, at)
			parsed, err := time.Parse(time.RFC3339Nano, stamp)
			require.NoError(t, err)
			times = append(times, parsed)
		}
		assert.False(t, times[0].Before(began))
		assert.True(t, times[1].After(times[0]), times)
	})
}
