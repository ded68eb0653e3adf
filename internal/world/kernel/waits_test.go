package kernel_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/internal/world/kernel"
)

// Waits of processes are reported when they have changed and the clock is about to move; a poll is
// not reported.
func TestChangedWaitsAreReported(t *testing.T) {
	k := kernel.New(kernel.Options{})
	var got []kernel.Wait
	k.OnWaits(func(changed []kernel.Wait) { got = append(got, changed...) })
	came := false
	waiting := k.Spawn(nil, "waiting", func(p *kernel.Process) { p.Wait("news", func() bool { return came }) })
	k.Spawn(nil, "polling", func(p *kernel.Process) {
		for range 20 {
			p.Sleep(100 * time.Millisecond)
		}
		p.Sleep(time.Minute)
		came = true
		waiting.Wake()
	})
	k.Spawn(nil, "housekeeping", func(p *kernel.Process) { p.Idle(time.Hour) })
	k.Run(kernel.Until{StopWhenQuiet: true})
	k.ReportWaits()
	assert.Equal(t, []kernel.Wait{
		{Process: "waiting", For: "news"},
		{Process: "polling", For: "sleep (until 1m2s)"},
		{Process: "polling", For: ""},
		{Process: "waiting", For: ""},
	}, got)
	k.Close()
}
