package snapshot

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	groupv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumegroupsnapshot/v1"
	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/csisim/csisim/drivers/mock"
	tc "github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/snapshot"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

const (
	createGroup = "GroupController/CreateVolumeGroupSnapshot"
	deleteGroup = "GroupController/DeleteVolumeGroupSnapshot"
	getGroup    = "GroupController/GetVolumeGroupSnapshot"
)

var inApp = map[string]string{"app": "database"}

// groupWorld returns a world with a group of the claims v and w, and the group class fast.
func groupWorld(t *testing.T, strategy kernel.Strategy, o mock.Options) *world {
	return groupWorldWith(t, unlimited, strategy, o)
}

// groupWorldWith also has a limit for requests to the API.
func groupWorldWith(t *testing.T, perSecond sidecar.Rate, strategy kernel.Strategy, o mock.Options) *world {
	o.Snapshot, o.GroupSnapshot = true, true
	o.Existing = []mock.ExistingVolume{{ID: "h-v"}, {ID: "h-w"}}
	w := &world{Cluster: tc.New(t, strategy, o), perSecond: perSecond}
	for _, name := range []string{"v", "w"} {
		pvc, _ := w.Bound(name, "any")
		tc.Change(w.Cluster, pvc, func(pvc claim) { pvc.Labels = inApp })
	}
	w.Bound("alone", "any")
	w.groupClass("fast", nil)
	w.start()
	return w
}

func (w *world) groupClass(name string, parameters map[string]string, annotations ...string) {
	c := &groupv1.VolumeGroupSnapshotClass{
		ObjectMeta: metav1.ObjectMeta{Name: name}, Driver: tc.Driver, DeletionPolicy: snapshotv1.VolumeSnapshotContentDelete, Parameters: parameters,
	}
	for _, a := range annotations {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, a, "true")
	}
	tc.Create(w.Cluster, c)
}

// group makes a group snapshot of v and w. An empty class means no class.
func (w *world) group(name, class string) groupSnapshot {
	g := &groupv1.VolumeGroupSnapshot{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: groupv1.VolumeGroupSnapshotSpec{Source: groupv1.VolumeGroupSnapshotSource{Selector: &metav1.LabelSelector{
			MatchLabels: inApp,
			// Expressions are ignored. C-GSNAP-3
			MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: metav1.LabelSelectorOpDoesNotExist}},
		}}},
	}
	if class != "" {
		g.Spec.VolumeGroupSnapshotClassName = &class
	}
	return tc.Create(w.Cluster, g)
}

func (w *world) getGroup(name string) groupSnapshot {
	return tc.Get[groupSnapshot](w.Cluster, "default", name)
}

func (w *world) groupContent(g groupSnapshot) groupContent {
	return tc.Get[groupContent](w.Cluster, "", snapshot.GroupContentName(g))
}

func (w *world) memberOf(g groupSnapshot, volume string) (volumeSnapshot, content) {
	name, contentName := snapshot.MemberNames(g, "h-"+volume)
	return tc.Get[volumeSnapshot](w.Cluster, "default", name), tc.Get[content](w.Cluster, "", contentName)
}

func (w *world) nothingIsLeft(t *testing.T, hint any) {
	assert.Empty(t, slices.Collect(store.List[groupSnapshot](w.Store, "")), hint)
	assert.Empty(t, slices.Collect(store.List[groupContent](w.Store, "")), hint)
	assert.Empty(t, slices.Collect(store.List[volumeSnapshot](w.Store, "")), hint)
	assert.Empty(t, slices.Collect(store.List[content](w.Store, "")), hint)
	assert.Empty(t, w.Driver.Snapshots(), hint)
}

