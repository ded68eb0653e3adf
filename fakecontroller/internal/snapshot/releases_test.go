package snapshot

import (
	"slices"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/csisim/csisim/drivers/mock"
	tc "github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/trace"
)

// Given a driver that completes a snapshot after several calls, when csi-snapshotter is older than
// 8.0, then its own writes cause calls without a pause. C-SNAP-31,
// kubernetes-csi/external-snapshotter#1009
func TestOldReleasesCallAgainAfterTheirOwnWrites(t *testing.T) {
	for release, calls := range map[sidecar.Release]int{"6.3": 4, "7.0": 4, "8.0": 1, "": 1} {
		w := newWorld(t, mock.Options{SnapshotPolls: 3}).with(release)
		w.snapshot("slow", "fast")
		w.Run(500 * time.Millisecond)
		assert.Len(t, w.Calls(createSnapshot), calls, release)
		w.Run(time.Minute)
		assert.Len(t, w.Calls(createSnapshot), 4, release)
	}
}

// Given an existing snapshot that is not ready, when csi-snapshotter is older than 7.0, then it
// calls ListSnapshots again only at the resync. C-SNAP-36, kubernetes-csi/external-snapshotter#958
func TestOldReleasesDoNotRetryExistingSnapshots(t *testing.T) {
	for release, ready := range map[sidecar.Release]bool{"6.3": false, "7.0": true, "": true} {
		w := newWorld(t, mock.Options{SnapshotPolls: 6, ListSnapshots: true}).with(release)
		_, err := w.Driver.Controller().CreateSnapshot(t.Context(), &csi.CreateSnapshotRequest{Name: "s", SourceVolumeId: "h-v"})
		require.NoError(t, err)
		givenContent(w.Cluster)
		givenSnapshot(w.Cluster)
		w.Run(10 * time.Minute)
		assert.Equal(t, ready, *w.get("given").Status.ReadyToUse, release)
	}
}

// Given a snapshot that is deleted while the result of its creation is unknown, when it becomes
// ready, then it is deleted at once. Older releases delete it at the resync; releases without a
// resync never do. C-SNAP-31, kubernetes-csi/external-snapshotter#1302 and #1392
func TestADeletionDuringTheCreationTakesLongerInOldReleases(t *testing.T) {
	for release, gone := range map[sidecar.Release]time.Duration{"7.0": 5 * time.Minute, "8.2": 0, "8.5": 15 * time.Minute, "8.6": 5 * time.Minute} {
		w := newWorld(t, mock.Options{}).with(release)
		w.Fail("CreateSnapshot", codes.DeadlineExceeded, 7)
		s := w.snapshot("daily", "fast")
		w.Run(2 * time.Second)
		tc.Delete(w.Cluster, s)
		var after time.Duration
		for after < 40*time.Minute && tc.Exists[volumeSnapshot](w.Cluster, "default", "daily") {
			w.Run(5 * time.Minute)
			after += 5 * time.Minute
		}
		if gone == 0 {
			assert.Equal(t, 40*time.Minute, after, release)
			continue
		}
		assert.Equal(t, gone, after, release)
	}
}

// Given a group of snapshots, when it is deleted, then older releases also delete each member.
// C-GSNAP-9, kubernetes-csi/external-snapshotter#1231
func TestOldReleasesDeleteTheMembersOfAGroup(t *testing.T) {
	for release, members := range map[sidecar.Release]bool{"8.1": true, "8.2": false, "": false} {
		w := groupWorld(t, kernel.Calm{}, mock.Options{}).with(release)
		g := w.group("daily", "fast")
		w.Run(time.Second)
		tc.Delete(w.Cluster, g)
		w.Run(time.Minute)
		assert.Len(t, w.Calls(deleteGroup), 1, release)
		assert.Equal(t, members, len(w.Calls(deleteSnapshot)) > 0, release)
	}
}

// Given a driver with groups, when csi-snapshotter is older than 7.0, then it makes snapshots, but
// no groups, and the trace says so. C-GSNAP-5, kubernetes-csi/external-snapshotter#882
func TestOldReleasesMakeNoGroups(t *testing.T) {
	for release, makes := range map[sidecar.Release]bool{"6.2": false, "6.3": false, "7.0": true, "": true} {
		w := groupWorld(t, kernel.Calm{}, mock.Options{}).with(release)
		w.class("single", nil)
		w.snapshot("hourly", "single")
		w.group("daily", "fast")
		w.Run(time.Minute)
		assert.NotEmpty(t, w.Calls(createSnapshot), release)
		assert.Equal(t, makes, len(w.Calls(createGroup)) > 0, release)
		says := "csi-snapshotter " + string(release) + " does not create and delete group snapshots: releases since 7.0 do"
		noted := slices.ContainsFunc(w.Trace.Events(), func(e *trace.Event) bool { return e.Message == says })
		assert.Equal(t, !makes, noted, release)
	}
}
