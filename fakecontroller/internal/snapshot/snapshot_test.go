package snapshot

import (
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/fakecontroller/internal/snapshotter"
	tc "github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/snapshot"
	"github.com/csisim/csisim/internal/world/trace"
)

const (
	createSnapshot = "Controller/CreateSnapshot"
	deleteSnapshot = "Controller/DeleteSnapshot"
	listSnapshots  = "Controller/ListSnapshots"
)

// world is a cluster with claim and volume v, a snapshot class, the controller and
// the sidecar.
type world struct {
	*tc.Cluster
	controller *sidecar.Program
	sidecar    *sidecar.Program
	perSecond  sidecar.Rate // requests to the API
	release    sidecar.Release
}

// unlimited is for tests that do not cover C-LIB-7.
const unlimited = -1

func newWorld(t *testing.T, o mock.Options) *world {
	o.Snapshot = true
	o.Existing = []mock.ExistingVolume{{ID: "h-v"}}
	w := &world{Cluster: tc.New(t, kernel.Calm{}, o), perSecond: unlimited}
	w.Bound("v", "any")
	w.class("fast", nil)
	w.start()
	w.Run(time.Second)
	return w
}

func (w *world) start() {
	w.controller = Start(w.World, Options{Flags: sidecar.Flags{KubeAPIQPS: w.perSecond}})
	w.sidecar = snapshotter.Start(w.World, w.Wire, snapshotter.Options{
		Version: w.release, Driver: tc.Driver, Machine: w.Machine, Socket: tc.Socket, Flags: sidecar.Flags{KubeAPIQPS: w.perSecond},
	})
}

// with replaces the sidecar with another release of the sidecar.
func (w *world) with(release sidecar.Release) *world {
	w.controller.Crash()
	w.sidecar.Crash()
	w.release = release
	w.start()
	w.Run(time.Second)
	return w
}

func (w *world) class(name string, parameters map[string]string, annotations ...string) {
	c := &snapshotv1.VolumeSnapshotClass{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Driver: tc.Driver, DeletionPolicy: snapshotv1.VolumeSnapshotContentDelete, Parameters: parameters,
	}
	for _, a := range annotations {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, a, "true")
	}
	tc.Create(w.Cluster, c)
}

// snapshot makes a snapshot of claim v. An empty class means no class.
func (w *world) snapshot(name, class string) volumeSnapshot {
	s := &snapshotv1.VolumeSnapshot{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec:       snapshotv1.VolumeSnapshotSpec{Source: snapshotv1.VolumeSnapshotSource{PersistentVolumeClaimName: ptr.To("v")}},
	}
	if class != "" {
		s.Spec.VolumeSnapshotClassName = &class
	}
	return tc.Create(w.Cluster, s)
}

func (w *world) get(name string) volumeSnapshot {
	return tc.Get[volumeSnapshot](w.Cluster, "default", name)
}

func (w *world) content(s volumeSnapshot) content {
	return tc.Get[content](w.Cluster, "", snapshot.ContentName(s))
}