// C-GSNAP-3 to C-GSNAP-7
func TestAGroupOfSnapshotsIsTakenInOneCall(t *testing.T) {
	w := groupWorld(t, kernel.Calm{}, mock.Options{})
	g := w.group("daily", "fast")
	w.Run(time.Second)
	require.Len(t, w.Calls(createGroup), 1)
	request := w.Calls(createGroup)[0].Request.(*csi.CreateVolumeGroupSnapshotRequest)
	assert.Equal(t, "groupsnapshot-"+string(g.UID), request.GetName())
	assert.Equal(t, []string{"h-v", "h-w"}, request.GetSourceVolumeIds())
	assert.Equal(t, []string{
		"CreatingGroupSnapshot Waiting for a group snapshot default/daily to be created by the CSI driver.",
		"GroupSnapshotCreated GroupSnapshot default/daily was successfully created by the CSI driver.",
		"GroupSnapshotReady GroupSnapshot default/daily is ready to use.",
	}, w.Events(0, trace.KubeEvent)[:3])

	g = w.getGroup("daily")
	assert.Equal(t, []string{snapshot.GroupBoundFinalizer}, g.Finalizers)
	assert.True(t, *g.Status.ReadyToUse)
	made := w.groupContent(g)
	assert.Equal(t, []string{snapshot.GroupContentFinalizer}, made.Finalizers)
	assert.Equal(t, "group-0001", *made.Status.VolumeGroupSnapshotHandle)
	assert.Equal(t, g.Status.CreationTime.Time, made.Status.CreationTime.Time)
	assert.Empty(t, made.Annotations)

	for i, volume := range []string{"v", "w"} {
		s, of := w.memberOf(g, volume)
		assert.Equal(t, made.Status.VolumeSnapshotInfoList[i].SnapshotHandle, *of.Status.SnapshotHandle)
		assert.Equal(t, "group-0001", *of.Status.VolumeGroupSnapshotHandle)
		assert.Equal(t, "group-0001", of.Annotations[snapshot.GroupHandle])
		assert.Equal(t, s.UID, of.Spec.VolumeSnapshotRef.UID)
		assert.Equal(t, volume, *s.Spec.Source.PersistentVolumeClaimName)
		assert.Equal(t, "daily", *s.Status.VolumeGroupSnapshotName)
		assert.Equal(t, "1Gi", s.Status.RestoreSize.String())
		assert.True(t, snapshot.IsReady(s))
		assert.Equal(t, []string{snapshot.InGroupFinalizer, snapshot.AsSourceFinalizer}, s.Finalizers)
		assert.NotContains(t, tc.Get[claim](w.Cluster, "default", volume).Finalizers, snapshot.ClaimFinalizer)
	}
	assert.Empty(t, w.Calls(createSnapshot))
}

// C-GSNAP-8, C-GSNAP-9, C-SNAP-18
func TestAGroupIsDeletedOnlyWithItsMembers(t *testing.T) {
	w := groupWorld(t, kernel.Calm{}, mock.Options{})
	g := w.group("daily", "fast")
	w.Run(time.Second)
	s, _ := w.memberOf(g, "v")
	tc.Delete(w.Cluster, s)
	w.Run(5 * time.Second)
	s, _ = w.memberOf(g, "v")
	require.NotNil(t, s.DeletionTimestamp)
	got := w.Events(0, trace.KubeEvent)
	assert.Contains(t, got[len(got)-1], "SnapshotDeletePending deletion of the individual volume snapshot")
	assert.Empty(t, w.Calls(deleteGroup))

	tc.Delete(w.Cluster, w.getGroup("daily"))
	w.Run(time.Minute)
	require.Len(t, w.Calls(deleteGroup), 1)
	request := w.Calls(deleteGroup)[0].Request.(*csi.DeleteVolumeGroupSnapshotRequest)
	assert.Equal(t, "group-0001", request.GetGroupSnapshotId())
	assert.Equal(t, []string{"snap-0001", "snap-0002"}, request.GetSnapshotIds())
	assert.Empty(t, w.Calls(deleteSnapshot))
	w.nothingIsLeft(t, "")
}

