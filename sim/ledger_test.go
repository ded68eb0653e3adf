package sim_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/internal/judge/ledger"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/sim"
)

// servers returns a mock driver's servers in the form of a driver repository's servers.
func servers(m *mock.Driver) *sim.Servers {
	controller := m.Controller()
	return &sim.Servers{
		Controller: []machine.Service{
			{Desc: &csi.Identity_ServiceDesc, Server: controller}, {Desc: &csi.Controller_ServiceDesc, Server: controller},
		},
		Node: func(node string, _ machine.Machine) []machine.Service {
			plugin := m.Node(mock.NodeOptions{NodeID: node})
			return []machine.Service{{Desc: &csi.Identity_ServiceDesc, Server: plugin}, {Desc: &csi.Node_ServiceDesc, Server: plugin}}
		},
	}
}

// create creates a volume that the control plane did not request.
func create(t *testing.T, m *mock.Driver, name string) string {
	t.Helper()
	answer, err := m.Controller().CreateVolume(context.Background(), &csi.CreateVolumeRequest{
		Name: name, VolumeCapabilities: []*csi.VolumeCapability{{
			AccessType: &csi.VolumeCapability_Mount{Mount: &csi.VolumeCapability_MountVolume{}},
			AccessMode: &csi.VolumeCapability_AccessMode{Mode: csi.VolumeCapability_AccessMode_SINGLE_NODE_WRITER},
		}},
	})
	require.NoError(t, err)
	return answer.GetVolume().GetVolumeId()
}

func subjects(entries []ledger.Entry) []string {
	var all []string
	for _, e := range entries {
		all = append(all, e.Subject())
	}
	return all
}

func TestABackendIsListedPageByPage(t *testing.T) {
	m := mock.New(mock.Options{Name: driver, ListVolumes: true, Snapshot: true, ListSnapshots: true})
	create(t, m, "older than the run")
	c := cluster(t, sim.Options{Drivers: []sim.Driver{{Name: driver, Servers: servers(m)}}})
	run(t, c, "web", "node-a")
	assert.Empty(t, c.Leftovers(), "a volume with a claim, and one that was there before")
	var want []string
	for i := range 250 {
		id := create(t, m, fmt.Sprintf("stray-%d", i))
		want = append(want, fmt.Sprintf("volume %s (of driver %s, has no PersistentVolume)", id, driver))
	}
	_, err := m.Controller().CreateSnapshot(t.Context(), &csi.CreateSnapshotRequest{Name: "snap", SourceVolumeId: m.Volumes()[0].ID})
	require.NoError(t, err)
	before := len(c.World.Trace.Events())
	assert.Equal(t, append(want, "snapshot snap-0001 (of driver "+driver+", has no VolumeSnapshotContent)"), subjects(c.Leftovers()))
	assert.Len(t, c.World.Trace.Events(), before, "to look leaves no trace")
}

// A very long list of volumes, each unaccounted for and in breach of a rule, is checked within
// seconds.
func TestAListOfManyBreachesIsCheckedInTime(t *testing.T) {
	const many = 60_000
	m := mock.New(mock.Options{Name: driver, ListVolumes: true})
	with := servers(m)
	with.Controller[1].Server = &crowded{ControllerServer: m.Controller()}
	c := cluster(t, sim.Options{Drivers: []sim.Driver{{Name: driver, Servers: with}}})
	run(t, c, "web", "node-a")
	with.Controller[1].Server.(*crowded).volumes = many
	began := time.Now()
	assert.Len(t, c.Leftovers(), many)
	assert.Less(t, time.Since(began), 20*time.Second)
	assert.Less(t, len(c.Wire.Violations()), 100)
}

// crowded lists more volumes than there are, of a negative size.
type crowded struct {
	csi.ControllerServer
	volumes int
}

func (c *crowded) ListVolumes(ctx context.Context, r *csi.ListVolumesRequest) (*csi.ListVolumesResponse, error) {
	if c.volumes == 0 {
		return c.ControllerServer.ListVolumes(ctx, r)
	}
	first, _ := strconv.Atoi(r.GetStartingToken())
	last := min(c.volumes, first+int(r.GetMaxEntries()))
	if r.GetMaxEntries() == 0 {
		last = c.volumes
	}
	answer := &csi.ListVolumesResponse{}
	for i := first; i < last; i++ {
		answer.Entries = append(answer.Entries, &csi.ListVolumesResponse_Entry{Volume: &csi.Volume{VolumeId: fmt.Sprintf("stray-%d", i), CapacityBytes: -1}})
	}
	if last < c.volumes {
		answer.NextToken = strconv.Itoa(last)
	}
	return answer, nil
}

func TestTheAnswersOfADriverWithoutListsAreTrusted(t *testing.T) {
	m := mock.New(mock.Options{Name: driver})
	c := cluster(t, sim.Options{Drivers: []sim.Driver{{Name: driver, Servers: servers(m)}}})
	run(t, c, "web", "node-a")
	erase(t, c, "pods", "web")
	require.NoError(t, c.Settle(10*time.Minute))
	assert.Empty(t, c.Leftovers())
	// An administrator should not do this.
	for v := range store.List[*corev1.PersistentVolume](c.World.Store, "") {
		_, err := store.Delete[*corev1.PersistentVolume](c.World.Store, store.KeyOf(v))
		require.NoError(t, err)
		_, _ = store.Modify(c.World.Store, store.KeyOf(v), func(v *corev1.PersistentVolume) { v.Finalizers = nil })
	}
	left := c.Leftovers()
	require.Len(t, left, 1, "CreateVolume answered it, and DeleteVolume never came")
	assert.Equal(t, ledger.Volume, left[0].Kind)
	assert.Contains(t, left[0].String(), "made by CreateVolume at 1.28 s, should have gone with DeleteVolume, which never came")
}

