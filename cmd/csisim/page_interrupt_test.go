package main

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/clitest"
)

const takesLong = `
apiVersion: csisim.dev/v1alpha1
kind: Scenario
drivers: [{name: mock.csi.csisim.dev, mock: {}}]
steps:
- advance: 800000h
`

// Given a run that takes long. When it is interrupted, then its report and the index state the
// interrupt and name no finding.
func TestThePageOfAnInterruptedRunShowsTheInterruption(t *testing.T) {
	p := newPlace(t, clitest.Build(t))
	p.Write("endless.yaml", takesLong)
	page := filepath.Join(p.Dir, "reports", "endless.html")
	r := clitest.StartCommand(t, p.Place, p.Command("run", "endless.yaml", "--report", "reports/", "--trace", "trace.jsonl"), func() bool {
		trace, err := os.Stat(filepath.Join(p.Dir, "trace.jsonl"))
		return err == nil && trace.Size() > 0 // it advances
	})
	r.Signal(t, syscall.SIGINT)
	assert.Equal(t, 130, r.AwaitEnd(t, clitest.Interrupted))
	text, err := os.ReadFile(page)
	require.NoError(t, err)
	assert.Contains(t, string(text), `"verdict":"interrupted","sentence":"The run was interrupted; the page shows it up to then."`)
	assert.NotContains(t, string(text), `"findings":[`)
	index, err := os.ReadFile(filepath.Join(p.Dir, "reports", "index.html"))
	require.NoError(t, err)
	assert.Contains(t, string(index), `>Interrupted</span>`)
	assert.Contains(t, string(index), "interrupted: the runs up to then are listed")
}