// C-GSNAP-8
func TestAGroupIsKeptWhileAMemberIsBeingRestored(t *testing.T) {
	w := groupWorld(t, kernel.Calm{}, mock.Options{})
	g := w.group("daily", "fast")
	w.Run(time.Second)
	s, _ := w.memberOf(g, "w")
	waiting := tc.Create(w.Cluster, &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "restored"},
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
			Resources:   corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
			DataSource:  &corev1.TypedLocalObjectReference{APIGroup: ptr.To("snapshot.storage.k8s.io"), Kind: "VolumeSnapshot", Name: s.Name},
		},
	})
	tc.Delete(w.Cluster, g)
	w.Run(5 * time.Second)
	assert.Contains(t, w.Events(0, trace.KubeEvent), "SnapshotDeletePending Snapshot default/"+s.Name+" belonging to VolumeGroupSnapshot default/daily is being used to restore a PVC")
	assert.Empty(t, w.Calls(deleteGroup))
	tc.ChangeStatus(w.Cluster, waiting, func(pvc claim) { pvc.Status.Phase = corev1.ClaimBound })
	w.Run(time.Minute)
	w.nothingIsLeft(t, "")
}

func TestARetainedGroupIsNotDeleted(t *testing.T) {
	w := groupWorld(t, kernel.Calm{}, mock.Options{})
	g := w.group("daily", "fast")
	w.Run(time.Second)
	tc.Change(w.Cluster, w.groupContent(g), func(c groupContent) { c.Spec.DeletionPolicy = snapshotv1.VolumeSnapshotContentRetain })
	tc.Delete(w.Cluster, g)
	w.Run(time.Minute)
	assert.False(t, tc.Exists[groupSnapshot](w.Cluster, "default", "daily"))
	assert.Equal(t, "yes", w.groupContent(g).Annotations[snapshot.GroupBeingDeleted])
	assert.Empty(t, w.Calls(deleteGroup))
	assert.Len(t, w.Driver.Snapshots(), 2)
}

// C-GSNAP-5, C-SNAP-37: the sidecar polls a group by repeating its request, as often as the limit
// of the API client allows. It polls the members with ListSnapshots. (external-snapshotter v8.6.0,
// sidecar-controller/snapshot_controller_base.go: the sidecar's own write of a group content causes
// its next check)
//
// C-GSNAP-6: snapshot-controller may write the members' contents again after the sidecar has
// reported them ready. It writes the driver's first answer, so the members are not ready for a
// quarter of an hour: the sidecar processes such contents only at its resync. (v8.6.0,
// groupsnapshot_controller_helper.go: updateVolumeSnapshotContentStatus; utils/util.go:
// ShouldEnqueueContentChange)
func TestAGroupIsReadUntilItIsReady(t *testing.T) {
	const ms, resync = time.Millisecond, 15 * time.Minute
	for polls, tt := range map[int]struct {
		asked          []time.Duration
		group, members time.Duration // the latest time at which all are ready
	}{
		2: {[]time.Duration{0, 10 * ms, 20 * ms}, 10 * time.Second, 10 * time.Second},
		8: {[]time.Duration{0, 10 * ms, 20 * ms, 200 * ms, 800 * ms, 1600 * ms, 2200 * ms, 2800 * ms, 3600 * ms}, 15 * time.Second, resync},
	} {
		t.Run(fmt.Sprint(polls), func(t *testing.T) {
			w := groupWorldWith(t, 0, kernel.Calm{}, mock.Options{SnapshotPolls: polls, ListSnapshots: true})
			g := w.group("slow", "fast")
			w.Run(tt.group)
			assert.Equal(t, tt.asked, w.Times(createGroup))
			assert.True(t, snapshot.IsGroupReady(w.getGroup("slow")))
			ready := func() bool {
				v, _ := w.memberOf(g, "v")
				other, _ := w.memberOf(g, "w")
				return snapshot.IsReady(v) && snapshot.IsReady(other)
			}
			if tt.members == resync {
				w.Run(resync - tt.group - time.Second)
				assert.False(t, ready())
				w.Run(2 * time.Second)
			}
			assert.True(t, ready())
			assert.NotEmpty(t, w.Calls(listSnapshots))
			assert.Empty(t, w.Calls(createSnapshot))
		})
	}
}

