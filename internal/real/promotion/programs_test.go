package promotion

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/real/deploy"
	"github.com/csisim/csisim/sim"
)

// A program finds the storage of its driver at the path of a simulation, so that paths in its
// answers are the same. On the nodes the storage has another path.
func TestAProgramFindsItsStateAtThePathOfASimulation(t *testing.T) {
	program, err := os.Executable()
	require.NoError(t, err)
	i := installed{Driver: sim.Driver{Name: "disk.example.com", Program: &sim.Program{Command: []string{program, "--state={{.StateDir}}", "--id={{.NodeID}}"}}}}
	d, image, err := describe(i, deploy.Options{})
	require.NoError(t, err)
	assert.Equal(t, "--state=/run/csisim/state/disk.example.com", d.Node.Command[1])
	assert.Equal(t, "--id=$(NODE_NAME)", d.Node.Command[2])
	assert.Equal(t, d.Node.Command[1], d.Controller.Command[1])
	assert.Equal(t, "/var/lib/csisim-shared", d.Shared)
	assert.Equal(t, "/run/csisim/state", d.SharedAt)
	assert.Equal(t, program, image.Files[d.Node.Command[0]])
}
