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
		c := shell("echo first; sleep 0.2; echo second >&2; printf third")
		c.Stdout = filepath.Join(t.TempDir(), "out.log")
		c.Stderr, c.Began = c.Stdout, began
		p, err := m.Start(c)
		require.NoError(t, err)
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
		assert.GreaterOrEqual(t, times[1].Sub(times[0]), 150*time.Millisecond)
	})
}
