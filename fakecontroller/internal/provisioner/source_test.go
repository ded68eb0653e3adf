package provisioner_test

import (
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/fakecontroller/internal/provisioner"
	"github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

const (
	cloneFinalizer    = "provisioner.storage.kubernetes.io/cloning-protection"
	snapshotFinalizer = "provisioner.storage.kubernetes.io/volumesnapshot-as-source-protection"
)

// from makes a claim of 16Mi with a source.
func (w *world) from(name, group, kind, source string, change ...func(*corev1.PersistentVolumeClaim)) *corev1.PersistentVolumeClaim {
	pvc := &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes:      []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			StorageClassName: ptr.To("stub"),
			Resources:        corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("16Mi")}},
			DataSourceRef:    &corev1.TypedObjectReference{Kind: kind, Name: source},
		},
	}
	if group != "" {
		pvc.Spec.DataSourceRef.APIGroup = &group
	}
	for _, f := range change {
		f(pvc)
	}
	return testcluster.Create(w, pvc)
}

// snapshot makes a ready snapshot and its content, of a volume that the driver has.
func (w *world) snapshot(name, handle string, change ...func(*snapshotv1.VolumeSnapshot, *snapshotv1.VolumeSnapshotContent)) {
	snap := &snapshotv1.VolumeSnapshot{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec:       snapshotv1.VolumeSnapshotSpec{Source: snapshotv1.VolumeSnapshotSource{VolumeSnapshotContentName: &name}},
	}
	content := &snapshotv1.VolumeSnapshotContent{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: snapshotv1.VolumeSnapshotContentSpec{
			Driver: driverName, DeletionPolicy: snapshotv1.VolumeSnapshotContentDelete, SourceVolumeMode: ptr.To(corev1.PersistentVolumeFilesystem),
			VolumeSnapshotRef: corev1.ObjectReference{Namespace: "default", Name: name, UID: "uid"},
			Source:            snapshotv1.VolumeSnapshotContentSource{SnapshotHandle: &handle},
		},
	}
	snapStatus := &snapshotv1.VolumeSnapshotStatus{
		BoundVolumeSnapshotContentName: &name, ReadyToUse: ptr.To(true), RestoreSize: ptr.To(resource.MustParse("16Mi")),
	}
	contentStatus := &snapshotv1.VolumeSnapshotContentStatus{SnapshotHandle: &handle, ReadyToUse: ptr.To(true)}
	snap.Status, content.Status = snapStatus, contentStatus
	for _, f := range change {
		f(snap, content)
	}
	snapStatus, contentStatus = snap.Status, content.Status
	snap = testcluster.Create(w, snap)
	if content.Spec.VolumeSnapshotRef.UID == "uid" {
		content.Spec.VolumeSnapshotRef.UID = snap.UID
	}
	testcluster.Create(w, content)
	_, err := store.ModifyStatus(w.Store, store.KeyOf(snap), func(s *snapshotv1.VolumeSnapshot) { s.Status = snapStatus })
	require.NoError(w.T, err)
	_, err = store.ModifyStatus(w.Store, store.KeyOf(content), func(c *snapshotv1.VolumeSnapshotContent) { c.Status = contentStatus })
	require.NoError(w.T, err)
}

// cut makes the driver create snapshot snap-0001 of a claim's volume.
func (w *world) cut(claim string) {
	bound, _ := get[*corev1.PersistentVolumeClaim](w, "default", claim)
	pv, _ := get[*corev1.PersistentVolume](w, "", bound.Spec.VolumeName)
	_, err := w.driver.Controller().CreateSnapshot(w.T.Context(), &csi.CreateSnapshotRequest{Name: "s", SourceVolumeId: pv.Spec.CSI.VolumeHandle})
	require.NoError(w.T, err)
}

func (w *world) phase(claim string) corev1.PersistentVolumeClaimPhase {
	pvc, _ := get[*corev1.PersistentVolumeClaim](w, "default", claim)
	return pvc.Status.Phase
}