// C-GSNAP-5: for a pre-provisioned group there is no CreateVolumeGroupSnapshot, and a query writes
// nothing. Only the resync queries it again.
func TestAPreexistingGroupIsReadAtTheResync(t *testing.T) {
	w := groupWorld(t, kernel.Calm{}, mock.Options{SnapshotPolls: 100})
	_, err := w.Driver.Controller().CreateVolumeGroupSnapshot(t.Context(), &csi.CreateVolumeGroupSnapshotRequest{Name: "long ago", SourceVolumeIds: []string{"h-v", "h-w"}})
	require.NoError(t, err)
	g := w.givenGroup()
	w.Run(time.Minute)
	asked := len(w.Calls(getGroup))
	assert.Less(t, asked, 10)
	w.Run(13 * time.Minute)
	assert.Len(t, w.Calls(getGroup), asked)
	w.Run(2 * time.Minute)
	assert.Len(t, w.Calls(getGroup), asked+1)
	assert.False(t, snapshot.IsGroupReady(w.getGroup(g.Name)))
}

// givenGroup reports the first group of the driver.
func (w *world) givenGroup() groupSnapshot {
	tc.Create(w.Cluster, &groupv1.VolumeGroupSnapshotContent{
		ObjectMeta: metav1.ObjectMeta{Name: "given"},
		Spec: groupv1.VolumeGroupSnapshotContentSpec{
			Driver: tc.Driver, DeletionPolicy: snapshotv1.VolumeSnapshotContentDelete,
			Source: groupv1.VolumeGroupSnapshotContentSource{GroupSnapshotHandles: &groupv1.GroupSnapshotHandles{
				VolumeGroupSnapshotHandle: "group-0001", VolumeSnapshotHandles: []string{"snap-0001", "snap-0002"},
			}},
			VolumeGroupSnapshotRef: corev1.ObjectReference{Namespace: "default", Name: "back"},
		},
	})
	return tc.Create(w.Cluster, &groupv1.VolumeGroupSnapshot{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "back"},
		Spec:       groupv1.VolumeGroupSnapshotSpec{Source: groupv1.VolumeGroupSnapshotSource{VolumeGroupSnapshotContentName: ptr.To("given")}},
	})
}

// C-GSNAP-5: a repeated message is reported once. The driver is called again as often as the limit
// of the API client allows. Each attempt writes and removes the annotation for a call in progress.
// After an error that leaves the outcome of the call open, the backoff applies.
func TestAnErrorAboutAGroupIsReportedOnceAndRetried(t *testing.T) {
	w := groupWorldWith(t, 0, kernel.Calm{}, mock.Options{})
	w.Fail("CreateVolumeGroupSnapshot", codes.FailedPrecondition, 10)
	g := w.group("daily", "fast")
	w.Run(2 * time.Second)
	const why = `failed to take group snapshot of the volumes [h-v h-w]: "rpc error: code = FailedPrecondition desc = refused"`
	assert.Equal(t, []string{
		"CreatingGroupSnapshot Waiting for a group snapshot default/daily to be created by the CSI driver.",
		"GroupSnapshotCreationFailed Failed to create group snapshot: " + why,
		"GroupSnapshotContentCheckandUpdateFailed Failed to check and update group snapshot content: " + why,
	}, w.Events(0, trace.KubeEvent))
	assert.Equal(t, "Failed to check and update group snapshot content: "+why, *w.getGroup("daily").Status.Error.Message)
	assert.NotContains(t, w.groupContent(g).Annotations, snapshot.GroupBeingCreated)
	w.Run(time.Minute)
	const ms = time.Millisecond
	assert.Equal(t, []time.Duration{0, 10 * ms, 20 * ms, 30 * ms, 200 * ms, 600 * ms, 1000 * ms, 1400 * ms, 1800 * ms, 2200 * ms, 2600 * ms}, w.Times(createGroup))
	assert.True(t, *w.getGroup("daily").Status.ReadyToUse)
	assert.Nil(t, w.getGroup("daily").Status.Error)
}

