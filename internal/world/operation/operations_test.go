package operation_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/operation"
)

var errFailed = errors.New("failed")

// world runs operations, and stops the clock when a test requires it.
type world struct {
	*kernel.Kernel
	ops   *operation.Pending
	ended []operation.Key
}

func newWorld(t *testing.T) *world {
	w := &world{Kernel: kernel.New(kernel.Options{})}
	t.Cleanup(w.Close)
	w.ops = operation.New(w.Kernel, func(name string, body func(*kernel.Process)) *kernel.Process {
		return w.Spawn(nil, name, body)
	}, func(k operation.Key) { w.ended = append(w.ended, k) })
	return w
}

func (w *world) until(at time.Duration) { w.Run(kernel.Until{At: at}) }

func fails(*kernel.Process) error    { return errFailed }
func succeeds(*kernel.Process) error { return nil }

func takes(d time.Duration) func(*kernel.Process) error {
	return func(p *kernel.Process) error { p.Sleep(d); return nil }
}

// K-OP-1, C-GEN-4, C-GEN-5.
func TestKeysMatchWhenVolumesAreEqualAndPodsOrNodesAreEqualOrEmpty(t *testing.T) {
	for _, c := range []struct {
		running, started operation.Key
		refused          bool
	}{
		{operation.Key{Volume: "v"}, operation.Key{Volume: "v"}, true},
		{operation.Key{Volume: "v"}, operation.Key{Volume: "v", Pod: "a"}, true},
		{operation.Key{Volume: "v", Pod: "a"}, operation.Key{Volume: "v"}, true},
		{operation.Key{Volume: "v", Pod: "a"}, operation.Key{Volume: "v", Pod: "b"}, false},
		{operation.Key{Volume: "v", Node: "x"}, operation.Key{Volume: "v", Node: "y"}, false},
		{operation.Key{Volume: "v", Node: "x"}, operation.Key{Volume: "v"}, true},
		{operation.Key{Volume: "v"}, operation.Key{Volume: "w"}, false},
	} {
		w := newWorld(t)
		require.NoError(t, w.ops.Run(c.running, "mount", takes(time.Second)))
		err := w.ops.Run(c.started, "unmount", succeeds)
		if c.refused {
			assert.ErrorIs(t, err, operation.ErrPending, "%v while %v runs", c.started, c.running)
		} else {
			assert.NoError(t, err, "%v while %v runs", c.started, c.running)
		}
	}
}

func TestBackoffDoublesFromHalfASecondToTwoMinutes(t *testing.T) { // K-OP-3, C-GEN-6
	w := newWorld(t)
	key := operation.Key{Volume: "v"}
	at := time.Duration(0)
	for _, delay := range []time.Duration{500 * time.Millisecond, time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second,
		16 * time.Second, 32 * time.Second, 64 * time.Second, 122 * time.Second, 122 * time.Second} {
		require.NoError(t, w.ops.Run(key, "mount", fails))
		w.until(at + delay)
		assert.ErrorIs(t, w.ops.Run(key, "mount", fails), operation.ErrBackoff, "a retry after exactly %v is too early", delay)
		due, ok := w.ops.RetryAt(key, "mount")
		require.True(t, ok)
		at += delay + 1
		assert.Equal(t, at, due)
		w.until(at)
	}
}

func TestSuccessForgetsTheBackoff(t *testing.T) { // K-OP-3
	w := newWorld(t)
	key := operation.Key{Volume: "v"}
	require.NoError(t, w.ops.Run(key, "mount", fails))
	w.until(time.Second)
	require.NoError(t, w.ops.Run(key, "mount", succeeds))
	w.until(2 * time.Second)
	require.NoError(t, w.ops.Run(key, "mount", fails))
	w.until(2*time.Second + 501*time.Millisecond)
	assert.NoError(t, w.ops.Run(key, "mount", fails), "the delay is half a second again")
}

// C-GEN-5, K-OP-4, K-OP-5, K-RACE-21.
func TestAnotherOperationErasesTheBackoffOfTheFirst(t *testing.T) {
	w := newWorld(t)
	key := operation.Key{Volume: "v"}
	require.NoError(t, w.ops.Run(key, "volume_mount", fails))
	w.until(time.Millisecond)
	assert.False(t, w.ops.SafeToRetry(key, "volume_mount"))
	assert.True(t, w.ops.SafeToRetry(key, "unmount_device")) // C-GEN-7
	require.NoError(t, w.ops.Run(operation.Key{Volume: "v", Pod: "a"}, "unmount_device", succeeds))
	w.until(2 * time.Millisecond)
	assert.NoError(t, w.ops.Run(key, "volume_mount", fails), "nothing is left of the failed mount")
}

func TestAPendingEntryIsFoundBeforeAnExactOne(t *testing.T) { // K-OP-6
	w := newWorld(t)
	require.NoError(t, w.ops.Run(operation.Key{Volume: "v", Pod: "a"}, "unmount", fails))
	w.until(time.Millisecond)
	require.NoError(t, w.ops.Run(operation.Key{Volume: "v", Pod: "b"}, "unmount", takes(time.Second)))
	assert.True(t, w.ops.IsPending(operation.Key{Volume: "v"}))
	assert.False(t, w.ops.IsPending(operation.Key{Volume: "v", Pod: "a"}))
	assert.False(t, w.ops.Idle("v"))
	w.until(2 * time.Second)
	assert.True(t, w.ops.Idle("v"))
	assert.Len(t, w.ended, 2)
}
