package snapshotter

import (
	groupv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumegroupsnapshot/v1"
	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/snapshot"
	"github.com/csisim/csisim/internal/world/store"
)

// snapshots returns the contents of single snapshots.
func (r *run) snapshots() *contents[content] {
	return &contents[content]{
		Overlay: component.NewOverlay[content](r.Component), run: r, sync: r.sync, isReady: isReady, waits: r.opts.Version.Has(sidecar.RetriesUnready),
		marks: marks{snapshot.BeingCreated, snapshot.BeingDeleted, snapshot.DeletionSecretName, snapshot.DeletionSecretNamespace, snapshot.ContentFinalizer},
		words: words{
			noun: "snapshot", subject: "content", ofStatus: "volume snapshot content", unmarked: "content",
			annotation: "VolumeSnapshotBeingCreated", deleteError: "SnapshotDeleteError", template: "volumesnapshot",
		},
		spec: func(c content) (string, *string) { return c.Spec.Driver, c.Spec.VolumeSnapshotClassName },
		status: func(c content) (**snapshotv1.VolumeSnapshotError, **bool) {
			if c.Status == nil {
				c.Status = &snapshotv1.VolumeSnapshotContentStatus{}
			}
			return &c.Status.Error, &c.Status.ReadyToUse
		},
		findClass: func(name string) (class, bool) {
			found, ok := component.Cached[*snapshotv1.VolumeSnapshotClass](r.Component, store.Key{Name: name})
			if !ok {
				return class{}, false
			}
			return class{found.Driver, found.Parameters}, true
		},
		classes: schema.GroupResource{Group: snapshotv1.GroupName, Resource: "volumesnapshotclass"}, lists: snapshot.SnapshotterList,
	}
}

// groupSnapshots returns the contents of groups. Unlike a single snapshot, a group that is not
// ready is processed again only after a write, and at the resync.
func (r *run) groupSnapshots() *contents[groupContent] {
	return &contents[groupContent]{
		Overlay: component.NewOverlay[groupContent](r.Component), run: r, sync: r.syncGroup, isReady: isGroupReady,
		marks: marks{snapshot.GroupBeingCreated, snapshot.GroupBeingDeleted, snapshot.GroupDeletionSecretName, snapshot.GroupDeletionSecretNamespace, snapshot.GroupContentFinalizer},
		words: words{
			noun: "group snapshot", subject: "group snapshot content", ofStatus: "volume group snapshot content", unmarked: "groupSnapshotContent",
			annotation: "VolumeGroupSnapshotBeingCreated", deleteError: "GroupSnapshotDeleteError", template: "volumegroupsnapshot",
		},
		spec: func(c groupContent) (string, *string) { return c.Spec.Driver, c.Spec.VolumeGroupSnapshotClassName },
		status: func(c groupContent) (**snapshotv1.VolumeSnapshotError, **bool) {
			if c.Status == nil {
				c.Status = &groupv1.VolumeGroupSnapshotContentStatus{}
			}
			return &c.Status.Error, &c.Status.ReadyToUse
		},
		findClass: func(name string) (class, bool) {
			found, ok := component.Cached[*groupv1.VolumeGroupSnapshotClass](r.Component, store.Key{Name: name})
			if !ok {
				return class{}, false
			}
			return class{found.Driver, found.Parameters}, true
		},
		classes: schema.GroupResource{Group: groupv1.GroupName, Resource: "volumegroupsnapshotclass"}, lists: snapshot.GroupSnapshotterGet,
	}
}