// Trace j: C-SNAP-12 to C-SNAP-14, C-SNAP-19 to C-SNAP-21, C-SNAP-34
func TestASnapshotIsTaken(t *testing.T) {
	w := newWorld(t, mock.Options{})
	start := w.Trace.Last()
	s := w.snapshot("daily", "fast")
	w.Run(time.Second)
	assert.Equal(t, []string{
		"ADDED volumesnapshots",
		"MODIFIED volumesnapshots",        // volumesnapshot-as-source-protection
		"MODIFIED persistentvolumeclaims", // pvc-as-source-protection
		"ADDED volumesnapshotcontents",
		"CreatingSnapshot Waiting for a snapshot default/daily to be created by the CSI driver.",
		"MODIFIED volumesnapshots",        // bound, not ready
		"MODIFIED volumesnapshots",        // volumesnapshot-bound-protection
		"MODIFIED volumesnapshotcontents", // volumesnapshotcontent-bound-protection
		"MODIFIED volumesnapshotcontents", // being created
		"CreateSnapshot",
		"MODIFIED volumesnapshotcontents", // ready
		"MODIFIED volumesnapshotcontents", // no longer being created
		"SnapshotCreated Snapshot default/daily was successfully created by the CSI driver.",
		"SnapshotReady Snapshot default/daily is ready to use.",
		"MODIFIED volumesnapshots",        // ready
		"MODIFIED persistentvolumeclaims", // without pvc-as-source-protection
	}, w.Events(start, trace.API, trace.Call, trace.KubeEvent))

	request := w.Calls(createSnapshot)[0].Request.(*csi.CreateSnapshotRequest)
	assert.Equal(t, "snapshot-"+string(s.UID), request.GetName()) // C-SNAP-5
	assert.Equal(t, "h-v", request.GetSourceVolumeId())
	assert.Empty(t, request.GetParameters())

	ready := w.get("daily")
	assert.Equal(t, "1Gi", ready.Status.RestoreSize.String())
	assert.Equal(t, []string{snapshot.AsSourceFinalizer, snapshot.BoundFinalizer}, ready.Finalizers)
	made := w.content(s)
	assert.Equal(t, "snap-0001", *made.Status.SnapshotHandle)
	assert.Equal(t, int64(1<<30), *made.Status.RestoreSize)
	assert.Equal(t, ready.Status.CreationTime.UnixNano(), *made.Status.CreationTime)
	assert.Equal(t, snapshotv1.VolumeSnapshotContentSpec{
		VolumeSnapshotRef: corev1.ObjectReference{
			APIVersion: "snapshot.storage.k8s.io/v1", Kind: "VolumeSnapshot", Namespace: "default", Name: "daily",
			UID: s.UID, ResourceVersion: made.Spec.VolumeSnapshotRef.ResourceVersion,
		},
		DeletionPolicy: snapshotv1.VolumeSnapshotContentDelete, Driver: tc.Driver, VolumeSnapshotClassName: ptr.To("fast"),
		Source: snapshotv1.VolumeSnapshotContentSource{VolumeHandle: ptr.To("h-v")}, SourceVolumeMode: ptr.To(corev1.PersistentVolumeFilesystem),
	}, made.Spec)
}

// Trace j: C-SNAP-18, C-SNAP-32, C-SNAP-33
func TestASnapshotIsDeletedWithItsContent(t *testing.T) {
	w := newWorld(t, mock.Options{})
	s := w.snapshot("daily", "fast")
	w.Run(time.Second)
	start := w.Trace.Last()
	tc.Delete(w.Cluster, s)
	w.Run(time.Second)
	assert.Equal(t, []string{
		"MODIFIED volumesnapshots",        // deletionTimestamp
		"MODIFIED volumesnapshotcontents", // being deleted
		"MODIFIED volumesnapshotcontents", // deletionTimestamp
		"MODIFIED volumesnapshots",        // without volumesnapshot-as-source-protection
		"DeleteSnapshot",
		"MODIFIED volumesnapshotcontents", // no longer refers to a snapshot
		"DELETED volumesnapshotcontents",
		"DELETED volumesnapshots",
	}, w.Events(start, trace.API, trace.Call, trace.KubeEvent))
	assert.Empty(t, w.Driver.Snapshots())
}

// C-SNAP-18, C-SNAP-33
func TestARetainedSnapshotIsNotDeleted(t *testing.T) {
	w := newWorld(t, mock.Options{})
	s := w.snapshot("daily", "fast")
	w.Run(time.Second)
	tc.Change(w.Cluster, w.content(s), func(c content) { c.Spec.DeletionPolicy = snapshotv1.VolumeSnapshotContentRetain })
	tc.Delete(w.Cluster, s)
	w.Run(time.Minute)
	assert.False(t, tc.Exists[volumeSnapshot](w.Cluster, "default", "daily"))
	assert.Equal(t, "yes", w.content(s).Annotations[snapshot.BeingDeleted])
	assert.Len(t, w.Driver.Snapshots(), 1)

	tc.Delete(w.Cluster, w.content(s))
	w.Run(time.Second)
	assert.False(t, tc.Exists[content](w.Cluster, "", snapshot.ContentName(s)))
	assert.Empty(t, w.Calls(deleteSnapshot))
}

