package manager

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/kinds"
	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/relay"
	"github.com/csisim/csisim/internal/world/addons/replication"
	"github.com/csisim/csisim/internal/world/addons/volumegroup"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workqueue"
)

// startContents starts the controller of VolumeGroupReplicationContents. Every event about a
// content queues it. A-VGR-8
func (m *Manager) startContents() {
	queue := workqueue.New("contents", m.oneByOne(), m.Go, m.syncContent)
	m.follow("contents", (&kinds.GroupContent{}).Of(), func(e store.Event[store.Object]) { queue.Add(store.KeyOf(e.Object)) })
}

// contentPass is one pass of a VolumeGroupReplicationContent.
type contentPass struct {
	*Manager
	process *kernel.Process
	content *kinds.GroupContent
	group   *kinds.GroupReplication
	conn    *connection
	request relay.Group // its parameters and secret
	id      string      // the handle when the pass began
}

// syncContent makes one pass. A-VGR-8
func (m *Manager) syncContent(p *kernel.Process, key store.Key) error {
	content, err := kinds.Get[kinds.GroupContent](m.Component, key)
	if err != nil {
		return ignoreNotFound(err)
	}
	c := &contentPass{Manager: m, process: p, content: content, id: content.Spec.Handle}
	ready, err := c.prepare()
	switch {
	case err != nil || !ready:
		return err
	case content.DeletionTimestamp != nil:
		return c.remove()
	}
	if err := c.own(); err != nil {
		return err
	}
	if err := c.form(); err != nil {
		return err
	}
	c.listVolumes()
	if err := c.findDestination(); err != nil {
		return err
	}
	return kinds.UpdateStatus(p, m.Component, content)
}

// prepare finds the connection, the class and the group. A deletion needs them, too. A-VGR-8
func (c *contentPass) prepare() (ready bool, err error) {
	driver := c.content.Spec.Provisioner
	if c.conn, err = c.leader(driver); err != nil {
		return false, fmt.Errorf("no leader for the ControllerService of driver %q", driver)
	}
	if !c.conn.can("volume_group.VOLUME_GROUP") {
		return false, fmt.Errorf("leading CSIAddonsNode %q for driver %q does not support VolumeGroup", c.conn.name, driver)
	}
	class, err := kinds.Get[kinds.GroupReplicationClass](c.Component, store.Key{Name: c.content.Spec.ClassName})
	if err != nil {
		return false, err
	}
	c.request = relay.Group{Parameters: ownParameters(class.Spec.Parameters), Secret: groupSecretOf(class)}
	ref := c.content.Spec.Ref
	if ref == nil {
		return false, nil
	}
	c.group, err = kinds.Get[kinds.GroupReplication](c.Component, store.Key{Namespace: ref.Namespace, Name: ref.Name})
	return err == nil, err
}

// own writes the content's name into the group and protects the content. A-VGR-8
func (c *contentPass) own() error {
	switch owner := c.group.Annotations[ownerContent]; owner {
	case c.content.Name:
	case "":
		annotations := maps.Clone(c.group.Annotations)
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[ownerContent] = c.content.Name
		c.group.Annotations = annotations
		if err := kinds.Update(c.process, c.Component, c.group); err != nil {
			return fmt.Errorf("failed to update VGR %q annotation for VolumeGroupReplicationContent: %w", c.group.Name, err)
		}
	default:
		return fmt.Errorf("VGRContent %q not owned by correct VolumeGroupReplication %q", c.content.Name, c.group.Name)
	}
	return c.protect(c.process, c.content, groupFinalizer)
}

// form creates the group at the driver, or sets its members, in every pass. A-VGR-8
func (c *contentPass) form() error {
	request := c.request
	request.Volumes = c.content.Spec.Source.VolumeHandles
	if c.id != "" {
		return c.modify(request.Volumes)
	}
	var made *volumegroup.VolumeGroup
	err := c.conn.call(c.process, "CreateVolumeGroup", defaultTimeout, func(s relay.Asked, call relay.Call) (err error) {
		made, err = s.CreateGroup(call, c.content.Name, request)
		return err
	})
	if err != nil {
		return err
	}
	c.content.Spec.Attributes, c.content.Spec.Handle = made.GetVolumeGroupContext(), made.GetVolumeGroupId()
	return kinds.Update(c.process, c.Component, c.content)
}

