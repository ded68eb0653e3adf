//go:build linux

package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/drivers/hostdir/internal/backend"
	"github.com/csisim/csisim/drivers/hostdir/internal/placement"
	capabilities "github.com/csisim/csisim/internal/world/addons/capability"
	"github.com/csisim/csisim/internal/world/addons/encryptionkeyrotation"
	"github.com/csisim/csisim/internal/world/addons/fence"
	"github.com/csisim/csisim/internal/world/addons/identity"
	"github.com/csisim/csisim/internal/world/addons/reclaimspace"
	"github.com/csisim/csisim/internal/world/addons/replication"
	"github.com/csisim/csisim/internal/world/addons/volumegroup"
)

func code(err error) codes.Code { return status.Code(err) }

// startAddons runs a driver that serves CSI-Addons.
func (w *world) startAddons(args ...string) *driver {
	return w.start("node-a", append([]string{"--csi-addons", "--node-address=10.0.0.7"}, args...)...)
}

func TestAddonsIsOffByDefault(t *testing.T) {
	d := newWorld(t).start("node-a")
	_, err := identity.NewIdentityClient(d.conn).GetCapabilities(t.Context(), &identity.GetCapabilitiesRequest{})
	assert.Equal(t, codes.Unimplemented, code(err))
}

// Each capability can be disabled. It is then missing in GetCapabilities, and the driver answers
// its calls with Unimplemented. The other calls work.
func TestCapabilitiesOfAddonsCanBeLeftOut(t *testing.T) {
	promises := func(d *driver) (names []string) {
		answer, err := identity.NewIdentityClient(d.conn).GetCapabilities(t.Context(), &identity.GetCapabilitiesRequest{})
		require.NoError(t, err)
		for _, c := range answer.GetCapabilities() {
			names = append(names, capabilities.Name(c))
		}
		return names
	}
	all := promises(newWorld(t).startAddons())
	d := newWorld(t).startAddons("--without=reclaim_space.OFFLINE,reclaim_space.ONLINE,encryption_key_rotation.ENCRYPTIONKEYROTATION,network_fence.NETWORK_FENCE," +
		"volume_replication.GET_REPLICATION_DESTINATION_INFO,volume_group.MODIFY_VOLUME_GROUP")
	assert.Len(t, all, 13)
	assert.Equal(t, []string{
		"service.CONTROLLER_SERVICE", "volume_replication.VOLUME_REPLICATION", "volume_group.VOLUME_GROUP", "volume_group.LIMIT_VOLUME_TO_ONE_VOLUME_GROUP",
		"volume_group.GET_VOLUME_GROUP", "service.NODE_SERVICE", "network_fence.GET_CLIENTS_TO_FENCE",
	}, promises(d))
	for method, call := range map[string]func() error{
		"ControllerReclaimSpace": func() error {
			_, err := reclaimspace.NewReclaimSpaceControllerClient(d.conn).ControllerReclaimSpace(t.Context(), &reclaimspace.ControllerReclaimSpaceRequest{VolumeId: "v"})
			return err
		},
		"NodeReclaimSpace": func() error {
			_, err := reclaimspace.NewReclaimSpaceNodeClient(d.conn).NodeReclaimSpace(t.Context(), &reclaimspace.NodeReclaimSpaceRequest{VolumeId: "v"})
			return err
		},
		"EncryptionKeyRotate": func() error {
			_, err := encryptionkeyrotation.NewEncryptionKeyRotationControllerClient(d.conn).EncryptionKeyRotate(t.Context(), &encryptionkeyrotation.EncryptionKeyRotateRequest{VolumeId: "v"})
			return err
		},
		"UnfenceClusterNetwork": func() error {
			_, err := fence.NewFenceControllerClient(d.conn).UnfenceClusterNetwork(t.Context(), &fence.UnfenceClusterNetworkRequest{})
			return err
		},
		"GetReplicationDestinationInfo": func() error {
			_, err := replication.NewControllerClient(d.conn).GetReplicationDestinationInfo(t.Context(), &replication.GetReplicationDestinationInfoRequest{})
			return err
		},
		"ModifyVolumeGroupMembership": func() error {
			_, err := volumegroup.NewControllerClient(d.conn).ModifyVolumeGroupMembership(t.Context(), &volumegroup.ModifyVolumeGroupMembershipRequest{})
			return err
		},
	} {
		assert.Equal(t, codes.Unimplemented, code(call()), method)
	}
	_, err := volumegroup.NewControllerClient(d.conn).CreateVolumeGroup(t.Context(), &volumegroup.CreateVolumeGroupRequest{Name: "g"})
	assert.NoError(t, err)
	_, err = fence.NewFenceControllerClient(d.conn).GetFenceClients(t.Context(), &fence.GetFenceClientsRequest{})
	assert.NoError(t, err)
}

