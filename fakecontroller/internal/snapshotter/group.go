package snapshotter

import (
	"context"
	"fmt"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	groupv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumegroupsnapshot/v1"
	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/snapshot"
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

// echo is the time between an event of the informer and the event of its result. Where the API
// client has no limit, a group that is not ready would be cut for ever at one instant otherwise.
const echo = 10 * time.Millisecond

// informGroups queues all events of group contents, also those of the sidecar's own writes. Thereby
// a group that is not ready, or that the driver has refused for good, is cut again at once,
// whatever the backoff: only the limit of the API client slows it down. (external-snapshotter
// v8.6.0, NewCSISnapshotSideCarController: for groups the filter of C-SNAP-31 is still to do)
// C-GSNAP-5
func (r *run) informGroups(p *kernel.Process) {
	contents := component.Watch[groupContent](r.Component, p)
	for {
		for e, ok := contents.Next(); ok; e, ok = contents.Next() {
			r.noteGroupReadiness(e)
			if e.Type != store.Deleted {
				r.groupQueue.Add(store.KeyOf(e.Object))
			}
		}
		p.Sleep(echo)
		p.Wait("group snapshot contents to work on", func() bool { return contents.Len() > 0 })
	}
}

func isGroupReady(c groupContent) bool {
	return c.Status != nil && c.Status.ReadyToUse != nil && *c.Status.ReadyToUse
}

// syncGroupByKey works on the content of a group.
func (r *run) syncGroupByKey(p *kernel.Process, key store.Key) error {
	c, ok := component.Cached[groupContent](r.Component, key)
	if !ok || r.groupContents.Newest(c) != c || !r.ownGroup(c) {
		return nil
	}
	err := r.syncGroup(p, c)
	r.life.ExitIfLost(err)
	return err
}

func (r *run) ownGroup(c groupContent) bool {
	if c.Spec.Driver != r.driver {
		return false
	}
	if c.Spec.VolumeGroupSnapshotClassName == nil {
		return true
	}
	class, ok := r.groupClass(*c.Spec.VolumeGroupSnapshotClassName)
	return !ok || class.Driver == r.driver
}

func (r *run) groupClass(name string) (*groupv1.VolumeGroupSnapshotClass, bool) {
	return component.Cached[*groupv1.VolumeGroupSnapshotClass](r.Component, store.Key{Name: name})
}

func (r *run) syncGroup(p *kernel.Process, c groupContent) error {
	const failedCheck = "GroupSnapshotContentCheckandUpdateFailed"
	switch {
	case shouldDeleteGroup(c):
		return r.deleteGroup(p, c)
	case len(c.Spec.Source.VolumeHandles) > 0 && c.Status == nil:
		return r.updateGroup(p, c, r.createGroup, "GroupSnapshotCreationFailed", "Failed to create group snapshot")
	case isGroupReady(c):
		_, err := r.annotateGroupBeingCreated(p, c, false)
		return err
	case c.Spec.Source.GroupSnapshotHandles != nil:
		return r.updateGroup(p, c, r.lookAtGroup, failedCheck, "Failed to check and update group snapshot content")
	}
	// To ask about a group that is being cut is to cut it again. C-GSNAP-5
	return r.updateGroup(p, c, r.createGroup, failedCheck, "Failed to check and update group snapshot content")
}

// shouldDeleteGroup: as for single snapshots. C-SNAP-32
func shouldDeleteGroup(c groupContent) bool {
	if c.DeletionTimestamp == nil {
		return false
	}
	if c.Spec.Source.GroupSnapshotHandles != nil && c.Spec.VolumeGroupSnapshotRef.UID == "" {
		return true
	}
	return !metav1.HasAnnotation(c.ObjectMeta, snapshot.GroupBeingCreated) && metav1.HasAnnotation(c.ObjectMeta, snapshot.GroupBeingDeleted)
}

// updateGroup runs an operation on a group and records its error. The operation returns the
// resulting content, also with an error. A group that is not ready is not looked at again for that,
// unlike a single snapshot: only after a write, and at the resync.
func (r *run) updateGroup(p *kernel.Process, c groupContent, do func(*kernel.Process, groupContent) (groupContent, error), reason, failed string) error {
	c, err := do(p, c)
	if err != nil {
		r.saveGroupError(p, c, reason, fmt.Sprintf("%s: %v", failed, err))
		return err
	}
	r.groupContents.Put(c)
	return nil
}

// saveGroupError writes an error down and reports it, unless it is the one that is
// there already.
func (r *run) saveGroupError(p *kernel.Process, c groupContent, reason, message string) {
	if c.Status != nil && c.Status.Error != nil && *c.Status.Error.Message == message {
		return
	}
	now := metav1.NewTime(p.Now())
	written, err := component.PatchStatus(p, r.Component, store.KeyOf(c), func(c groupContent) {
		if c.Status == nil {
			c.Status = &groupv1.VolumeGroupSnapshotContentStatus{}
		}
		c.Status.Error = &snapshotv1.VolumeSnapshotError{Time: &now, Message: &message}
		c.Status.ReadyToUse = new(bool)
	})
	r.event(c, corev1.EventTypeWarning, reason, "%s", message)
	if err == nil {
		r.groupContents.Put(written)
	}
}

// annotateGroupBeingCreated says in the content whether the driver may be cutting.
func (r *run) annotateGroupBeingCreated(p *kernel.Process, c groupContent, on bool) (groupContent, error) {
	return annotate(p, r, c, snapshot.GroupBeingCreated, on, r.groupContents.Put)
}