// Trace j: C-PROV-40, C-PROV-44
// conformance: suite-provision-from-snapshot
func TestAVolumeIsMadeFromASnapshot(t *testing.T) {
	w := newWorld(t, kernel.Options{}, mock.Options{Snapshot: true}, provisioner.Options{})
	w.class("stub")
	w.claim("source", "stub")
	w.Run(time.Second)
	w.cut("source")
	w.snapshot("daily", "snap-0001")
	w.Run(time.Second)
	start := w.Trace.Last()
	w.from("restored", "snapshot.storage.k8s.io", "VolumeSnapshot", "daily")
	w.Run(time.Second)
	assert.Equal(t, []string{
		"ADDED persistentvolumeclaims",
		"MODIFIED persistentvolumeclaims", // the name of the provisioner
		"MODIFIED volumesnapshots",        // protected
		"Controller/CreateVolume",
		"MODIFIED volumesnapshots", // free again
		"ADDED persistentvolumes",
		"MODIFIED persistentvolumes",
		"MODIFIED persistentvolumeclaims",
		"MODIFIED persistentvolumeclaims",
	}, w.events(start, trace.API, trace.Call))
	assert.Equal(t, "snap-0001", lastCreate(w).GetVolumeContentSource().GetSnapshot().GetSnapshotId())
	assert.Equal(t, corev1.ClaimBound, w.phase("restored"))
}

func lastCreate(w *world) *csi.CreateVolumeRequest {
	var last *csi.CreateVolumeRequest
	for _, e := range w.Trace.Events() {
		if request, ok := e.Request.(*csi.CreateVolumeRequest); ok {
			last = request
		}
	}
	return last
}

// C-PROV-40, C-SNAP-22
func TestUnrestorableSnapshots(t *testing.T) {
	type snap = *snapshotv1.VolumeSnapshot
	type content = *snapshotv1.VolumeSnapshotContent
	block := func(pvc *corev1.PersistentVolumeClaim) { pvc.Spec.VolumeMode = ptr.To(corev1.PersistentVolumeBlock) }
	for why, c := range map[string]struct {
		change func(snap, content)
		claim  func(*corev1.PersistentVolumeClaim)
		ok     bool
	}{
		"snapshot daily not bound": {change: func(s snap, _ content) { s.Status.BoundVolumeSnapshotContentName = nil }},
		"error getting snapshotcontent gone for snapshot daily": {
			change: func(s snap, _ content) { s.Status.BoundVolumeSnapshotContentName = ptr.To("gone") }},
		"snapshotcontent daily for snapshot daily is bound to a different snapshot": {
			change: func(_ snap, c content) { c.Spec.VolumeSnapshotRef.UID = "other" }},
		"snapshotcontent daily for snapshot daily is not handled by CSI driver of StorageClass stub": {
			change: func(_ snap, c content) { c.Spec.Driver = "other.example.com" }},
		"snapshot daily is not Ready":            {change: func(s snap, _ content) { s.Status.ReadyToUse = ptr.To(false) }},
		"snapshot handle daily is not available": {change: func(_ snap, c content) { c.Status.SnapshotHandle = nil }},
		"requested volume size 16777216 is less than the size 33554432 for the source snapshot daily": {
			change: func(s snap, _ content) { s.Status.RestoreSize = ptr.To(resource.MustParse("32Mi")) }},
		"requested volume default/restored modifies the mode of the source volume but does not have permission to do so. snapshot.storage.kubernetes.io/allow-volume-mode-change annotation is not present on snapshotcontent daily": {
			claim: block},
		"requested volume default/restored modifies the mode of the source volume but does not have permission to do so. snapshot.storage.kubernetes.io/allow-volume-mode-change is set to false on snapshotcontent daily": {
			claim: block,
			change: func(_ snap, c content) {
				c.Annotations = map[string]string{"snapshot.storage.kubernetes.io/allow-volume-mode-change": "false"}
			}},
		"allowed to change its mode": {ok: true, claim: block, change: func(_ snap, c content) {
			c.Annotations = map[string]string{"snapshot.storage.kubernetes.io/allow-volume-mode-change": "true"}
		}},
	} {
		t.Run(why, func(t *testing.T) {
			w := newWorld(t, kernel.Options{}, mock.Options{Snapshot: true}, provisioner.Options{})
			w.class("stub")
			w.claim("source", "stub")
			w.Run(time.Second)
			w.cut("source")
			change := func(snap, content) {}
			if c.change != nil {
				change = c.change
			}
			w.snapshot("daily", "snap-0001", change)
			start := w.Trace.Last()
			claim := func(*corev1.PersistentVolumeClaim) {}
			if c.claim != nil {
				claim = c.claim
			}
			w.from("restored", "snapshot.storage.k8s.io", "VolumeSnapshot", "daily", claim)
			w.Run(time.Second)
			if c.ok {
				assert.Equal(t, corev1.ClaimBound, w.phase("restored"))
				return
			}
			assert.Contains(t, w.events(start, trace.KubeEvent),
				"ProvisioningFailed error getting handle for DataSource Type VolumeSnapshot by Name daily: "+why)
			assert.Len(t, w.callTimes("Controller/CreateVolume"), 1)
		})
	}
}

