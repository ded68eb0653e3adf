package mock

import (
	"slices"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Site is one of two storage systems that replicate volumes to each other. A copy has the id of its
// volume.
type Site struct {
	Name   string
	Driver *Driver
	// Reachable reports whether the other site can reach this one.
	Reachable func() bool
}

// Join makes two storage systems the sites of one replication.
func Join(a, b Site) {
	b.Driver.mu = a.Driver.mu
	a.Driver.other, b.Driver.other = b, a
}

// remote returns the other site; nil if there is none.
func (d *Driver) remote() *Driver { return d.other.Driver }

func (d *Driver) unreachable() error {
	if d.remote() == nil || d.other.Reachable() {
		return nil
	}
	return status.Errorf(codes.Unavailable, "site %s cannot be reached", d.other.Name)
}

// eachReplica calls do with a volume, or with each volume of a group.
func (d *Driver) eachReplica(id string, do func(id string) error) error {
	ids := []string{id}
	if group := d.addonsGroup(id); group != nil {
		ids = group.volumes
	}
	for _, id := range ids {
		if err := do(id); err != nil {
			return err
		}
	}
	return nil
}

// replicate starts or ends the replication of a volume, or of a group with all of its volumes.
func (d *Driver) replicate(id string, wanted bool, each func(id string) error) error {
	if err := d.eachReplica(id, each); err != nil {
		return err
	}
	if group := d.addonsGroup(id); group != nil {
		group.replicated = wanted
	}
	return nil
}

// regroup replaces the members of a group. Volumes that join a replicated group are replicated like
// its members. Volumes that leave the group are no longer replicated.
func (d *Driver) regroup(g *addonsGroup, volumes []string) error {
	if !g.replicated {
		g.volumes = volumes
		return nil
	}
	primary := len(g.volumes) == 0 || d.addons.replicated[g.volumes[0]]
	for _, id := range volumes {
		if slices.Contains(g.volumes, id) {
			continue
		}
		if err := d.enableReplica(id); err != nil {
			return err
		}
		d.addons.replicated[id] = primary
	}
	for _, id := range g.volumes {
		if slices.Contains(volumes, id) {
			continue
		}
		if err := d.disableReplica(id); err != nil {
			return err
		}
	}
	g.volumes = volumes
	return nil
}

// enableReplica starts the replication of a volume. The volume becomes primary, unless the other
// site has replicated it before.
func (d *Driver) enableReplica(id string) error {
	if _, known := d.addons.replicated[id]; known {
		return nil
	}
	if err := d.unreachable(); err != nil {
		return err
	}
	d.addons.replicated[id] = true
	other := d.remote()
	if other == nil {
		return nil
	}
	if other.volumes[id] == nil {
		other.insertCopy(d.volumes[id])
	}
	other.addons.replicated[id] = false
	return d.send(id)
}

// insertCopy adds an entry for the copy of a volume.
func (d *Driver) insertCopy(v *volume) {
	copied := &volume{id: v.id, bytes: v.bytes, capabilities: slices.Clone(v.capabilities), context: v.context, copied: true}
	d.insertVolume(copied)
}

// disableReplica ends the replication of a volume. For the primary, this deletes the copy.
func (d *Driver) disableReplica(id string) error {
	primary := d.addons.replicated[id]
	other := d.remote()
	if other == nil || !primary {
		delete(d.addons.replicated, id)
		return nil
	}
	if err := d.unreachable(); err != nil {
		return err
	}
	delete(d.addons.replicated, id)
	if primaryThere, known := other.addons.replicated[id]; !known || primaryThere {
		return nil
	}
	delete(other.addons.replicated, id)
	if v := other.volumes[id]; v != nil && v.copied {
		other.removeVolume(v)
	}
	return nil
}

// promoteReplica makes a volume primary here. This fails while the other site is primary, even by
// force. If the other site cannot be reached, it requires force.
func (d *Driver) promoteReplica(id string, force bool) error {
	primary, known := d.addons.replicated[id]
	switch other := d.remote(); {
	case !known:
		return status.Errorf(codes.FailedPrecondition, "%s is not replicated", id)
	case primary || other == nil || !other.addons.replicated[id] || d.faults[promotesSecondPrimary]:
	case d.other.Reachable():
		return status.Errorf(codes.Aborted, "volume %s is primary in %s: it is to be demoted there first", id, d.other.Name)
	case !force:
		return status.Errorf(codes.FailedPrecondition, "volume %s is primary in %s, which cannot be reached: it takes force to promote it", id, d.other.Name)
	}
	d.addons.replicated[id] = true
	return nil
}

// demoteReplica copies the last writes of a volume, and makes the volume read-only.
func (d *Driver) demoteReplica(id string, force bool) error {
	if v := d.volumes[id]; v != nil && len(v.nodeIDs()) > 0 && d.remote() != nil && !force {
		return status.Errorf(codes.FailedPrecondition, "volume %s is attached to %v", id, v.nodeIDs())
	}
	if err := d.synchronize(id); err != nil && !force {
		return err
	}
	d.addons.replicated[id] = false
	return nil
}

// synchronize copies a primary to the other site, unless the volume is also primary there.
func (d *Driver) synchronize(id string) error {
	other := d.remote()
	if other == nil || !d.addons.replicated[id] || d.faults[replicationCopiesNothing] {
		return nil
	}
	if err := d.unreachable(); err != nil {
		return err
	}
	if primaryThere, known := other.addons.replicated[id]; !known || primaryThere {
		return nil
	}
	return d.send(id)
}

// resyncReplica copies the primary to the copy. The copy is not ready while the primary is
// unreachable.
func (d *Driver) resyncReplica(id string) (ready bool, err error) {
	if d.addons.replicated[id] {
		return false, status.Errorf(codes.FailedPrecondition, "%s is not demoted", id)
	}
	other := d.remote()
	switch {
	case other == nil:
		return true, nil
	case !d.other.Reachable():
		return false, nil
	case !other.addons.replicated[id] || d.faults[replicationCopiesNothing]:
		return true, nil
	}
	return true, other.send(id)
}

// writableReplica rejects writes to a secondary.
func (d *Driver) writableReplica(id string, c *csi.VolumeCapability) error {
	primary, known := d.addons.replicated[id]
	if primary || !known || readsOnly(c) || d.faults[demotedStaysWritable] {
		return nil
	}
	return status.Errorf(codes.FailedPrecondition, "volume %s is demoted: it can be used read-only", id)
}

func readsOnly(c *csi.VolumeCapability) bool {
	switch c.GetAccessMode().GetMode() {
	case csi.VolumeCapability_AccessMode_SINGLE_NODE_READER_ONLY, csi.VolumeCapability_AccessMode_MULTI_NODE_READER_ONLY:
		return true
	}
	return false
}
