package explore

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/kernel"
)

func TestRunsOfTheSampleAreRepeatable(t *testing.T) {
	s := search(t, "lifecycle", usual(64))
	assert.Equal(t, 1, s.Sample.Runs)
	assert.NoError(t, s.Sample.First)
}

// A strategy with different decisions the second time makes runs that are not deterministic.
func TestRunsThatDivergeAreDistinguishedFromRepeatableOnes(t *testing.T) {
	subject, err := newSubject(fileOf("lifecycle"), textOf(t, "lifecycle"), usual(1))
	require.NoError(t, err)
	seed := uint64(0)
	other := func() kernel.Strategy { seed++; return kernel.NewRandom(seed) }
	_, difference, err := subject.Compare(context.Background(), other, nil)
	require.NoError(t, err)
	require.ErrorContains(t, difference, "csisim is not deterministic: the runs differ from event ")
	same := func() kernel.Strategy { return kernel.NewRandom(1) }
	_, difference, err = subject.Compare(context.Background(), same, nil)
	require.NoError(t, err)
	require.NoError(t, difference)
}
