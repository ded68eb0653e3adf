package snapshotter

import (
	"context"
	"fmt"
	"maps"

	"github.com/container-storage-interface/spec/lib/go/csi"
	groupv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumegroupsnapshot/v1"
	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/sim/component"
	"github.com/csisim/csisim/sim/kernel"
	"github.com/csisim/csisim/sim/snapshot"
	"github.com/csisim/csisim/sim/store"
)

type groupContent = *groupv1.VolumeGroupSnapshotContent

// meetGroups asks what the driver can do with groups. The answer changes nothing.
// C-GSNAP-5
func (r *run) meetGroups(p *kernel.Process) {
	if r.groups {
		_, err := csi.NewGroupControllerClient(r.conn(p)).GroupControllerGetCapabilities(context.Background(), &csi.GroupControllerGetCapabilitiesRequest{})
		r.life.ExitIfLost(err)
	}
}

// informGroups queues what the informers tell of group contents.
func (r *run) informGroups(p *kernel.Process) {
	contents := component.Watch[groupContent](r.Component, p)
	for {
		for e, ok := contents.Next(); ok; e, ok = contents.Next() {
			if e.Type == store.Added || e.Type == store.Modified && groupMatters(e.Old, e.Object) {
				r.groupQueue.Add(store.KeyOf(e.Object))
			}
		}
		p.Wait("group snapshot contents to work on", func() bool { return contents.Len() > 0 })
	}
}

// groupMatters: as for single snapshots. The real sidecar has no such filter for
// groups: what it writes itself breaks its backoff, and its API client's limit of
// five requests a second is all that slows it down.
func groupMatters(old, now groupContent) bool {
	if !isGroupReady(old) && isGroupReady(now) {
		return true
	}
	was, is := *old, *now
	for _, c := range []groupContent{&was, &is} {
		c.ResourceVersion, c.ManagedFields, c.Finalizers, c.Status = "", nil, nil, nil
		c.Annotations = maps.Clone(c.Annotations)
		delete(c.Annotations, snapshot.GroupBeingCreated)
	}
	return !equality.Semantic.DeepEqual(&was, &is)
}

func isGroupReady(c groupContent) bool {
	return c.Status != nil && c.Status.ReadyToUse != nil && *c.Status.ReadyToUse
}

// syncGroupByKey does what the content of a group asks for.
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

// updateGroup does something about a group and writes down an error. What it does
// returns the content as it is then, also with an error.
func (r *run) updateGroup(p *kernel.Process, c groupContent, do func(*kernel.Process, groupContent) (groupContent, error), reason, failed string) error {
	c, err := do(p, c)
	if err != nil {
		r.saveGroupError(p, c, reason, fmt.Sprintf("%s: %v", failed, err))
		return err
	}
	r.groupContents.Put(c)
	if !isGroupReady(c) {
		return errNotReady
	}
	return nil
}

// saveGroupError writes an error down and tells of it, unless it is the one that is
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
	if metav1.HasAnnotation(c.ObjectMeta, snapshot.GroupBeingCreated) == on {
		return c, nil
	}
	changed, err := component.Patch(p, r.Component, store.KeyOf(c), func(c groupContent) {
		if on {
			metav1.SetMetaDataAnnotation(&c.ObjectMeta, snapshot.GroupBeingCreated, "yes")
		} else {
			delete(c.Annotations, snapshot.GroupBeingCreated)
		}
	})
	if err != nil {
		return c, failedToUpdate(c.Name, err)
	}
	r.groupContents.Put(changed)
	return changed, nil
}