// Trace j, fact 41: C-PROV-41, C-PROV-43
// conformance: suite-provision-clone, suite-provision-clone-parallel
func TestAVolumeIsCloned(t *testing.T) {
	w := newWorld(t, kernel.Options{}, mock.Options{Clone: true}, provisioner.Options{})
	w.class("stub")
	w.claim("source", "stub")
	w.Run(time.Second)
	start := w.Trace.Last()
	w.from("clone", "", "PersistentVolumeClaim", "source")
	w.Run(time.Second)
	assert.Equal(t, []string{
		"ADDED persistentvolumeclaims",
		"MODIFIED persistentvolumeclaims", // the name of the provisioner
		"MODIFIED persistentvolumeclaims", // the source is protected
		"Controller/CreateVolume",
		"ADDED persistentvolumes",
		"MODIFIED persistentvolumes",
		"MODIFIED persistentvolumeclaims",
		"MODIFIED persistentvolumeclaims",
	}, w.events(start, trace.API, trace.Call))
	assert.Equal(t, "vol-0001", lastCreate(w).GetVolumeContentSource().GetVolume().GetVolumeId())
	source, _ := get[*corev1.PersistentVolumeClaim](w, "default", "source")
	assert.Contains(t, source.Finalizers, cloneFinalizer, "it stays until the source is deleted")
	for _, name := range []string{"c1", "c2", "c3", "c4", "c5"} {
		w.from(name, "", "PersistentVolumeClaim", "source")
	}
	w.Run(5 * time.Second)
	for _, name := range []string{"c1", "c2", "c3", "c4", "c5"} {
		assert.Equal(t, corev1.ClaimBound, w.phase(name))
	}
	w.deleteClaim("source")
	w.Run(time.Second)
	_, there := get[*corev1.PersistentVolumeClaim](w, "default", "source")
	assert.False(t, there)
}

// C-PROV-43
func TestAClonedClaimIsKeptWhileACloneIsPending(t *testing.T) {
	w := newWorld(t, kernel.Options{}, mock.Options{Clone: true}, provisioner.Options{})
	w.class("stub")
	w.class("later", waitForFirstConsumer)
	w.claim("source", "stub")
	w.Run(time.Second)
	w.from("clone", "", "PersistentVolumeClaim", "source")
	w.Run(time.Second)
	w.from("waiting", "", "PersistentVolumeClaim", "source", func(pvc *corev1.PersistentVolumeClaim) { pvc.Spec.StorageClassName = ptr.To("later") })
	w.deleteClaim("source")
	w.Run(time.Minute)
	_, there := get[*corev1.PersistentVolumeClaim](w, "default", "source")
	assert.True(t, there)
	w.deleteClaim("waiting")
	w.Run(2 * time.Minute)
	_, there = get[*corev1.PersistentVolumeClaim](w, "default", "source")
	assert.False(t, there)
}