// The answer of CreateVolume is lost, and the driver creates another volume. The ledger knows all
// answers, including those that never reached their caller.
func TestAVolumeWithALostAnswerIsALeak(t *testing.T) {
	for name, c := range map[string]struct {
		faulty []string
		leaks  []string
		breach string
	}{
		"a sound driver": {},
		"a driver that makes a volume each time": {
			[]string{"create-not-idempotent"}, []string{"volume vol-0001 (of driver " + driver + ", has no PersistentVolume)"},
			"CreateVolume is not idempotent: volume vol-0001, then vol-0002",
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := mock.New(mock.Options{Name: driver, Faulty: c.faulty}) // the driver lists nothing
			s := cluster(t, sim.Options{Drivers: []sim.Driver{{Name: driver, Servers: servers(m)}}})
			s.Wire.Faults.Inject(&fault.Fault{Call: "CreateVolume", Effect: fault.LoseAnswer, Code: codes.Unavailable, Times: 1})
			run(t, s, "web", "node-a")
			assert.Equal(t, c.leaks, subjects(s.Leftovers()))
			var breaches []string
			for _, v := range s.Wire.Violations() {
				breaches = append(breaches, v.String())
			}
			assert.Equal(t, c.breach, strings.Join(breaches, "\n"))
		})
	}
}

func TestAFileSystemThatIsPublishedAsADeviceIsABreach(t *testing.T) {
	c := cluster(t, sim.Options{Drivers: []sim.Driver{{Name: driver, Mock: &mock.Options{Faulty: []string{"publishes-device"}}}}})
	run(t, c, "web", "node-a")
	require.Len(t, c.Wire.Violations(), 1)
	assert.Contains(t, c.Wire.Violations()[0].String(), "NodePublishVolume publishes no directory: a file lies at /var/lib/kubelet/pods/")
}

// vague lists every volume as published to each node to which it was ever published, and does not
// promise LIST_VOLUMES_PUBLISHED_NODES.
type vague struct{ *mock.Controller }

func (v vague) ListVolumes(ctx context.Context, r *csi.ListVolumesRequest) (*csi.ListVolumesResponse, error) {
	answer, err := v.Controller.ListVolumes(ctx, r)
	for _, entry := range answer.GetEntries() {
		entry.Status = &csi.ListVolumesResponse_VolumeStatus{PublishedNodeIds: []string{"node-a", ""}}
	}
	return answer, err
}

func TestUnpromisedPublishedNodesAreIgnored(t *testing.T) {
	m := mock.New(mock.Options{Name: driver, ListVolumes: true})
	served := servers(m)
	controller := vague{m.Controller()}
	served.Controller[1].Server = controller
	c := cluster(t, sim.Options{Drivers: []sim.Driver{{Name: driver, Servers: served}}})
	c.Wire.Faults.Inject(&fault.Fault{Call: "*", Effect: fault.Repeat})
	run(t, c, "web", "node-a")
	erase(t, c, "pods", "web")
	require.NoError(t, c.Settle(10*time.Minute))
	assert.Empty(t, c.Wire.Violations())
	assert.Empty(t, c.Leftovers())
}

// A cloud has its own names for nodes, which only NodeGetInfo returns.
func TestAnAttachmentByTheCurrentNodeIDIsNoLeak(t *testing.T) {
	m := mock.New(mock.Options{Name: driver, ListVolumes: true, ListVolumesPublishedNodes: true})
	served := servers(m)
	served.Node = func(node string, _ machine.Machine) []machine.Service {
		plugin := m.Node(mock.NodeOptions{NodeID: "i-of-" + node})
		return []machine.Service{{Desc: &csi.Identity_ServiceDesc, Server: plugin}, {Desc: &csi.Node_ServiceDesc, Server: plugin}}
	}
	c := cluster(t, sim.Options{Drivers: []sim.Driver{{Name: driver, Servers: served}}})
	run(t, c, "web", "node-a")
	require.Equal(t, "i-of-node-a", m.Attachments()[0].NodeID)
	assert.Empty(t, c.Leftovers())
}

func TestARetainedVolumeIsNoLeak(t *testing.T) {
	c := cluster(t, sim.Options{})
	run(t, c, "web", "node-a")
	for v := range store.List[*corev1.PersistentVolume](c.World.Store, "") {
		_, err := store.Modify(c.World.Store, store.KeyOf(v), func(v *corev1.PersistentVolume) {
			v.Spec.PersistentVolumeReclaimPolicy = corev1.PersistentVolumeReclaimRetain
		})
		require.NoError(t, err)
	}
	erase(t, c, "pods", "web")
	erase(t, c, "persistentvolumeclaims", "web")
	require.NoError(t, c.Settle(10*time.Minute))
	for v := range store.List[*corev1.PersistentVolume](c.World.Store, "") {
		res, _ := store.ResourceNamed("persistentvolumes")
		require.NoError(t, c.Delete(res, store.KeyOf(v)))
	}
	require.NoError(t, c.Settle(10*time.Minute))
	for range store.List[*corev1.PersistentVolume](c.World.Store, "") {
		t.Error("the PersistentVolume is still there")
	}
	assert.Empty(t, c.Leftovers())
}

func TestAStoppedControllerCannotBeInspected(t *testing.T) {
	m := mock.New(mock.Options{Name: driver, ListVolumes: true})
	c := cluster(t, sim.Options{Drivers: []sim.Driver{{Name: driver, Servers: servers(m)}}})
	require.NoError(t, c.Kill(sim.Plugin{Driver: driver}))
	assert.Equal(t, []string{"backend of " + driver + ": its controller plugin does not run"}, c.Ledger().Unseen)
}
