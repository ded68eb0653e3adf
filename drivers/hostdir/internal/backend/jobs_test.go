//go:build linux

package backend

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// openWithJobs makes a backend with jobs, a volume and two nodes.
func openWithJobs(t *testing.T, jobs Jobs) (*Backend, Volume) {
	t.Helper()
	b, err := Open(t.TempDir())
	require.NoError(t, err)
	b.Jobs = jobs
	for _, node := range []string{"a", "b"} {
		require.NoError(t, b.RegisterNode(Node{ID: node}))
	}
	v, err := b.CreateVolume(VolumeSpec{Name: "data", RequiredBytes: 1 << 20})
	require.NoError(t, err)
	return b, v
}

const jobTime = 50 * time.Millisecond

func TestAVolumeIsAttachedWhenItsJobHasEnded(t *testing.T) {
	b, v := openWithJobs(t, Jobs{Attach: jobTime})
	_, err := b.Attach(v.ID, "a", Attachment{Mode: "rw"}, true)
	require.ErrorIs(t, err, ErrPending)
	v, err = b.Volume(v.ID)
	require.NoError(t, err)
	assert.Empty(t, v.AttachedNodes())
	require.ErrorIs(t, b.DeleteVolume(v.ID), ErrInUse)

	time.Sleep(jobTime)
	v, err = b.Attach(v.ID, "a", Attachment{Mode: "rw"}, true)
	require.NoError(t, err)
	assert.Equal(t, []string{"a"}, v.AttachedNodes())
}

func TestAVolumeIsDetachedWhenItsJobHasEnded(t *testing.T) {
	for name, later := range map[string]bool{"the call says so": false, "the call answers first": true} {
		t.Run(name, func(t *testing.T) {
			b, v := openWithJobs(t, Jobs{Detach: jobTime, DetachLater: later})
			_, err := b.Attach(v.ID, "a", Attachment{Mode: "rw"}, true)
			require.NoError(t, err)
			err = b.Detach(v.ID, "a")
			if later {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, ErrPending)
			}
			_, err = b.Attach(v.ID, "b", Attachment{Mode: "rw"}, true)
			require.ErrorIs(t, err, ErrInUse)
			_, err = b.Attach(v.ID, "a", Attachment{Mode: "rw"}, true)
			require.ErrorIs(t, err, ErrPending)

			time.Sleep(jobTime)
			require.NoError(t, b.Detach(v.ID, "a"))
			require.NoError(t, b.DeleteVolume(v.ID))
		})
	}
}

func TestASnapshotIsReadyWhenItsJobHasEnded(t *testing.T) {
	b, v := openWithJobs(t, Jobs{Snapshot: jobTime})
	s, err := b.CreateSnapshot("daily", v.ID)
	require.NoError(t, err)
	assert.False(t, b.Ready(s.Created))
	_, err = b.CreateVolume(VolumeSpec{Name: "restored", Source: Source{SnapshotID: s.ID}})
	require.ErrorIs(t, err, ErrPending)

	time.Sleep(jobTime)
	assert.True(t, b.Ready(s.Created))
	_, err = b.CreateVolume(VolumeSpec{Name: "restored", Source: Source{SnapshotID: s.ID}})
	require.NoError(t, err)
}

func TestSizesAreRoundedUp(t *testing.T) {
	b, v := openWithJobs(t, Jobs{RoundUp: 1 << 30})
	assert.EqualValues(t, 1<<30, v.CapacityBytes)
	v, err := b.ExpandVolume(v.ID, 1<<30+1, 0)
	require.NoError(t, err)
	assert.EqualValues(t, 2<<30, v.CapacityBytes)
	_, err = b.ExpandVolume(v.ID, 2<<30+1, 2<<30+2)
	require.ErrorIs(t, err, ErrOutOfRange)
}