// C-SNAP-36
func TestCreateSnapshotIsRepeatedUntilTheSnapshotIsReady(t *testing.T) {
	w := newWorld(t, mock.Options{SnapshotPolls: 3})
	w.snapshot("slow", "fast")
	w.Run(500 * time.Millisecond)
	s := w.get("slow")
	assert.False(t, *s.Status.ReadyToUse)
	assert.NotNil(t, s.Status.CreationTime, "it is cut")
	assert.Contains(t, tc.Get[claim](w.Cluster, "default", "v").Finalizers, snapshot.ClaimFinalizer)
	w.Run(time.Minute)
	assert.Equal(t, []time.Duration{0, time.Second, 3 * time.Second, 7 * time.Second}, w.Times(createSnapshot))
	assert.True(t, *w.get("slow").Status.ReadyToUse)
	assert.NotContains(t, tc.Get[claim](w.Cluster, "default", "v").Finalizers, snapshot.ClaimFinalizer)
}

// C-SNAP-16, C-SNAP-35: a repeated message is reported once.
func TestAnErrorIsReportedOnceAndRetried(t *testing.T) {
	w := newWorld(t, mock.Options{})
	start := w.Trace.Last()
	w.Fail("CreateSnapshot", codes.Internal, 3)
	s := w.snapshot("daily", "fast")
	w.Run(2 * time.Second)
	const why = `failed to take snapshot of the volume h-v: "rpc error: code = Internal desc = refused"`
	assert.Equal(t, []string{
		"CreatingSnapshot Waiting for a snapshot default/daily to be created by the CSI driver.",
		"SnapshotCreationFailed Failed to create snapshot: " + why,
		"SnapshotContentCheckandUpdateFailed Failed to check and update snapshot content: " + why,
	}, w.Events(start, trace.KubeEvent))
	assert.Equal(t, "Failed to check and update snapshot content: "+why, *w.get("daily").Status.Error.Message)
	assert.NotContains(t, w.content(s).Annotations, snapshot.BeingCreated, "after a final error the driver does nothing more")
	w.Run(time.Minute)
	assert.Equal(t, []time.Duration{0, time.Second, 3 * time.Second, 7 * time.Second}, w.Times(createSnapshot))
	assert.True(t, *w.get("daily").Status.ReadyToUse)
	assert.Nil(t, w.get("daily").Status.Error)
	assert.Nil(t, w.content(s).Status.Error)
}

// C-SNAP-32, C-SNAP-35: after a timeout the snapshot may exist, so the deletion waits for an answer
// of the driver. conformance: csimock-snapshot-secrets
func TestADeletionWaitsUntilTheOutcomeIsKnown(t *testing.T) {
	w := newWorld(t, mock.Options{})
	w.class("secret", map[string]string{
		"csi.storage.k8s.io/snapshotter-secret-name":      "${volumesnapshot.name}",
		"csi.storage.k8s.io/snapshotter-secret-namespace": "${volumesnapshot.namespace}",
		"level": "full",
	})
	tc.Create(w.Cluster, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "daily"}, Data: map[string][]byte{"k": []byte("v")}})
	w.Fail("CreateSnapshot", codes.DeadlineExceeded, 7)
	s := w.snapshot("daily", "secret")
	w.Run(2 * time.Second)
	assert.Equal(t, "yes", w.content(s).Annotations[snapshot.BeingCreated])
	assert.Equal(t, "daily", w.content(s).Annotations[snapshot.DeletionSecretName]) // C-SNAP-4
	assert.Equal(t, "default", w.content(s).Annotations[snapshot.DeletionSecretNamespace])
	tc.Delete(w.Cluster, s)
	w.Run(time.Minute)
	assert.True(t, tc.Exists[volumeSnapshot](w.Cluster, "default", "daily"))
	assert.Empty(t, w.Calls(deleteSnapshot))
	w.Run(10 * time.Minute)
	assert.False(t, tc.Exists[volumeSnapshot](w.Cluster, "default", "daily"))
	require.Len(t, w.Calls(deleteSnapshot), 1)
	request := w.Calls(createSnapshot)[7].Request.(*csi.CreateSnapshotRequest)
	assert.Equal(t, map[string]string{"k": "v"}, request.GetSecrets())
	assert.Equal(t, map[string]string{"level": "full"}, request.GetParameters())
	assert.Equal(t, map[string]string{"k": "v"}, w.Calls(deleteSnapshot)[0].Request.(*csi.DeleteSnapshotRequest).GetSecrets())
	assert.Empty(t, w.Driver.Snapshots())
}

