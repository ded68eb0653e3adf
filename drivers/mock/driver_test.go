package mock

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// tour makes all calls in the life of a volume, each twice, and some calls that must fail.
func tour(w *world) []string {
	ro := func(r *csi.NodePublishVolumeRequest) { r.Readonly = true }
	restart := func(w *world) error { w.d.Restart(); w.nodes["a"].Restart(); return nil }
	lists := func(w *world) error { _ = list(1, "")(w); return list(0, "")(w) }
	capacity := func(w *world) error {
		return call(w, "Controller/GetCapacity", w.c.GetCapacity, &csi.GetCapacityRequest{})
	}
	for _, s := range steps(
		introduce, capacity, create(singleWriter), create(singleWriter), create(singleWriter, named("other")),
		stage("a", singleWriter), attach("a", singleWriter), attach("a", singleWriter), attach("b", singleWriter), detach("b"),
		publish("a", "/0", singleWriter), stage("a", singleWriter), stage("a", singleWriter),
		publish("a", "/1", singleWriter), publish("a", "/1", singleWriter), publish("a", "/2", singleWriter),
		stats("/1"), expand(1<<21, 0), expand(1<<21, 0), nodeExpand("/1", 1<<21), restart, create(singleWriter), lists, remove("vol-0001"), unstage("a"),
		snapshotOf("s", "vol-0001"), snapshotOf("s", "vol-0001"), listSnapshots(0, ""),
		create(singleWriter, named("restored"), size(1<<22, 0), fromSnapshot("snap-0001")),
		create(singleWriter, named("restored"), size(1<<22, 0), fromSnapshot("snap-0001")),
		groupOf("g", "vol-0001", "vol-0002"), groupOf("g", "vol-0001", "vol-0002"),
		removeGroup("group-0001", "snap-0002", "snap-0003"), listSnapshots(0, ""),
		removeSnapshot("snap-0001"), removeSnapshot("snap-0001"),
		unstage("b"), unpublish("a", "/1"), unpublish("a", "/1"), publish("a", "/3", singleWriter, ro), lists, unpublish("a", "/3"),
		unstage("a"), unstage("a"), detach("a"), detach("a"), remove("vol-0001"), remove("vol-0001"),
	) {
		_ = s(w) // the log has the codes
		for _, v := range w.d.Published("a") {
			if v.ReadOnly {
				w.log = append(w.log, v.Path+" is read-only")
			}
		}
	}
	return w.log
}

func tourOf(faulty ...string) *world {
	o := everything()
	o.Faulty = faulty
	w := newWorld(o)
	tour(w)
	return w
}

func TestAnswersKeepTheContract(t *testing.T) {
	assert.Empty(t, tourOf().wrong)
}

func TestEqualCallsGiveEqualAnswers(t *testing.T) {
	assert.Equal(t, tourOf().log, tourOf().log)
	assert.Equal(t, tourOf().d.Volumes(), tourOf().d.Volumes())
}

// Misbehaviours of mounts appear only on a node with a Mounter: see TestMounts. Other tests cover
// two snapshots of one volume (TestSnapshotsOfAVolumeAreTwo), deadlines
// (TestADeadlineThatPassesEndsTheLockOfAVolume) and CSI-Addons (the scenarios of
// csi-addons/broken).
func TestEveryMisbehaviourShows(t *testing.T) {
	good := tourOf()
	for _, m := range Misbehaviours() {
		if m.Name == stageMountsNothing || m.Name == publishMountsNothing || m.Name == publishStacksMounts || m.Name == publishesDevice || m.Name == snapshotsShareID || m.Name == deadlineKeepsLock || strings.HasPrefix(m.Breaks, "CSI-Addons") {
			continue
		}
		t.Run(m.Name, func(t *testing.T) {
			bad := tourOf(m.Name)
			same := assert.ObjectsAreEqual(good.log, bad.log) && assert.ObjectsAreEqual(good.d.Volumes(), bad.d.Volumes()) &&
				assert.ObjectsAreEqual(good.d.Published("a"), bad.d.Published("a")) && assert.ObjectsAreEqual(good.d.Staged("a"), bad.d.Staged("a"))
			assert.False(t, same, "the tour is the same with and without it")
		})
	}
}

func TestSnapshotsOfAVolumeAreTwo(t *testing.T) {
	for _, c := range []struct {
		faulty []string
		second string
	}{{nil, "snap-0002"}, {[]string{snapshotsShareID}, "snap-0001"}} {
		w := given(t, Options{Snapshot: true, Faulty: c.faulty}, create(multiWriter))
		for _, name := range []string{"first", "second"} {
			resp, err := w.c.CreateSnapshot(t.Context(), &csi.CreateSnapshotRequest{Name: name, SourceVolumeId: "vol-0001"})
			require.NoError(t, err)
			if name == "second" {
				assert.Equal(t, c.second, resp.GetSnapshot().GetSnapshotId())
			}
		}
	}
}

