package snapshotter

import (
	"context"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	groupv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumegroupsnapshot/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

type groupContent = *groupv1.VolumeGroupSnapshotContent

// meetGroups requests the driver's capabilities for groups. The answer changes nothing.
// C-GSNAP-5
func (r *run) meetGroups(p *kernel.Process) {
	if r.groups {
		_, err := csi.NewGroupControllerClient(r.conn(p)).GroupControllerGetCapabilities(context.Background(), &csi.GroupControllerGetCapabilitiesRequest{})
		r.life.ExitIfLost(err)
	}
}

// echo is the time between an event of the informer and the resulting event. Without it, and
// without a limit of the API client, a group that is not ready would be requested again and again
// while virtual time stands still.
const echo = 10 * time.Millisecond

// informGroups queues all events of group contents, including the events of the sidecar's own
// writes. Therefore a group that is not ready, or has a final error, is requested again at once.
// Only the limit of the API client delays this, not the backoff. (external-snapshotter v8.6.0,
// NewCSISnapshotSideCarController: for groups the filter of C-SNAP-31 is still to do) C-GSNAP-5
func (r *run) informGroups(p *kernel.Process) {
	contents := component.Watch[groupContent](r.Component, p)
	for {
		for e, ok := contents.Next(); ok; e, ok = contents.Next() {
			r.groupContents.noteReadiness(e)
			if e.Type != store.Deleted {
				r.groupContents.queue.Add(store.KeyOf(e.Object))
			}
		}
		p.Sleep(echo)
		p.Wait("group snapshot contents to work on", func() bool { return contents.Len() > 0 })
	}
}

func isGroupReady(c groupContent) bool {
	return c.Status != nil && c.Status.ReadyToUse != nil && *c.Status.ReadyToUse
}

func (r *run) syncGroup(p *kernel.Process, c groupContent) error {
	const failedCheck = "GroupSnapshotContentCheckandUpdateFailed"
	switch {
	case r.groupContents.shouldDelete(c, c.Spec.Source.GroupSnapshotHandles != nil, c.Spec.VolumeGroupSnapshotRef.UID):
		return r.deleteGroup(p, c)
	case len(c.Spec.Source.VolumeHandles) > 0 && c.Status == nil:
		return r.groupContents.update(p, c, r.createGroup, "GroupSnapshotCreationFailed", "Failed to create group snapshot")
	case isGroupReady(c):
		_, err := r.groupContents.annotate(p, c, false)
		return err
	case c.Spec.Source.GroupSnapshotHandles != nil:
		return r.groupContents.update(p, c, r.lookAtGroup, failedCheck, "Failed to check and update group snapshot content")
	}
	// The sidecar checks a group snapshot in progress by repeating the call. C-GSNAP-5
	return r.groupContents.update(p, c, r.createGroup, failedCheck, "Failed to check and update group snapshot content")
}