// C-GSNAP-2: after a timeout the group may exist, so the deletion waits for an answer of the
// driver.
func TestADeletionOfAGroupWaitsUntilTheOutcomeIsKnown(t *testing.T) {
	w := groupWorld(t, kernel.Calm{}, mock.Options{})
	w.groupClass("secret", map[string]string{
		"csi.storage.k8s.io/group-snapshotter-secret-name":      "keys",
		"csi.storage.k8s.io/group-snapshotter-secret-namespace": "default",
		"level": "full",
	})
	tc.Create(w.Cluster, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "keys"}, Data: map[string][]byte{"k": []byte("v")}})
	w.Fail("CreateVolumeGroupSnapshot", codes.DeadlineExceeded, 5)
	g := w.group("daily", "secret")
	w.Run(2 * time.Second)
	assert.Equal(t, "yes", w.groupContent(g).Annotations[snapshot.GroupBeingCreated])
	assert.Equal(t, "keys", w.groupContent(g).Annotations[snapshot.GroupDeletionSecretName])
	tc.Delete(w.Cluster, g)
	w.Run(5 * time.Second)
	assert.True(t, tc.Exists[groupSnapshot](w.Cluster, "default", "daily"))
	w.Run(10 * time.Minute)
	w.nothingIsLeft(t, "")
	made := w.Calls(createGroup)[5].Request.(*csi.CreateVolumeGroupSnapshotRequest)
	assert.Equal(t, map[string]string{"k": "v"}, made.GetSecrets())
	assert.Equal(t, map[string]string{"level": "full"}, made.GetParameters())
	assert.Equal(t, map[string]string{"k": "v"}, w.Calls(deleteGroup)[0].Request.(*csi.DeleteVolumeGroupSnapshotRequest).GetSecrets())
}

// C-GSNAP-9
func TestADeletionOfAGroupThatFailsIsRetried(t *testing.T) {
	w := groupWorld(t, kernel.Calm{}, mock.Options{})
	g := w.group("daily", "fast")
	w.Run(time.Second)
	w.Fail("DeleteVolumeGroupSnapshot", codes.Internal, 2)
	tc.Delete(w.Cluster, g)
	w.Run(time.Minute)
	assert.Equal(t, []time.Duration{0, time.Second, 3 * time.Second}, w.Times(deleteGroup))
	assert.Contains(t, w.Events(0, trace.KubeEvent), "GroupSnapshotDeleteError Failed to delete group snapshot")
	w.nothingIsLeft(t, "")
}

// C-GSNAP-4
func TestTheClassOfAGroup(t *testing.T) {
	for _, c := range []struct {
		rule, class string
		defaults    int
		event       string
		want        string
	}{
		{"none, and no default", "", 0, "SetDefaultGroupSnapshotClassFailed Failed to set default group snapshot class with error cannot find default group snapshot class", ""},
		{"none, and one default", "", 1, "", "default-0"},
		{"none, and two defaults", "", 2, "SetDefaultGroupSnapshotClassFailed Failed to set default group snapshot class with error 2 default snapshot classes were found", ""},
		{"missing", "missing", 1, `GetGroupSnapshotClassFailed failed to get group snapshot class with error volumegroupsnapshotclass.groupsnapshot.storage.k8s.io "missing" not found`, "missing"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			w := groupWorld(t, kernel.Calm{}, mock.Options{})
			for i := range c.defaults {
				w.groupClass("default-"+string(rune('0'+i)), nil, snapshot.IsDefaultGroupClass)
			}
			w.group("daily", c.class)
			w.Run(time.Second)
			g := w.getGroup("daily")
			assert.Equal(t, c.want, ptr.Deref(g.Spec.VolumeGroupSnapshotClassName, ""))
			if c.event == "" {
				assert.True(t, snapshot.IsGroupReady(g))
				return
			}
			assert.Equal(t, []string{c.event}, w.Events(0, trace.KubeEvent))
			assert.Empty(t, w.Calls(createGroup))
			tc.Delete(w.Cluster, g)
			w.Run(time.Second)
			assert.False(t, tc.Exists[groupSnapshot](w.Cluster, "default", "daily"))
		})
	}
}

