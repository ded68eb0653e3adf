package mock

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/durationpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/csisim/csisim/internal/world/addons/reclaimspace"
	"github.com/csisim/csisim/internal/world/addons/replication"
)

// addonsState is the state of the storage system for CSI-Addons.
type addonsState struct {
	reclaimed  map[string]bool // addresses, in the order in which they were fenced
	keys       map[string]int  // number of changes of a volume's key
	fenced     []string        // addresses, in the order in which they were fenced
	replicated map[string]bool // volumes and groups by id; true if they are writable
	groups     []*addonsGroup
	made       int // groups so far
}

type addonsGroup struct {
	id, name   string
	volumes    []string
	replicated bool // as a whole
}

func newAddonsState() addonsState {
	return addonsState{reclaimed: map[string]bool{}, keys: map[string]int{}, replicated: map[string]bool{}}
}

// addonsVolume returns the volume with an id.
func (d *Driver) addonsVolume(id string) (*volume, error) {
	if id == "" {
		return nil, status.Error(codes.InvalidArgument, "volume_id is required")
	}
	v := d.volumes[id]
	if v == nil && (d.faults[servesUnknownVolumes] || d.everKnown[id] && d.faults[servesDeletedVolumes]) {
		return &volume{id: id}, nil
	}
	if v == nil {
		return nil, noVolume(id)
	}
	return v, nil
}

// reclaim frees half of the unused space of a volume, once.
func (d *Driver) reclaim(v *volume, always *Usage) (before, after *reclaimspace.StorageConsumption) {
	if always != nil {
		return &reclaimspace.StorageConsumption{UsageBytes: always.Before}, &reclaimspace.StorageConsumption{UsageBytes: always.After}
	}
	used := v.bytes
	if d.addons.reclaimed[v.id] {
		used /= 2
	}
	d.addons.reclaimed[v.id] = true
	return &reclaimspace.StorageConsumption{UsageBytes: used}, &reclaimspace.StorageConsumption{UsageBytes: v.bytes / 2}
}

// checkAddresses rejects invalid address ranges.
func checkAddresses(all []string) error {
	if len(all) == 0 {
		return nil
	}
	for _, text := range all {
		if _, err := netip.ParsePrefix(text); err != nil {
			return status.Errorf(codes.InvalidArgument, "%q is no address range: %v", text, err)
		}
	}
	return nil
}

func (d *Driver) fence(all []string) {
	for _, text := range all {
		if !slices.Contains(d.addons.fenced, text) {
			d.addons.fenced = append(d.addons.fenced, text)
		}
	}
}

func (d *Driver) unfence(all []string) {
	if d.faults[unfenceLeavesFence] {
		return
	}
	d.addons.fenced = slices.DeleteFunc(d.addons.fenced, func(text string) bool { return slices.Contains(all, text) })
}

// Fenced returns the blocked address ranges, in the order in which they were fenced.
func (d *Driver) Fenced() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.addons.fenced)
}

// admitted rejects a node if its clients are fenced. Clients of all nodes are ignored.
func (n *Node) admitted() error {
	d := n.driver
	if d.options.CSIAddons == nil || d.faults[fenceIgnored] {
		return nil
	}
	for _, c := range d.options.CSIAddons.FenceClients {
		for _, cidr := range c.CIDRs {
			if c.Node == n.state.id && d.isFenced(cidr) {
				return status.Errorf(codes.FailedPrecondition, "node %s with the addresses %s is fenced", n.state.id, cidr)
			}
		}
	}
	return nil
}

// isFenced reports whether an address range is fenced, or is part of a fenced range.
func (d *Driver) isFenced(cidr string) bool {
	own, err := netip.ParsePrefix(cidr)
	if err != nil {
		return false
	}
	return slices.ContainsFunc(d.addons.fenced, func(text string) bool {
		fenced, err := netip.ParsePrefix(text)
		return err == nil && fenced.Overlaps(own)
	})
}

// sourceID returns the id of the replicated volume or group, which must exist.
func (d *Driver) sourceID(s *replication.ReplicationSource) (string, error) {
	if id := s.GetVolumegroup().GetVolumeGroupId(); id != "" {
		if d.addonsGroup(id) == nil {
			return "", status.Errorf(codes.NotFound, "volume group %s does not exist", id)
		}
		return id, nil
	}
	v, err := d.addonsVolume(s.GetVolume().GetVolumeId())
	if err != nil {
		return "", err
	}
	return v.id, nil
}

func (d *Driver) addonsGroup(id string) *addonsGroup {
	for _, g := range d.addons.groups {
		if g.id == id {
			return g
		}
	}
	return nil
}

// newGroupID returns the next id for a group.
func (d *Driver) newGroupID() string {
	d.addons.made++
	if ids := d.options.CSIAddons.Groups; d.addons.made <= len(ids) {
		return ids[d.addons.made-1]
	}
	return fmt.Sprintf("group-%04d", d.addons.made)
}

// groupable returns an error if volumes are unknown, or members of another group.
func (d *Driver) groupable(ids []string, into *addonsGroup) error {
	for _, id := range ids {
		if _, err := d.addonsVolume(id); err != nil {
			return err
		}
		for _, g := range d.addons.groups {
			if g != into && slices.Contains(g.volumes, id) {
				return status.Errorf(codes.FailedPrecondition, "volume %s is in group %s", id, g.id)
			}
		}
	}
	return nil
}

// syncInfo returns the reported state of a replication.
func (a *Addons) syncInfo() *replication.GetVolumeReplicationInfoResponse {
	info := &replication.GetVolumeReplicationInfoResponse{Status: replication.GetVolumeReplicationInfoResponse_HEALTHY}
	s := a.LastSync
	if s == nil {
		return info
	}
	info.LastSyncBytes, info.StatusMessage = s.Bytes, s.Message
	if n, ok := replication.GetVolumeReplicationInfoResponse_Status_value[s.Status]; ok {
		info.Status = replication.GetVolumeReplicationInfoResponse_Status(n)
	}
	if at, err := time.Parse(time.RFC3339, s.Time); err == nil {
		info.LastSyncTime = timestamppb.New(at)
	}
	if took, err := time.ParseDuration(s.Duration); err == nil {
		info.LastSyncDuration = durationpb.New(took)
	}
	return info
}
