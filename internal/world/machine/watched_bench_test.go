//go:build linux

package machine_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/machine"
)

// BenchmarkWatchedCall measures the cost of an observed system call for a program, in wall time. It
// may take 30 µs. It uses the most expensive call, which opens a file to truncate it. csisim then
// looks up its path, the file and the file's state.
func BenchmarkWatchedCall(b *testing.B) {
	m, err := machine.NewNamespace("node-a", filepath.Join(b.TempDir(), "n"), false)
	require.NoError(b, err)
	defer m.Close()
	for name, look := range map[string]func(*machine.Process){
		"followed": func(*machine.Process) {},
		"watched":  func(p *machine.Process) { p.NewCallWatch(machine.Interference{}).Begin() },
	} {
		b.Run(name, func(b *testing.B) {
			alone, seen := time.Hour, time.Hour
			for range 5 { // the fastest of five: other programs only add time
				alone = min(alone, opening(b, m, false, func(*machine.Process) {}))
				seen = min(seen, opening(b, m, true, look))
			}
			b.ReportMetric(float64((seen-alone).Nanoseconds())/float64(b.N)/1e3, "µs/call")
		})
	}
}

// opening returns the time of a program that truncates a file b.N times.
func opening(b *testing.B, m *machine.Disk, followed bool, look func(*machine.Process)) time.Duration {
	c := shell(fmt.Sprintf(`while [ ! -e begin ]; do sleep 0.01; done; rm begin; i=0; while [ $i -lt %d ]; do : >x; i=$((i+1)); done`, b.N))
	c.Followed = followed
	p, err := m.Start(c)
	require.NoError(b, err)
	look(p)
	require.NoError(b, m.WriteFile(machine.KubeletDir+"/begin", nil, 0o600))
	began := time.Now()
	<-p.Done()
	require.Zero(b, p.ExitCode())
	return time.Since(began)
}
