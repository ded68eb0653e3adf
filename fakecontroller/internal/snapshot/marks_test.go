package snapshot

import (
	"fmt"
	"testing"
	"time"

	groupv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumegroupsnapshot/v1"
	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/fakecontroller/internal/snapshotter"
	tc "github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/snapshot"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

// C-SNAP-2, C-SNAP-3: finalizers and annotations through the life of a snapshot.
func TestTheMarksOfASnapshot(t *testing.T) {
	const p = "snapshot.storage.kubernetes.io/"
	w := newWorld(t, mock.Options{})
	tc.Create(w.Cluster, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "key"}})
	w.class("default", map[string]string{
		"csi.storage.k8s.io/snapshotter-secret-name": "key", "csi.storage.k8s.io/snapshotter-secret-namespace": "default",
	}, p+"is-default-class")
	claimFinalizers := func() []string { return tc.Get[claim](w.Cluster, "default", "v").Finalizers }
	hold := func(call string) {
		w.Wire.Faults.Inject(&fault.Fault{Call: call, Effect: fault.HoldRequest, Delay: 5 * time.Second, Times: 1})
	}
	secret := map[string]string{p + "deletion-secret-name": "key", p + "deletion-secret-namespace": "default"}
	with := func(key string) map[string]string {
		all := map[string]string{p + key: "yes"}
		for k, v := range secret {
			all[k] = v
		}
		return all
	}

	hold("CreateSnapshot")
	s := w.snapshot("daily", "")
	w.Run(time.Second)
	assert.Equal(t, "default", *w.get("daily").Spec.VolumeSnapshotClassName)
	assert.Equal(t, []string{p + "volumesnapshot-as-source-protection", p + "volumesnapshot-bound-protection"}, w.get("daily").Finalizers)
	assert.Contains(t, claimFinalizers(), p+"pvc-as-source-protection")
	assert.Equal(t, []string{p + "volumesnapshotcontent-bound-protection"}, w.content(s).Finalizers)
	assert.Equal(t, with("volumesnapshot-being-created"), w.content(s).Annotations)

	w.Run(10 * time.Second)
	assert.True(t, snapshot.IsReady(w.get("daily")))
	assert.NotContains(t, claimFinalizers(), p+"pvc-as-source-protection")
	assert.Equal(t, secret, w.content(s).Annotations)

	hold("DeleteSnapshot")
	tc.Delete(w.Cluster, s)
	w.Run(time.Second)
	assert.Equal(t, []string{p + "volumesnapshot-bound-protection"}, w.get("daily").Finalizers)
	assert.Equal(t, with("volumesnapshot-being-deleted"), w.content(s).Annotations)
	w.Run(10 * time.Second)
	assert.False(t, tc.Exists[volumeSnapshot](w.Cluster, "default", "daily"))

	g := groupWorld(t, kernel.Calm{}, mock.Options{})
	group := g.group("both", "fast")
	g.Run(5 * time.Second)
	member, _ := g.memberOf(group, "v")
	assert.Contains(t, member.Finalizers, p+"volumesnapshot-in-group-protection")
}

// C-SNAP-10: failures are retried after 1 s, doubling, at most 5 min. A snapshot waits only for
// this backoff.
func TestTheControllerTriesAgain(t *testing.T) {
	// The first four attempts follow each other at once; three of them result from the controller's
	// own writes.
	for late, tried := range map[time.Duration]time.Duration{
		0: time.Second, 2 * time.Second: 9 * time.Second, 10 * time.Second: 25 * time.Second, 30 * time.Second: 57 * time.Second,
		8 * time.Minute: 505 * time.Second, 10 * time.Minute: 805 * time.Second,
	} {
		w := newWorld(t, mock.Options{})
		s := tc.Create(w.Cluster, &snapshotv1.VolumeSnapshot{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "s"}, Spec: snapshotv1.VolumeSnapshotSpec{
			Source: snapshotv1.VolumeSnapshotSource{PersistentVolumeClaimName: ptr.To("late")}, VolumeSnapshotClassName: ptr.To("fast")}})
		start := w.Kernel.Elapsed()
		w.Run(late)
		w.Bound("late", "any")
		w.Run(start + tried - time.Millisecond - w.Kernel.Elapsed())
		assert.False(t, tc.Exists[content](w.Cluster, "", snapshot.ContentName(s)))
		w.Run(time.Second)
		assert.True(t, tc.Exists[content](w.Cluster, "", snapshot.ContentName(s)))
		for _, e := range w.Trace.Events() {
			if e.Kind == trace.KubeEvent && e.Method == "CreatingSnapshot" {
				assert.Equal(t, "snapshot-controller", e.Actor)
			}
		}
	}
}

