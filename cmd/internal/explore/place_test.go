package explore

import (
	"strings"
	"testing"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/world/namespaces"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/sim"
)

// Given a search of a driver program with small volumes, then its runs keep their files in memory
// unless a work directory is given. A driver in the process has no files.
func TestRunsOfProgramsAreInMemoryIfTheyFit(t *testing.T) {
	if !namespaces.Entered() {
		t.Skip("it takes namespaces")
	}
	const program = `program: {command: [/bin/true, "--endpoint={{.Endpoint}}"]}`
	for _, c := range []struct {
		name     string
		driver   string
		volume   int64
		options  scenario.RunOptions
		inMemory bool
	}{
		{"small volumes", program, 16 << 20, scenario.RunOptions{}, true},
		{"volumes beyond the machine's memory", program, 1 << 50, scenario.RunOptions{}, false},
		{"a directory that is given", program, 16 << 20, scenario.RunOptions{WorkDir: t.TempDir()}, false},
		{"no isolation", program, 16 << 20, scenario.RunOptions{Isolation: sim.None}, false},
		{"a driver in the process", "mock: {}", 16 << 20, scenario.RunOptions{}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := Options{Run: c.options, Jobs: 2}
			subject, err := newSubject("made.yaml", []byte(strings.Replace(string(textOf(t, "lifecycle")), "mock: {}", c.driver, 1)), o)
			require.NoError(t, err)
			asked := &trace.Event{Exchange: &trace.Exchange{Request: &csi.CreateVolumeRequest{CapacityRange: &csi.CapacityRange{RequiredBytes: c.volume}}}}
			s := &Search{options: o, subject: subject, Calm: &scenario.Result{Trace: []*trace.Event{asked}}}

			memory, err := s.place()
			require.NoError(t, err)
			assert.Equal(t, c.inMemory, memory != nil)
			if memory != nil {
				assert.DirExists(t, memory.Path())
				require.NoError(t, memory.Close())
				assert.NoDirExists(t, memory.Path())
			}
		})
	}
}
