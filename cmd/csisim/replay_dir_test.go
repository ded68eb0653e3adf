package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/clitest"
	"github.com/csisim/csisim/cmd/internal/explore"
	"github.com/csisim/csisim/internal/world/workdir"
)

// A replay file with its scenario is unpacked to a directory that csisim clean removes if the
// replay is killed.
func TestTheScenarioOfAReplayIsWhereCleanFindsIt(t *testing.T) {
	work := t.TempDir()
	file := &explore.File{Text: clitest.Header + clitest.Mocked}
	file.Scenario = "s.yaml"
	path, remove, err := scenarioOf(work, "finding.yaml", file)
	require.NoError(t, err)
	assert.FileExists(t, path)
	assert.Regexp(t, `/csisim-[0-9]+-[0-9]+/s\.yaml$`, path)
	report, err := workdir.Clean(work)
	require.NoError(t, err)
	assert.Empty(t, report.Runs, "this process lives")
	remove()
	left, err := filepath.Glob(work + "/*")
	require.NoError(t, err)
	assert.Empty(t, left)
}