func TestReclaimMakesHolesOfZeros(t *testing.T) {
	for _, block := range []bool{false, true} {
		d := newWorld(t).startAddons()
		v := d.create("vol", capability(block, singleNode))
		file := d.w.path("backend", "volumes", v.id, "image")
		if !block {
			file = d.w.path("backend", "volumes", v.id, "data", "f")
		}
		content := make([]byte, mib)
		copy(content[mib/2:], "data")
		f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY, 0o600)
		require.NoError(t, err)
		_, err = f.WriteAt(content, 0)
		require.NoError(t, err)
		require.NoError(t, f.Close())

		answer, err := reclaimspace.NewReclaimSpaceControllerClient(d.conn).ControllerReclaimSpace(t.Context(), &reclaimspace.ControllerReclaimSpaceRequest{VolumeId: v.id})
		require.NoError(t, err)
		assert.GreaterOrEqual(t, answer.GetPreUsage().GetUsageBytes(), int64(mib))
		assert.Less(t, answer.GetPostUsage().GetUsageBytes(), int64(mib/4))
		is, err := os.ReadFile(file)
		require.NoError(t, err)
		assert.Equal(t, content, is[:mib], "the content is as before")

		again, err := reclaimspace.NewReclaimSpaceNodeClient(d.conn).NodeReclaimSpace(t.Context(), &reclaimspace.NodeReclaimSpaceRequest{VolumeId: v.id})
		require.NoError(t, err)
		assert.Equal(t, answer.GetPostUsage().GetUsageBytes(), again.GetPreUsage().GetUsageBytes())
		assert.Equal(t, again.GetPreUsage().GetUsageBytes(), again.GetPostUsage().GetUsageBytes())
		_, err = reclaimspace.NewReclaimSpaceNodeClient(d.conn).NodeReclaimSpace(t.Context(), &reclaimspace.NodeReclaimSpaceRequest{VolumeId: "missing"})
		assert.Equal(t, codes.NotFound, code(err))
	}
}

func TestKeysAreRotated(t *testing.T) {
	d := newWorld(t).startAddons()
	v := d.create("vol", capability(false, singleNode))
	rotate := func() string {
		_, err := encryptionkeyrotation.NewEncryptionKeyRotationControllerClient(d.conn).EncryptionKeyRotate(t.Context(), &encryptionkeyrotation.EncryptionKeyRotateRequest{VolumeId: v.id})
		require.NoError(t, err)
		key, err := os.ReadFile(d.w.path("backend", "volumes", v.id, "key"))
		require.NoError(t, err)
		return string(key)
	}
	assert.NotEqual(t, rotate(), rotate())
}

func (d *driver) fence(cidr string) error {
	_, err := fence.NewFenceControllerClient(d.conn).FenceClusterNetwork(d.w.t.Context(), &fence.FenceClusterNetworkRequest{Cidrs: []*fence.CIDR{{Cidr: cidr}}})
	return err
}

func (d *driver) unfence(cidr string) error {
	_, err := fence.NewFenceControllerClient(d.conn).UnfenceClusterNetwork(d.w.t.Context(), &fence.UnfenceClusterNetworkRequest{Cidrs: []*fence.CIDR{{Cidr: cidr}}})
	return err
}

func TestAFencedNodeIsRefused(t *testing.T) {
	d := newWorld(t).startAddons()
	client := fence.NewFenceControllerClient(d.conn)
	clients, err := client.GetFenceClients(t.Context(), &fence.GetFenceClientsRequest{})
	require.NoError(t, err)
	own := clients.GetClients()[0].GetAddresses()[0].GetCidr()
	assert.Equal(t, "10.0.0.7/32", own)

	v := d.create("vol", capability(false, singleNode))
	require.NoError(t, v.attach())
	require.NoError(t, d.fence("10.0.0.0/24"))
	require.NoError(t, d.fence("10.0.0.0/24"), "again")
	assert.Equal(t, codes.InvalidArgument, code(d.fence("nonsense")))
	d.crash()
	assert.Equal(t, codes.FailedPrecondition, code(v.stage()))
	list, err := fence.NewFenceControllerClient(d.conn).ListClusterFence(t.Context(), &fence.ListClusterFenceRequest{})
	require.NoError(t, err)
	assert.Len(t, list.GetCidrs(), 1)
	require.NoError(t, d.unfence(list.GetCidrs()[0].GetCidr()))
	assert.NoError(t, v.stage())
}