func TestADeadlineThatPassesEndsTheLockOfAVolume(t *testing.T) {
	for _, c := range []struct {
		faulty []string
		then   codes.Code
	}{{nil, codes.OK}, {[]string{deadlineKeepsLock}, codes.Aborted}} {
		w := given(t, Options{Faulty: c.faulty}, create(multiWriter), attach("a", multiWriter))
		passed, cancel := context.WithDeadline(t.Context(), time.Time{})
		defer cancel()
		_, err := w.nodes["a"].NodeStageVolume(passed, &csi.NodeStageVolumeRequest{
			VolumeId: "vol-0001", StagingTargetPath: staging, VolumeCapability: capability(multiWriter), VolumeContext: context1, PublishContext: w.handedOver(),
		})
		require.NoError(t, err)
		assert.Equal(t, c.then, status.Code(stage("a", multiWriter)(w)))
	}
}

func TestTheContractSeesWrongAnswers(t *testing.T) {
	for _, name := range []string{answersWrongName, promisesTooMuch, createReturnsNoID, createDropsSource, wrongCapacity, expandTooLittle,
		deleteNotIdempotent, listRepeatsVolume, listIgnoresMaxEntries, snapshotWithoutTime, groupLacksVolume, nodeGetInfoEmptyID, statsNegative} {
		assert.NotEmpty(t, tourOf(name).wrong, name)
	}
}

func TestAnswersAreThoseOfTheRecordedDriver(t *testing.T) {
	// golden lifecycle-stub
	w := given(t, Options{}, create(multiWriter, parameter("fast")))
	resp, err := w.c.CreateVolume(context.Background(), &csi.CreateVolumeRequest{Name: "x", Parameters: map[string]string{"k": "v"},
		VolumeCapabilities: []*csi.VolumeCapability{capability(multiWriter)}})
	require.NoError(t, err)
	assert.Equal(t, "vol-0002", resp.Volume.VolumeId)
	assert.Equal(t, map[string]string{"k": "v", "from-driver": "create-volume"}, resp.Volume.VolumeContext)
	assert.Equal(t, map[string]string{"devicePath": "/dev/stub0", "from-driver": "controller-publish"}, w.d.publishContext())
}

func TestNothingIsLeftAfterAWholeLife(t *testing.T) {
	w := newWorld(Options{})
	wholeLife(t, w)
	assert.Empty(t, w.d.Volumes())
	assert.Empty(t, w.d.Attachments())
	assert.Empty(t, w.d.Staged("a"))
	assert.Empty(t, w.d.Published("a"))
}

func TestMistakesInOptionsAreReportedAtOnce(t *testing.T) {
	err := Options{OfflineExpand: true, Faulty: []string{"no-such"}}.Validate()
	assert.ErrorContains(t, err, "offlineExpand needs controllerExpand")
	assert.ErrorContains(t, err, `no misbehaviour "no-such"`)
	assert.NoError(t, Options{}.Validate())
}

// mountTable is a Mounter that only records mounts.
type mountTable map[string]string

func (m mountTable) Mount(source, target string, readOnly bool) error {
	if below, covered := m[target]; covered {
		source = below + ", " + source
	}
	m[target] = source
	if readOnly {
		m[target] += " ro"
	}
	return nil
}
func (m mountTable) MountDevice(source, target string) error {
	m[target] = "device " + source
	return nil
}
func (m mountTable) SetGroup(target string, gid int) error {
	m[target] += fmt.Sprintf(" of group %d", gid)
	return nil
}
func (m mountTable) Unmount(target string) error           { delete(m, target); return nil }
func (m mountTable) IsMounted(target string) (bool, error) { _, ok := m[target]; return ok, nil }

func TestMounts(t *testing.T) {
	mounted := func(o Options) (*world, mountTable) {
		w, table := newWorld(o), mountTable{}
		w.nodes["a"] = w.d.Node(NodeOptions{NodeID: "a", Mounter: table})
		for _, s := range steps(create(multiWriter), attach("a", multiWriter), stage("a", multiWriter)) {
			require.NoError(t, s(w))
		}
		return w, table
	}
	ro := func(r *csi.NodePublishVolumeRequest) { r.Readonly = true }

	w, table := mounted(Options{})
	require.NoError(t, publish("a", "/1", multiWriter, ro)(w))
	assert.Equal(t, mountTable{staging: "pvc", "/1": "/staging ro"}, table)

	clear(table) // a reboot
	assert.Error(t, publish("a", "/1", multiWriter, ro)(w), "must be staged before publishing")
	require.NoError(t, stage("a", multiWriter)(w))
	require.NoError(t, publish("a", "/1", multiWriter, ro)(w))
	assert.Equal(t, mountTable{staging: "pvc", "/1": "/staging ro"}, table)

	require.NoError(t, unpublish("a", "/1")(w))
	require.NoError(t, unstage("a")(w))
	assert.Empty(t, table)

	group := func(r *csi.NodePublishVolumeRequest) { r.VolumeCapability.GetMount().VolumeMountGroup = "4242" }
	w, table = mounted(Options{VolumeMountGroup: true})
	require.NoError(t, publish("a", "/1", multiWriter, group)(w))
	assert.Equal(t, mountTable{staging: "pvc", "/1": "/staging of group 4242"}, table)

	_, table = mounted(Options{Faulty: []string{stageMountsNothing}})
	assert.Empty(t, table)

	w, table = mounted(Options{Faulty: []string{publishMountsNothing}})
	require.NoError(t, publish("a", "/1", multiWriter)(w))
	assert.Equal(t, mountTable{staging: "pvc"}, table)

	w, table = mounted(Options{Faulty: []string{publishStacksMounts}})
	require.NoError(t, publish("a", "/1", multiWriter)(w))
	require.NoError(t, publish("a", "/1", multiWriter)(w))
	assert.Equal(t, mountTable{staging: "pvc", "/1": "/staging, /staging"}, table)

	w, table = mounted(Options{Faulty: []string{publishesDevice}})
	require.NoError(t, publish("a", "/1", multiWriter)(w))
	assert.Equal(t, mountTable{staging: "pvc", "/1": "device pvc"}, table)
}