// C-GSNAP-3, C-GSNAP-4
func TestGroupsWhoseSnapshotsCannotBeTaken(t *testing.T) {
	for _, c := range []struct {
		rule  string
		given func(*world)
		got   string
	}{
		{"a claim that is not bound", func(w *world) {
			tc.ChangeStatus(w.Cluster, tc.Get[claim](w.Cluster, "default", "w"), func(pvc claim) { pvc.Status.Phase = corev1.ClaimPending })
		}, "the PVC w is not yet bound to a PV, will not attempt to take a group snapshot"},
		{"no claim", func(w *world) {
			for _, name := range []string{"v", "w"} {
				tc.Change(w.Cluster, tc.Get[claim](w.Cluster, "default", name), func(pvc claim) { pvc.Labels = nil })
			}
		}, "label selector app=database,!app for group snapshot not applied to any PVC"},
		{"a volume of another driver", func(w *world) {
			tc.Create(w.Cluster, &groupv1.VolumeGroupSnapshotClass{ObjectMeta: metav1.ObjectMeta{Name: "other"}, Driver: "other.example.com", DeletionPolicy: snapshotv1.VolumeSnapshotContentDelete})
		}, "Volume CSI driver (disk.csi.example.com) mismatch with VolumeGroupSnapshotClass (other.example.com) default/daily: v"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			w := groupWorld(t, kernel.Calm{}, mock.Options{})
			c.given(w)
			class := "fast"
			if tc.Exists[groupClass](w.Cluster, "", "other") {
				class = "other"
			}
			w.group("daily", class)
			w.Run(time.Second)
			got := strings.Join(w.Events(0, trace.KubeEvent), "\n")
			assert.Contains(t, got, "GroupSnapshotContentCreationFailed failed to create group snapshot content with error")
			assert.Contains(t, got, c.got)
			assert.Empty(t, w.Calls(createGroup))
		})
	}
}

// C-SNAP-33, C-SNAP-37, C-GSNAP-9: if the driver lists a pre-provisioned snapshot with its group,
// its content is deleted without a call. The driver may refuse to delete it separately.
func TestAnEarlierSnapshotIsDeletedWithItsGroup(t *testing.T) {
	w := groupWorld(t, kernel.Calm{}, mock.Options{ListSnapshots: true})
	kept := w.group("kept", "fast")
	w.Run(time.Second)
	givenContent(w.Cluster)
	given := givenSnapshot(w.Cluster)
	w.Run(time.Minute)
	assert.Equal(t, "group-0001", *tc.Get[content](w.Cluster, "", "given").Status.VolumeGroupSnapshotHandle)
	tc.Change(w.Cluster, w.groupContent(kept), func(c groupContent) { c.Spec.DeletionPolicy = snapshotv1.VolumeSnapshotContentRetain })
	tc.Delete(w.Cluster, kept)
	tc.Delete(w.Cluster, given)
	w.Run(time.Minute)
	_, there := store.Get[content](w.Store, store.Key{Name: "given"})
	assert.False(t, there)
	assert.Empty(t, w.Calls(deleteSnapshot))
	assert.Len(t, w.Driver.Snapshots(), 2)
}

// C-GSNAP-5, C-SNAP-17: a pre-provisioned group with its members.
func TestAPreexistingGroup(t *testing.T) {
	w := groupWorld(t, kernel.Calm{}, mock.Options{ListSnapshots: true})
	kept := w.group("kept", "fast")
	w.Run(time.Second)
	tc.Change(w.Cluster, w.groupContent(kept), func(c groupContent) { c.Spec.DeletionPolicy = snapshotv1.VolumeSnapshotContentRetain })
	for _, volume := range []string{"v", "w"} {
		_, of := w.memberOf(kept, volume)
		tc.Change(w.Cluster, of, func(c content) { c.Spec.DeletionPolicy = snapshotv1.VolumeSnapshotContentRetain })
	}
	tc.Delete(w.Cluster, kept)
	w.Run(time.Minute)
	for _, volume := range []string{"v", "w"} {
		_, contentName := snapshot.MemberNames(kept, "h-"+volume)
		tc.Delete(w.Cluster, tc.Get[content](w.Cluster, "", contentName))
	}
	tc.Delete(w.Cluster, w.groupContent(kept))
	w.Run(time.Minute)
	require.Len(t, w.Driver.Snapshots(), 2)

	w.givenGroup()
	w.Run(time.Second)
	g := w.getGroup("back")
	assert.True(t, snapshot.IsGroupReady(g))
	assert.Equal(t, "given", *g.Status.BoundVolumeGroupSnapshotContentName)
	require.Len(t, w.Calls(getGroup), 1)
	assert.Equal(t, []string{"snap-0001", "snap-0002"}, w.Calls(getGroup)[0].Request.(*csi.GetVolumeGroupSnapshotRequest).GetSnapshotIds())
	assert.Len(t, w.Calls(createGroup), 1, "the one of long ago")
	tc.Delete(w.Cluster, g)
	w.Run(time.Minute)
	w.nothingIsLeft(t, "")
}