// C-SNAP-33
func TestADeletionThatFailsIsRetried(t *testing.T) {
	w := newWorld(t, mock.Options{})
	s := w.snapshot("daily", "fast")
	w.Run(time.Second)
	w.Fail("DeleteSnapshot", codes.Internal, 2)
	tc.Delete(w.Cluster, s)
	w.Run(time.Minute)
	assert.Equal(t, []time.Duration{0, time.Second, 3 * time.Second}, w.Times(deleteSnapshot))
	assert.Contains(t, w.Events(0, trace.KubeEvent), "SnapshotDeleteError Failed to delete snapshot")
	assert.False(t, tc.Exists[volumeSnapshot](w.Cluster, "default", "daily"))
}

// C-SNAP-12 (1)
func TestTheClassOfASnapshot(t *testing.T) {
	for _, c := range []struct {
		rule, class string
		defaults    int
		event       string
		want        *string
	}{
		{rule: "named", class: "fast", want: ptr.To("fast")},
		{rule: "named but missing", class: "none", want: ptr.To("none"),
			event: `GetSnapshotClassFailed Failed to get snapshot class with error volumesnapshotclass.snapshot.storage.k8s.io "none" not found`},
		{rule: "the default", defaults: 1, want: ptr.To("default-0")},
		{rule: "no default", event: "SetDefaultSnapshotClassFailed Failed to set default snapshot class with error cannot find default snapshot class"},
		{rule: "two defaults", defaults: 2, event: "SetDefaultSnapshotClassFailed Failed to set default snapshot class with error 2 default snapshot classes were found"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			w := newWorld(t, mock.Options{})
			for i := range c.defaults {
				w.class([]string{"default-0", "default-1"}[i], nil, snapshot.IsDefaultClass)
			}
			w.snapshot("daily", c.class)
			w.Run(10 * time.Second)
			s := w.get("daily")
			assert.Equal(t, c.want, s.Spec.VolumeSnapshotClassName)
			if c.event == "" {
				assert.True(t, *s.Status.ReadyToUse)
				return
			}
			assert.Equal(t, []string{c.event}, w.Events(0, trace.KubeEvent))
			assert.Empty(t, w.Calls(createSnapshot))
		})
	}
}

// C-SNAP-13
func TestNoSnapshotIsTakenOfAnUnboundClaim(t *testing.T) {
	w := newWorld(t, mock.Options{})
	tc.ChangeStatus(w.Cluster, tc.Get[claim](w.Cluster, "default", "v"), func(pvc claim) { pvc.Status.Phase = corev1.ClaimPending })
	w.snapshot("daily", "fast")
	w.Run(time.Second)
	assert.Contains(t, w.Events(0, trace.KubeEvent),
		`SnapshotContentCreationFailed Failed to create snapshot content with error failed to get input parameters to create snapshot daily: "the PVC v is not yet bound to a PV, will not attempt to take a snapshot"`)
	tc.ChangeStatus(w.Cluster, tc.Get[claim](w.Cluster, "default", "v"), func(pvc claim) { pvc.Status.Phase = corev1.ClaimBound })
	w.Run(time.Minute)
	assert.True(t, *w.get("daily").Status.ReadyToUse)
}