func (c *contentPass) modify(volumes []string) error {
	request := c.request
	request.ID, request.Volumes = c.id, volumes
	return c.conn.call(c.process, "ModifyVolumeGroupMembership", defaultTimeout, func(s relay.Asked, call relay.Call) error {
		_, err := s.ModifyGroup(call, request)
		return err
	})
}

// listVolumes returns the names of the volumes with these handles, for any driver. A-VGR-9
func (c *contentPass) listVolumes() {
	byHandle := map[string]string{}
	for volume := range store.List[*corev1.PersistentVolume](c.Cache, "") {
		if volume.Spec.CSI != nil {
			byHandle[volume.Spec.CSI.VolumeHandle] = volume.Name
		}
	}
	c.content.Status.Volumes, c.content.Status.Mapping = nil, nil
	for _, handle := range c.content.Spec.Source.VolumeHandles {
		if name, ok := byHandle[handle]; ok {
			c.content.Status.Volumes = append(c.content.Status.Volumes, corev1.LocalObjectReference{Name: name})
			c.content.Status.Mapping = append(c.content.Status.Mapping, kinds.VolumeMapping{Name: name, Handle: handle})
		}
	}
}

var errDestinationIncomplete = errors.New("replication destination info is not yet available for all volumes in the group")

// findDestination requests the copies. In the pass that creates the group, the request has no id.
// A-VGR-9
func (c *contentPass) findDestination() error {
	conn, err := c.leaderWith(c.content.Spec.Provisioner, "volume_replication.VOLUME_REPLICATION")
	if err != nil || !conn.can("volume_replication.GET_REPLICATION_DESTINATION_INFO") {
		return err
	}
	var answer proto.Message
	err = conn.call(c.process, string(relay.Destination), defaultTimeout, func(s relay.Asked, call relay.Call) (err error) {
		answer, err = s.Replicate(call, relay.Replication{Operation: relay.Destination, Secret: c.request.Secret, Source: source{id: c.id}.message()})
		return err
	})
	if err != nil {
		return err
	}
	info, _ := answer.(*replication.GetReplicationDestinationInfoResponse)
	return c.noteDestination(info.GetReplicationDestination().GetVolumegroup())
}

// noteDestination records the copies of all volumes; an incomplete list is an error. A-VGR-9
func (c *contentPass) noteDestination(group *replication.ReplicationDestination_VolumeGroupDestination) error {
	if group.GetVolumeGroupId() == "" {
		return errDestinationIncomplete
	}
	c.content.Status.DestinationID = group.GetVolumeGroupId()
	for i := range c.content.Status.Mapping {
		at := &c.content.Status.Mapping[i]
		id, ok := group.GetVolumeIds()[at.Handle]
		if !ok {
			return errDestinationIncomplete
		}
		at.DestinationHandle = id
	}
	return nil
}

var errReplicationLeft = errors.New("cannot delete VolumeGroupReplicationContent resource, until dependent VolumeReplication instance is deleted")

// remove empties and deletes the group at the driver. The group's object must be terminating, and
// its VolumeReplication must be deleted. A-VGR-10
func (c *contentPass) remove() error {
	switch {
	case c.group.DeletionTimestamp == nil:
		return nil
	case slices.Contains(c.content.Finalizers, replicationFinalizer):
		return errReplicationLeft
	}
	if c.id != "" {
		if err := c.disband(); err != nil {
			return err
		}
	}
	if _, has := c.group.Annotations[ownerContent]; has {
		annotations := maps.Clone(c.group.Annotations)
		delete(annotations, ownerContent)
		c.group.Annotations = annotations
		if err := kinds.Update(c.process, c.Component, c.group); err != nil {
			return fmt.Errorf("failed to remove annotation %q from VolumeGroupReplication %q %w", ownerContent, c.group.Name, err)
		}
	}
	return c.release(c.process, c.content, groupFinalizer)
}

func (c *contentPass) disband() error {
	c.overlaps.begin(store.KeyOf(c.content))
	if len(c.content.Spec.Source.VolumeHandles) > 0 {
		if err := c.modify(nil); err != nil && status.Code(err) != codes.NotFound {
			return err
		}
	}
	request := c.request
	request.ID = c.id
	return c.conn.call(c.process, "DeleteVolumeGroup", defaultTimeout, func(s relay.Asked, call relay.Call) error { return s.DeleteGroup(call, request) })
}