// C-SNAP-20: the controller's actions for a content.
func TestTheStepsOfAContent(t *testing.T) {
	w := newWorld(t, mock.Options{})
	w.sidecar.Crash()
	made := tc.Create(w.Cluster, &snapshotv1.VolumeSnapshotContent{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Spec: snapshotv1.VolumeSnapshotContentSpec{
		VolumeSnapshotRef: corev1.ObjectReference{Namespace: "default", Name: "s"}, Driver: tc.Driver, DeletionPolicy: snapshotv1.VolumeSnapshotContentDelete,
		VolumeSnapshotClassName: ptr.To("fast"), Source: snapshotv1.VolumeSnapshotContentSource{SnapshotHandle: ptr.To("snap-9")},
	}})
	w.Run(time.Second)
	assert.Empty(t, tc.Get[content](w.Cluster, "", "c").Finalizers, "it belongs to no snapshot yet")

	s := tc.Create(w.Cluster, &snapshotv1.VolumeSnapshot{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "s"}, Spec: snapshotv1.VolumeSnapshotSpec{
		Source: snapshotv1.VolumeSnapshotSource{VolumeSnapshotContentName: ptr.To("c")}, VolumeSnapshotClassName: ptr.To("fast")}})
	w.Run(time.Second)
	assert.Equal(t, s.UID, tc.Get[content](w.Cluster, "", "c").Spec.VolumeSnapshotRef.UID)
	assert.Equal(t, []string{snapshot.ContentFinalizer}, tc.Get[content](w.Cluster, "", "c").Finalizers)
	assert.False(t, snapshot.IsReady(w.get("s")))

	tc.ChangeStatus(w.Cluster, made, func(c content) {
		c.Status = &snapshotv1.VolumeSnapshotContentStatus{SnapshotHandle: ptr.To("snap-9"), ReadyToUse: ptr.To(true)}
	})
	w.Run(time.Second)
	assert.True(t, snapshot.IsReady(w.get("s")), "the status of the content is copied")
	assert.NotContains(t, tc.Get[content](w.Cluster, "", "c").Annotations, snapshot.BeingDeleted)

	tc.Delete(w.Cluster, s)
	w.Run(time.Second)
	assert.Equal(t, "yes", tc.Get[content](w.Cluster, "", "c").Annotations[snapshot.BeingDeleted])
}

// C-SNAP-30: ten snapshots are taken at once, and each call has a timeout of a minute. Contents
// that are not ready are processed again every 15 min. If the driver has no snapshots, the sidecar
// exits.
func TestTheNumberOfConcurrentSnapshots(t *testing.T) {
	w := newWorld(t, mock.Options{})
	w.Wire.Faults.Inject(&fault.Fault{Call: "CreateSnapshot", Effect: fault.HoldRequest, Delay: time.Hour})
	for i := range 12 {
		w.snapshot(fmt.Sprint("s", i), "fast")
	}
	w.Run(59 * time.Second)
	assert.Len(t, w.Calls(createSnapshot), 10)
	w.Run(1500 * time.Millisecond)
	assert.Len(t, w.Calls(createSnapshot), 12)
	for _, e := range w.Trace.Events() {
		if e.Kind == trace.KubeEvent && e.Method == "SnapshotCreationFailed" {
			assert.Equal(t, "csi-snapshotter "+tc.Driver, e.Actor)
			assert.Equal(t, "Failed to create snapshot: failed to take snapshot of the volume h-v: \"rpc error: code = DeadlineExceeded desc = context deadline exceeded\"", e.Message)
		}
	}
	assert.NotEmpty(t, w.Events(0, trace.KubeEvent))

	none := tc.New(t, kernel.Calm{}, mock.Options{})
	sidecar := snapshotter.Start(none.World, none.Wire, snapshotter.Options{Driver: tc.Driver, Machine: none.Machine, Socket: tc.Socket})
	none.Run(time.Minute)
	assert.False(t, sidecar.Running())
}

// C-GSNAP-10: a group that was never bound is deleted without its content. The real controller does
// not find the content either.
func TestTheContentOfAGroupThatWasNeverBoundIsLeftBehind(t *testing.T) {
	w := groupWorld(t, kernel.Calm{}, mock.Options{})
	w.controller.Crash()
	w.sidecar.Crash()
	g := w.group("both", "fast")
	tc.Change(w.Cluster, g, func(g groupSnapshot) { g.Finalizers = []string{snapshot.GroupBoundFinalizer} })
	tc.Create(w.Cluster, &groupv1.VolumeGroupSnapshotContent{ObjectMeta: metav1.ObjectMeta{Name: snapshot.GroupContentName(g)}, Spec: groupv1.VolumeGroupSnapshotContentSpec{
		VolumeGroupSnapshotRef: corev1.ObjectReference{Namespace: "default", Name: "both", UID: g.UID}, Driver: tc.Driver, DeletionPolicy: snapshotv1.VolumeSnapshotContentDelete,
		Source: groupv1.VolumeGroupSnapshotContentSource{VolumeHandles: []string{"h-v", "h-w"}},
	}})
	tc.Delete(w.Cluster, g)
	w.controller = Start(w.World, Options{})
	w.Run(time.Minute)
	_, there := store.Get[groupSnapshot](w.Store, store.KeyOf(g))
	assert.False(t, there)
	left := w.groupContent(g)
	assert.Nil(t, left.DeletionTimestamp)
	assert.NotContains(t, left.Annotations, snapshot.GroupBeingDeleted)
}
