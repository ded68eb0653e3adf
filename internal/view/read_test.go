package view

import (
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const step = `{"t":1,"k":"step","seq":1,"msg":"apply pod/web"}` + "\n"

// endless is a file of one line without end.
type endless struct{}

func (endless) Read(into []byte) (int, error) {
	for i := range into {
		into[i] = 'x'
	}
	return len(into), nil
}

func TestAnEndlessLineDoesNotFillTheMemory(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	e := NewEncoder()
	problems, err := e.Read(io.MultiReader(strings.NewReader(step), io.LimitReader(endless{}, 256<<20)))
	runtime.ReadMemStats(&after)
	require.NoError(t, err)
	assert.Equal(t, []string{"Line 2 is longer than 16 MiB and left out."}, problems)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(160<<20))
	assert.Equal(t, 1, e.events, "the readable lines are shown")
}

func TestTheBeginningOfATooLongTraceIsShown(t *testing.T) {
	e := NewEncoder()
	e.most = 3
	problems, err := e.Read(strings.NewReader(strings.Repeat(step, 5)))
	require.NoError(t, err)
	assert.Equal(t, []string{"Only the first 3 events are shown: line 4 and all that follow are left out. Cut the trace to see them."}, problems)
	assert.Equal(t, 3, e.events)
}

// Given a trace with exactly as many events as can be shown, then none is left out.
func TestATraceOfTheLargestLengthIsShown(t *testing.T) {
	e := NewEncoder()
	e.most = 3
	problems, err := e.Read(strings.NewReader(strings.Repeat(step, 3)))
	require.NoError(t, err)
	assert.Empty(t, problems)
	assert.Equal(t, 3, e.events)
}