func wholeLife(t testing.TB, w *world) {
	for _, s := range steps(create(multiWriter), attach("a", multiWriter), stage("a", multiWriter), publish("a", "/1", multiWriter),
		unpublish("a", "/1"), unstage("a"), detach("a"), remove("vol-0001")) {
		require.NoError(t, s(w))
	}
}

func BenchmarkWholeLife(b *testing.B) {
	ctx := context.Background()
	c := []*csi.VolumeCapability{capability(multiWriter)}
	d := New(Options{})
	s, n := d.Controller(), d.Node(NodeOptions{NodeID: "a"})
	for b.Loop() {
		made, err := s.CreateVolume(ctx, &csi.CreateVolumeRequest{Name: "pvc", VolumeCapabilities: c})
		require.NoError(b, err)
		id, vc := made.Volume.VolumeId, made.Volume.VolumeContext
		at, err := s.ControllerPublishVolume(ctx, &csi.ControllerPublishVolumeRequest{VolumeId: id, NodeId: "a", VolumeCapability: c[0], VolumeContext: vc})
		require.NoError(b, err)
		_, err = n.NodeStageVolume(ctx, &csi.NodeStageVolumeRequest{VolumeId: id, StagingTargetPath: "/s", VolumeCapability: c[0], VolumeContext: vc, PublishContext: at.PublishContext})
		require.NoError(b, err)
		_, err = n.NodePublishVolume(ctx, &csi.NodePublishVolumeRequest{VolumeId: id, StagingTargetPath: "/s", TargetPath: "/1", VolumeCapability: c[0], VolumeContext: vc, PublishContext: at.PublishContext})
		require.NoError(b, err)
		_, err = n.NodeUnpublishVolume(ctx, &csi.NodeUnpublishVolumeRequest{VolumeId: id, TargetPath: "/1"})
		require.NoError(b, err)
		_, err = n.NodeUnstageVolume(ctx, &csi.NodeUnstageVolumeRequest{VolumeId: id, StagingTargetPath: "/s"})
		require.NoError(b, err)
		_, err = s.ControllerUnpublishVolume(ctx, &csi.ControllerUnpublishVolumeRequest{VolumeId: id, NodeId: "a"})
		require.NoError(b, err)
		_, err = s.DeleteVolume(ctx, &csi.DeleteVolumeRequest{VolumeId: id})
		require.NoError(b, err)
	}
}

func TestANodeReportsAChangeFromTheNextCallOn(t *testing.T) {
	w := newWorld(Options{Topology: true, MaxVolumesPerNode: 7})
	info := func() *csi.NodeGetInfoResponse {
		answer, err := w.nodes["a"].NodeGetInfo(t.Context(), &csi.NodeGetInfoRequest{})
		require.NoError(t, err)
		return answer
	}
	for _, s := range steps(create(multiWriter), attach("a", multiWriter)) {
		require.NoError(t, s(w))
	}
	id, limit := "renamed", int64(3)
	require.NoError(t, w.d.ChangeNode("a", NodeInfo{NodeID: &id, Topology: map[string]string{"rack": "r2"}, MaxVolumes: &limit}))
	assert.Equal(t, []any{"renamed", int64(3), map[string]string{"rack": "r2"}},
		[]any{info().GetNodeId(), info().GetMaxVolumesPerNode(), info().GetAccessibleTopology().GetSegments()})
	assert.Equal(t, "renamed", w.d.Attachments()[0].NodeID, "the same machine under another name")

	assert.ErrorContains(t, w.d.ChangeNode("a", NodeInfo{}), "no plugin with node id")
	b := "b"
	assert.ErrorContains(t, w.d.ChangeNode("renamed", NodeInfo{NodeID: &b}), "another node has the id")
}