// givenContent makes a pre-provisioned content for the first snapshot of a driver.
func givenContent(c *tc.Cluster) {
	tc.Create(c, &snapshotv1.VolumeSnapshotContent{
		ObjectMeta: metav1.ObjectMeta{Name: "given"},
		Spec: snapshotv1.VolumeSnapshotContentSpec{
			Driver: tc.Driver, DeletionPolicy: snapshotv1.VolumeSnapshotContentDelete,
			VolumeSnapshotRef: corev1.ObjectReference{Namespace: "default", Name: "given"},
			Source:            snapshotv1.VolumeSnapshotContentSource{SnapshotHandle: ptr.To("snap-0001")},
		},
	})
}

// givenSnapshot makes a snapshot with this content.
func givenSnapshot(c *tc.Cluster) *snapshotv1.VolumeSnapshot {
	return tc.Create(c, &snapshotv1.VolumeSnapshot{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "given"},
		Spec:       snapshotv1.VolumeSnapshotSpec{Source: snapshotv1.VolumeSnapshotSource{VolumeSnapshotContentName: ptr.To("given")}},
	})
}

// C-SNAP-15, C-SNAP-37, C-SNAP-38
func TestAPreexistingSnapshot(t *testing.T) {
	for _, lists := range []bool{true, false} {
		w := newWorld(t, mock.Options{ListSnapshots: lists})
		w.snapshot("cut", "fast")
		w.Run(time.Second)
		givenContent(w.Cluster)
		w.Run(time.Second)
		assert.Empty(t, tc.Get[content](w.Cluster, "", "given").Finalizers, "it is ignored until its snapshot exists")
		givenSnapshot(w.Cluster)
		w.Run(time.Minute)
		s := w.get("given")
		assert.True(t, *s.Status.ReadyToUse)
		assert.Equal(t, s.UID, tc.Get[content](w.Cluster, "", "given").Spec.VolumeSnapshotRef.UID)
		if lists {
			assert.NotEmpty(t, w.Calls(listSnapshots))
			assert.Equal(t, "1Gi", s.Status.RestoreSize.String())
		} else {
			assert.Empty(t, w.Calls(listSnapshots))
			assert.Nil(t, s.Status.RestoreSize, "a driver that does not list is believed")
		}
		looked := len(w.Calls(listSnapshots))
		w.Run(time.Hour)
		assert.Len(t, w.Calls(listSnapshots), looked, "a ready snapshot is not polled again")
	}
}

// C-SNAP-14, C-SNAP-15, C-SNAP-17
func TestWrongContentsAreRefused(t *testing.T) {
	w := newWorld(t, mock.Options{})
	other := w.snapshot("other", "fast")
	w.Run(time.Second)
	ask := func(name, contentName string) []string {
		start := w.Trace.Last()
		tc.Create(w.Cluster, &snapshotv1.VolumeSnapshot{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
			Spec:       snapshotv1.VolumeSnapshotSpec{Source: snapshotv1.VolumeSnapshotSource{VolumeSnapshotContentName: &contentName}},
		})
		w.Run(time.Second)
		return w.Events(start, trace.KubeEvent)
	}
	assert.Equal(t, []string{"SnapshotContentMissing VolumeSnapshotContent is missing"}, ask("a", "nowhere"))
	assert.Contains(t, ask("b", snapshot.ContentName(other)), "SnapshotContentMismatch VolumeSnapshotContent is dynamically provisioned while expecting a pre-provisioned one")
	tc.Create(w.Cluster, &snapshotv1.VolumeSnapshotContent{
		ObjectMeta: metav1.ObjectMeta{Name: "somebodys"},
		Spec: snapshotv1.VolumeSnapshotContentSpec{
			Driver: tc.Driver, DeletionPolicy: snapshotv1.VolumeSnapshotContentDelete,
			VolumeSnapshotRef: corev1.ObjectReference{Namespace: "default", Name: "else"},
			Source:            snapshotv1.VolumeSnapshotContentSource{SnapshotHandle: ptr.To("snap-0001")},
		},
	})
	assert.Contains(t, ask("c", "somebodys"), "SnapshotContentMisbound VolumeSnapshotContent [somebodys] is bound to a different snapshot")
	assert.False(t, *w.get("c").Status.ReadyToUse)
}