// The published volumes of a fenced node become read-only until the node is unfenced, even if a
// plugin is restarted meanwhile.
func TestAFencedNodeWritesNothing(t *testing.T) {
	d := newWorld(t).startAddons()
	v, target := d.create("vol", capability(false, singleNode)).ready(), d.w.target("pod")
	require.NoError(t, v.publish(target))
	write := func() error { return os.WriteFile(filepath.Join(target, "f"), []byte("data"), 0o644) }
	require.NoError(t, write())
	require.NoError(t, d.fence("10.0.0.7/32"))
	assert.ErrorIs(t, write(), unix.EROFS)
	d.crash()
	assert.ErrorIs(t, write(), unix.EROFS)
	assert.Equal(t, 1, d.w.mountsAt(target))
	require.NoError(t, d.unfence("10.0.0.7/32"))
	assert.NoError(t, write())
	require.NoError(t, d.fence("10.0.0.7/32"))
	require.NoError(t, v.unpublish(target))
	assert.Zero(t, d.w.mountsAt(target))
}

// A fence does not affect inline volumes, which are on the node.
func TestAFenceLeavesInlineVolumes(t *testing.T) {
	d := newWorld(t).startAddons("--inline=also")
	v, target := d.create("vol", capability(false, singleNode)).ready(), d.w.target("pod")
	require.NoError(t, v.publish(target))
	inline, own := &volume{d: d, id: "csi-" + strings.Repeat("0", 64), capability: capability(false, singleNode)}, d.w.target("inline")
	require.NoError(t, inline.publish(own))
	write := func(target string) error { return os.WriteFile(filepath.Join(target, "f"), []byte("data"), 0o644) }
	require.NoError(t, d.fence("10.0.0.7/32"))
	assert.ErrorIs(t, write(target), unix.EROFS)
	assert.NoError(t, write(own))
	require.NoError(t, d.unfence("10.0.0.7/32"))
	assert.NoError(t, write(target))
	assert.NoError(t, write(own))
}

// The driver reports a volume that it cannot make read-only. All other volumes become read-only.
func TestAFenceMakesVolumesReadOnlyWherePossible(t *testing.T) {
	d := newWorld(t).startAddons()
	targets := map[string]string{} // by volume
	for _, name := range []string{"one", "two"} {
		v := d.create(name, capability(false, singleNode)).ready()
		targets[v.id] = d.w.target(name)
		require.NoError(t, v.publish(targets[v.id]))
	}
	records, err := filepath.Glob(d.w.path("backend", "node-state", "node-a", "placements", "*.json"))
	require.NoError(t, err)
	for _, file := range records {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var first placement.Placement
		require.NoError(t, json.Unmarshal(text, &first))
		if !first.Target {
			continue
		}
		first.Flags = "nonsense"
		require.NoError(t, backend.WriteJSON(file, first))
		delete(targets, first.VolumeID)
		break
	}
	assert.ErrorContains(t, d.fence("10.0.0.7/32"), "nonsense")
	assert.Len(t, targets, 1)
	for _, target := range targets {
		assert.ErrorIs(t, os.WriteFile(filepath.Join(target, "f"), nil, 0o644), unix.EROFS)
	}
}

