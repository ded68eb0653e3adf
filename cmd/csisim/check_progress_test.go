package main

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/cmd/internal/check"
	"github.com/csisim/csisim/cmd/internal/report"
)

// In a pipe, progress is a line from time to time, with the number of findings.
func TestProgressInAPipeIsAnOccasionalLine(t *testing.T) {
	var live, lines bytes.Buffer
	now := time.Unix(0, 0)
	p := &progress{live: &live, lines: &lines, now: func() time.Time { return now }, said: now}
	p.queryingDriver()
	for i := range 12 {
		now = now.Add(time.Second)
		p.show(check.Progress{Ended: i, Planned: 81, Failed: i / 5, Running: []string{"life/block", "claims/one"}})
	}
	p.erase()
	assert.Empty(t, live.String())
	assert.Equal(t, "csisim: 4 of 81 ended, 0 failed; now life/block  claims/one\ncsisim: 9 of 81 ended, 1 failed; now life/block  claims/one\n", lines.String())

	lines.Reset()
	p = &progress{terminal: report.Terminal{Live: true, Width: 30}, live: &live, lines: &lines, now: func() time.Time { return now }}
	p.show(check.Progress{Ended: 1, Planned: 81, Running: []string{"life/block", "claims/one"}})
	p.erase()
	assert.Empty(t, lines.String())
	assert.Equal(t, "• 1 of 81  life/block  claim…\r\x1b[K", live.String())
}