// C-PROV-41
func TestClaimsThatCannotBeCloned(t *testing.T) {
	for why, change := range map[string]func(*world, *corev1.PersistentVolumeClaim){
		`error getting PVC missing (namespace "default") from api server: persistentvolumeclaims "missing" not found`: func(_ *world, pvc *corev1.PersistentVolumeClaim) {
			pvc.Spec.DataSourceRef.Name = "missing"
		},
		"error, new PVC request must be greater than or equal in size to the specified PVC data source, requested 8388608 but source is 16777216": func(_ *world, pvc *corev1.PersistentVolumeClaim) {
			pvc.Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse("8Mi")
		},
		"the source PVC and destination PVCs must have the same volume mode for cloning.  Source is Filesystem, but new PVC requested Block": func(_ *world, pvc *corev1.PersistentVolumeClaim) {
			pvc.Spec.VolumeMode = ptr.To(corev1.PersistentVolumeBlock)
		},
	} {
		w := newWorld(t, kernel.Options{}, mock.Options{Clone: true}, provisioner.Options{})
		w.class("stub")
		w.claim("source", "stub")
		w.Run(time.Second)
		start := w.Trace.Last()
		pvc := w.from("clone", "", "PersistentVolumeClaim", "source", func(pvc *corev1.PersistentVolumeClaim) { change(w, pvc) })
		w.Run(time.Second)
		assert.Contains(t, w.events(start, trace.KubeEvent),
			"ProvisioningFailed error getting handle for DataSource Type PersistentVolumeClaim by Name "+pvc.Spec.DataSourceRef.Name+": "+why)
		assert.Len(t, w.callTimes("Controller/CreateVolume"), 1)
	}
}

// C-PROV-21
func TestADriverWithoutClonesAndRestoresIsNotCalled(t *testing.T) {
	w := newWorld(t, kernel.Options{}, mock.Options{}, provisioner.Options{})
	w.class("stub")
	w.from("clone", "", "PersistentVolumeClaim", "source")
	w.from("restored", "snapshot.storage.k8s.io", "VolumeSnapshot", "daily")
	w.Run(time.Second)
	events := w.events(0, trace.KubeEvent)
	assert.Contains(t, events, "ProvisioningFailed CSI driver does not support clone operations: controller CLONE_VOLUME capability is not reported")
	assert.Contains(t, events, "ProvisioningFailed CSI driver does not support snapshot restore: controller CREATE_DELETE_SNAPSHOT capability is not reported")
}

// C-PROV-42: the provisioner leaves a claim alone if its source is neither a claim nor a snapshot.
func TestASourceOfAnotherKindIsLeftToItsPopulator(t *testing.T) {
	w := newWorld(t, kernel.Options{}, mock.Options{}, provisioner.Options{})
	w.class("stub")
	w.from("hello", "hello.example.com", "Hello", "world")
	w.Run(time.Minute)
	assert.Contains(t, w.events(0, trace.KubeEvent), "Provisioning Assuming an external populator will provision the volume")
	assert.NotContains(t, w.events(0, trace.KubeEvent), "ProvisioningFailed")
	assert.Empty(t, w.callTimes("Controller/CreateVolume"))
	assert.Equal(t, corev1.ClaimPending, w.phase("hello"))
}

// C-PROV-45: if a driver ignores the source, the provisioner deletes the volume and retries, again
// and again.
func TestAVolumeWithoutItsSourceIsDeleted(t *testing.T) {
	w := newWorld(t, kernel.Options{}, mock.Options{Clone: true, Faulty: []string{"create-drops-source"}}, provisioner.Options{})
	w.class("stub")
	w.claim("source", "stub")
	w.Run(time.Second)
	start := w.Trace.Last()
	w.from("clone", "", "PersistentVolumeClaim", "source")
	w.Run(500 * time.Millisecond)
	assert.Contains(t, w.events(start, trace.KubeEvent), "ProvisioningFailed volume content source missing")
	assert.Equal(t, []string{"Controller/CreateVolume", "Controller/DeleteVolume"}, w.events(start, trace.Call))
	assert.Len(t, w.driver.Volumes(), 1)
}

// C-PROV-44: the sweep releases snapshots that a provisioner protected before it crashed.
func TestAnUnusedSnapshotSourceIsReleased(t *testing.T) {
	w := newWorld(t, kernel.Options{}, mock.Options{Snapshot: true}, provisioner.Options{})
	w.snapshot("daily", "snap-0001", func(s *snapshotv1.VolumeSnapshot, _ *snapshotv1.VolumeSnapshotContent) {
		s.Finalizers = []string{snapshotFinalizer}
	})
	w.Run(6 * time.Minute)
	snap, _ := get[*snapshotv1.VolumeSnapshot](w, "default", "daily")
	assert.Empty(t, snap.Finalizers)
}