// C-SNAP-17: the error ends the readiness. A snapshot that is not ready is created again, under the
// same name.
func TestAReadySnapshotMissesItsContent(t *testing.T) {
	w := newWorld(t, mock.Options{})
	s := w.snapshot("daily", "fast")
	w.Run(time.Second)
	tc.Change(w.Cluster, w.content(s), func(c content) { c.Finalizers = nil })
	start := w.Trace.Last()
	w.sidecar.Crash()
	w.controller.Crash()
	tc.Delete(w.Cluster, w.content(s))
	w.start()
	w.Run(time.Second)
	assert.Equal(t, []string{
		"SnapshotContentMissing VolumeSnapshotContent is missing",
		"CreatingSnapshot Waiting for a snapshot default/daily to be created by the CSI driver.",
		"SnapshotReady Snapshot default/daily is ready to use.",
	}, w.Events(start, trace.KubeEvent))
	assert.Len(t, w.Driver.Snapshots(), 1)
}

// C-SNAP-18
func TestASnapshotThatIsBeingRestoredIsKept(t *testing.T) {
	w := newWorld(t, mock.Options{})
	s := w.snapshot("daily", "fast")
	w.Run(time.Second)
	waiting := tc.Create(w.Cluster, &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "restored"},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
			DataSource:  &corev1.TypedLocalObjectReference{APIGroup: ptr.To("snapshot.storage.k8s.io"), Kind: "VolumeSnapshot", Name: "daily"},
		},
	})
	tc.Delete(w.Cluster, s)
	w.Run(5 * time.Second)
	assert.Contains(t, w.Events(0, trace.KubeEvent), "SnapshotDeletePending Snapshot is being used to restore a PVC")
	assert.Empty(t, w.Calls(deleteSnapshot))
	tc.ChangeStatus(w.Cluster, waiting, func(pvc claim) { pvc.Status.Phase = corev1.ClaimBound })
	w.Run(time.Minute)
	assert.False(t, tc.Exists[volumeSnapshot](w.Cluster, "default", "daily"))
}

// Both programs crash at any moment of a snapshot's lifecycle. At the end the snapshot was taken
// exactly once, and is deleted.
func TestCrashesLeaveNothingBehind(t *testing.T) {
	for seed := range uint64(30) {
		w := &world{Cluster: tc.New(t, kernel.NewRandom(seed), mock.Options{Snapshot: true, Existing: []mock.ExistingVolume{{ID: "h-v"}}}), perSecond: unlimited}
		w.Bound("v", "any")
		w.class("fast", nil)
		w.start()
		s := w.snapshot("daily", "fast")
		w.Run(time.Duration(seed) * 100 * time.Millisecond)
		w.controller.Crash()
		w.sidecar.Crash()
		w.start()
		w.Run(time.Minute)
		require.True(t, snapshot.IsReady(w.get("daily")), "seed %d", seed)
		require.Len(t, w.Driver.Snapshots(), 1)
		tc.Delete(w.Cluster, s)
		w.Run(time.Minute)
		require.Empty(t, w.Driver.Snapshots(), "seed %d", seed)
		require.False(t, tc.Exists[volumeSnapshot](w.Cluster, "default", "daily"))
		require.NotContains(t, tc.Get[claim](w.Cluster, "default", "v").Finalizers, snapshot.ClaimFinalizer)
	}
}