func TestAFencedNodeWritesToNoDevice(t *testing.T) {
	d := newWorld(t).startAddons()
	v, target := d.create("vol", capability(true, singleNode)).ready(), d.w.target("pod")
	require.NoError(t, v.publish(target))
	write := func() error {
		device, err := os.OpenFile(target, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		_, err = device.Write(make([]byte, 512))
		return errors.Join(err, device.Close())
	}
	require.NoError(t, write())
	require.NoError(t, d.fence("10.0.0.7/32"))
	assert.Error(t, write())
	require.NoError(t, d.unfence("10.0.0.7/32"))
	assert.NoError(t, write())

	require.NoError(t, d.fence("10.0.0.7/32"))
	require.NoError(t, v.unpublish(target))
	require.NoError(t, d.unfence("10.0.0.7/32"))
	require.NoError(t, v.publish(target))
	assert.NoError(t, write(), "it was not published when the fence was lifted")
}

// replica makes replication calls for one volume or group.
type replica struct {
	replication.ControllerClient
	d      *driver
	source *replication.ReplicationSource
}

func (d *driver) replica(id string) replica {
	return replica{replication.NewControllerClient(d.conn), d, &replication.ReplicationSource{
		Type: &replication.ReplicationSource_Volume{Volume: &replication.ReplicationSource_VolumeSource{VolumeId: id}},
	}}
}

func (r replica) enable() error {
	_, err := r.EnableVolumeReplication(r.d.w.t.Context(), &replication.EnableVolumeReplicationRequest{ReplicationSource: r.source})
	return err
}

func (r replica) promote() error {
	_, err := r.PromoteVolume(r.d.w.t.Context(), &replication.PromoteVolumeRequest{ReplicationSource: r.source})
	return err
}

func (r replica) demote(force bool) error {
	_, err := r.DemoteVolume(r.d.w.t.Context(), &replication.DemoteVolumeRequest{ReplicationSource: r.source, Force: force})
	return err
}

func (r replica) resync(force bool) error {
	_, err := r.ResyncVolume(r.d.w.t.Context(), &replication.ResyncVolumeRequest{ReplicationSource: r.source, Force: force})
	return err
}

func TestReplicationKeepsASecondCopy(t *testing.T) {
	d := newWorld(t).startAddons()
	v := d.create("vol", capability(false, singleNode))
	file := d.w.path("backend", "volumes", v.id, "data", "f")
	copied := d.w.path("backend", "replicas", v.id, "data", "f")
	r := d.replica(v.id)
	assert.Equal(t, codes.FailedPrecondition, code(r.promote()), "it is not replicated yet")
	require.NoError(t, r.enable())
	require.NoError(t, r.enable(), "again")
	require.NoError(t, v.attach())
	assert.Equal(t, codes.FailedPrecondition, code(v.stage()), "a secondary may not be written")
	require.NoError(t, r.promote())
	require.NoError(t, v.stage())
	require.NoError(t, os.WriteFile(filepath.Join(v.staging, "f"), []byte("one"), 0o600))

	assert.Equal(t, codes.FailedPrecondition, code(r.demote(false)), "it is attached")
	assert.Equal(t, codes.FailedPrecondition, code(r.resync(false)), "it is not demoted")
	require.NoError(t, v.unstage())
	require.NoError(t, v.detach())
	require.NoError(t, r.demote(false))
	is, err := os.ReadFile(copied)
	require.NoError(t, err)
	assert.Equal(t, "one", string(is))

	require.NoError(t, os.WriteFile(file, []byte("two"), 0o600))
	require.NoError(t, r.resync(false))
	is, err = os.ReadFile(copied)
	require.NoError(t, err)
	assert.Equal(t, "two", string(is))
	info, err := r.GetVolumeReplicationInfo(t.Context(), &replication.GetVolumeReplicationInfoRequest{ReplicationSource: r.source})
	require.NoError(t, err)
	assert.Positive(t, info.GetLastSyncBytes())
	assert.NotZero(t, info.GetLastSyncTime().GetSeconds())
	_, err = r.DisableVolumeReplication(t.Context(), &replication.DisableVolumeReplicationRequest{ReplicationSource: r.source})
	require.NoError(t, err)
	assert.NoFileExists(t, copied)
}

func TestGroupsAreReplicatedTogether(t *testing.T) {
	d := newWorld(t).startAddons()
	one, two := d.create("one", capability(false, singleNode)), d.create("two", capability(false, singleNode))
	groups := volumegroup.NewControllerClient(d.conn)
	create := &volumegroup.CreateVolumeGroupRequest{Name: "g", VolumeIds: []string{one.id, two.id}}
	made, err := groups.CreateVolumeGroup(t.Context(), create)
	require.NoError(t, err)
	again, err := groups.CreateVolumeGroup(t.Context(), create)
	require.NoError(t, err)
	id := made.GetVolumeGroup().GetVolumeGroupId()
	assert.Equal(t, id, again.GetVolumeGroup().GetVolumeGroupId())
	_, err = groups.CreateVolumeGroup(t.Context(), &volumegroup.CreateVolumeGroupRequest{Name: "other", VolumeIds: []string{one.id}})
	assert.Equal(t, codes.FailedPrecondition, code(err), "a volume is in one group")

	r := d.replica("")
	r.source = &replication.ReplicationSource{Type: &replication.ReplicationSource_Volumegroup{
		Volumegroup: &replication.ReplicationSource_VolumeGroupSource{VolumeGroupId: id},
	}}
	require.NoError(t, r.enable())
	require.NoError(t, r.promote())
	for _, v := range []*volume{one, two} {
		assert.DirExists(t, d.w.path("backend", "replicas", v.id))
	}
	to, err := r.GetReplicationDestinationInfo(t.Context(), &replication.GetReplicationDestinationInfoRequest{ReplicationSource: r.source})
	require.NoError(t, err)
	assert.Len(t, to.GetReplicationDestination().GetVolumegroup().GetVolumeIds(), 2)

	_, err = groups.DeleteVolumeGroup(t.Context(), &volumegroup.DeleteVolumeGroupRequest{VolumeGroupId: id})
	assert.Equal(t, codes.FailedPrecondition, code(err), "it has volumes")
	modified, err := groups.ModifyVolumeGroupMembership(t.Context(), &volumegroup.ModifyVolumeGroupMembershipRequest{VolumeGroupId: id})
	require.NoError(t, err)
	assert.Empty(t, modified.GetVolumeGroup().GetVolumes())
	_, err = groups.DeleteVolumeGroup(t.Context(), &volumegroup.DeleteVolumeGroupRequest{VolumeGroupId: id})
	require.NoError(t, err)
}
