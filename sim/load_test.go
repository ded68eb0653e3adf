package sim_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/sim"
)

func loadOnMock(t *testing.T, plan sim.LoadPlan) *sim.LoadResult {
	t.Helper()
	result, err := sim.Load(t.Context(), sim.LoadOptions{
		Cluster: sim.Options{Drivers: []sim.Driver{{Name: benchDriver, Mock: &mock.Options{}}}}, Plan: plan,
	})
	require.NoError(t, err)
	return result
}

func TestALoadTakesAllVolumesThroughTheirLives(t *testing.T) {
	result := loadOnMock(t, sim.LoadPlan{Volumes: []int{10, 1}, Runs: 2})
	require.Len(t, result.Levels, 2)
	assert.Empty(t, result.Ended)
	for i, volumes := range []int{1, 10} {
		level := result.Levels[i]
		assert.Equal(t, volumes, level.Volumes)
		require.Len(t, level.Runs, 2)
		for _, run := range level.Runs {
			var names []string
			for _, stage := range run.Stages {
				names = append(names, stage.Name)
				assert.Len(t, stage.Took, volumes, stage.Name)
			}
			assert.Equal(t, []string{"bound", "attached", "staged", "published", "running", "unpublished", "unstaged", "detached", "gone"}, names)
			for _, method := range []string{"CreateVolume", "ControllerPublishVolume", "NodeStageVolume", "NodePublishVolume", "NodeUnpublishVolume", "NodeUnstageVolume", "ControllerUnpublishVolume", "DeleteVolume"} {
				assert.Len(t, run.Calls[method].Took, volumes, method)
			}
		}
	}
}
