package scenario_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/scenario"
)

func TestTheSchemaInTheRepositoryIsOfTheseScenarios(t *testing.T) {
	want, err := scenario.Schema()
	require.NoError(t, err)
	kept, err := os.ReadFile("../../../schema/scenario.json")
	require.NoError(t, err)
	assert.Equal(t, string(want), string(kept), "make schema rewrites it")
}
