// Package snapshot is the snapshot-controller. It creates contents for snapshots of claims, binds
// snapshots and contents, and copies the content's status from csi-snapshotter into the snapshot.
// It protects both until they may be deleted.
package snapshot

import (
	"time"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/snapshot"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workqueue"
)

type (
	volumeSnapshot = *snapshotv1.VolumeSnapshot
	content        = *snapshotv1.VolumeSnapshotContent
	class          = *snapshotv1.VolumeSnapshotClass
	claim          = *corev1.PersistentVolumeClaim
)

// Controller is a running snapshot-controller.
type Controller struct {
	*component.Component
	// snapshots and contents are its caches, updated with its own writes. C-SNAP-11
	snapshots *component.Overlay[volumeSnapshot]
	contents  *component.Overlay[content]
	// groups and groupContents are the caches of group snapshots.
	groups        *component.Overlay[groupSnapshot]
	groupContents *component.Overlay[groupContent]
	single        *binding[volumeSnapshot, content]
	group         *binding[groupSnapshot, groupContent]
	// Its queues. C-SNAP-10
	snapshotQueue, contentQueue   *workqueue.Queue[store.Key]
	groupQueue, groupContentQueue *workqueue.Queue[store.Key]

	operations map[operationKey]operationStart // operations that are being measured
}

// Start runs the snapshot-controller, or one of its replicas.
func Start(w *component.World, o Options) *sidecar.Program {
	return sidecar.Run(w, o.Flags, func(life *sidecar.Life) *component.Component {
		c := newController(w, o)
		if !o.Elects() {
			c.lead()
			return c.Component
		}
		c.Go("leader election", func(p *kernel.Process) {
			life.Lead(p, Lock)
			c.lead()
		})
		return c.Component
	})
}

func newController(w *component.World, o Options) *Controller {
	c := &Controller{Component: w.Start(o.Called(Name), ""), operations: map[operationKey]operationStart{}}
	c.snapshots = component.NewOverlay[volumeSnapshot](c.Component)
	c.contents = component.NewOverlay[content](c.Component)
	c.groups = component.NewOverlay[groupSnapshot](c.Component)
	c.groupContents = component.NewOverlay[groupContent](c.Component)
	c.single, c.group = c.ofSnapshots(), c.ofGroups()
	// C-SNAP-10.
	retrying := workqueue.Options{Workers: 10, FirstDelay: time.Second, MaxDelay: 5 * time.Minute}
	c.snapshotQueue = workqueue.New("snapshots", retrying, c.Go, newest(c, c.snapshots, c.syncSnapshot))
	c.contentQueue = workqueue.New("contents", retrying, c.Go, newest(c, c.contents, c.syncContent))
	c.groupQueue = workqueue.New("group snapshots", retrying, c.Go, newest(c, c.groups, c.syncGroup))
	c.groupContentQueue = workqueue.New("group contents", retrying, c.Go, newest(c, c.groupContents, c.syncGroupContent))
	return c
}

// lead starts the controller's work. With replicas, only the leader calls it.
func (c *Controller) lead() {
	c.Inform(c.informers())
	c.Go("informers of groups", func(p *kernel.Process) { c.RunInformers(p, c.groupInformers()) })
}

// informers queue every snapshot and content that they deliver. For a deleted object they queue its
// counterpart, which may wait for the deletion.
func (c *Controller) informers() component.Informers {
	return component.Informers{News: "snapshots and contents to work on", Sources: []component.Source{
		component.On(func(e store.Event[volumeSnapshot]) {
			if e.Type != store.Deleted {
				c.snapshotQueue.Add(store.KeyOf(e.Object))
				return
			}
			c.deleted(e.Object)
			if name := snapshot.BoundContent(e.Object); name != "" {
				c.contentQueue.Add(store.Key{Name: name})
			}
		}),
		component.On(func(e store.Event[content]) {
			if e.Type != store.Deleted {
				c.contentQueue.Add(store.KeyOf(e.Object))
			} else {
				c.snapshotQueue.Add(snapshotOf(e.Object))
			}
		}),
	}}
}

// groupInformers queue group snapshots and their contents in the same way.
func (c *Controller) groupInformers() component.Informers {
	return component.Informers{News: "group snapshots and contents to work on", Sources: []component.Source{
		component.On(func(e store.Event[groupSnapshot]) {
			if e.Type != store.Deleted {
				c.groupQueue.Add(store.KeyOf(e.Object))
			} else if name := snapshot.BoundGroupContent(e.Object); name != "" {
				c.groupContentQueue.Add(store.Key{Name: name})
			}
		}),
		component.On(func(e store.Event[groupContent]) {
			if e.Type != store.Deleted {
				c.groupContentQueue.Add(store.KeyOf(e.Object))
			} else {
				c.groupQueue.Add(groupOf(e.Object))
			}
		}),
	}}
}

// snapshotOf returns the key of the snapshot of a content.
func snapshotOf(c content) store.Key {
	return store.Key{Namespace: c.Spec.VolumeSnapshotRef.Namespace, Name: c.Spec.VolumeSnapshotRef.Name}
}

func (c *Controller) warn(about store.Object, reason, format string, args ...any) {
	c.Event(about, corev1.EventTypeWarning, reason, format, args...)
}