// C-GSNAP-4
func TestWrongContentsOfGroupsAreRefused(t *testing.T) {
	for _, c := range []struct {
		rule   string
		source groupv1.VolumeGroupSnapshotContentSource
		ref    string
		event  string
	}{
		{"one made for claims", groupv1.VolumeGroupSnapshotContentSource{VolumeHandles: []string{"h-v"}}, "back",
			"GroupSnapshotContentMismatch VolumeGroupSnapshotContent is dynamically provisioned while expecting a pre-provisioned one"},
		{"one of another group", groupv1.VolumeGroupSnapshotContentSource{GroupSnapshotHandles: &groupv1.GroupSnapshotHandles{VolumeGroupSnapshotHandle: "g", VolumeSnapshotHandles: []string{"s"}}}, "other",
			"GroupSnapshotContentMisbound VolumeGroupSnapshotContent [given] is bound to a different group snapshot"},
		{"none", groupv1.VolumeGroupSnapshotContentSource{}, "", "GroupSnapshotContentMissing VolumeGroupSnapshotContent is missing"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			w := groupWorld(t, kernel.Calm{}, mock.Options{})
			if c.ref != "" {
				tc.Create(w.Cluster, &groupv1.VolumeGroupSnapshotContent{
					ObjectMeta: metav1.ObjectMeta{Name: "given"},
					Spec: groupv1.VolumeGroupSnapshotContentSpec{
						Driver: "other.example.com", DeletionPolicy: snapshotv1.VolumeSnapshotContentDelete, Source: c.source,
						VolumeGroupSnapshotRef: corev1.ObjectReference{Namespace: "default", Name: c.ref},
					},
				})
			}
			tc.Create(w.Cluster, &groupv1.VolumeGroupSnapshot{
				ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "back"},
				Spec:       groupv1.VolumeGroupSnapshotSpec{Source: groupv1.VolumeGroupSnapshotSource{VolumeGroupSnapshotContentName: ptr.To("given")}},
			})
			w.Run(time.Second)
			assert.Equal(t, c.event, w.Events(0, trace.KubeEvent)[0])
			assert.False(t, *w.getGroup("back").Status.ReadyToUse)
		})
	}
}

func TestAReadyGroupMissesItsContent(t *testing.T) {
	w := groupWorld(t, kernel.Calm{}, mock.Options{})
	g := w.group("daily", "fast")
	w.Run(time.Second)
	tc.Change(w.Cluster, w.groupContent(g), func(c groupContent) { c.Finalizers = nil })
	tc.Delete(w.Cluster, w.groupContent(g))
	w.Run(time.Second)
	assert.Contains(t, w.Events(0, trace.KubeEvent), "GroupSnapshotContentMissing VolumeGroupSnapshotContent is missing")
	assert.Len(t, w.Calls(createGroup), 2, "the content is made again, and the driver asked again")
	assert.Len(t, w.Driver.Snapshots(), 2)
}

// Both programs crash at any moment of a group's lifecycle. At the end exactly one group snapshot
// was taken, and all its objects are deleted. C-GSNAP-6
func TestCrashesLeaveNothingOfAGroupBehind(t *testing.T) {
	for seed := range uint64(30) {
		w := groupWorld(t, kernel.NewRandom(seed), mock.Options{ListSnapshots: true})
		g := w.group("daily", "fast")
		w.Run(time.Duration(seed) * 100 * time.Millisecond)
		w.controller.Crash()
		w.sidecar.Crash()
		w.start()
		w.Run(time.Minute)
		require.True(t, snapshot.IsGroupReady(w.getGroup("daily")), "seed %d", seed)
		require.Len(t, w.Driver.Snapshots(), 2)
		tc.Delete(w.Cluster, g)
		w.Run(10 * time.Minute)
		w.nothingIsLeft(t, seed)
	}
}
