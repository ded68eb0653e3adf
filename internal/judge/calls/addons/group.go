package addons

import (
	"slices"

	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/addons/volumegroup"
	"github.com/csisim/csisim/internal/world/trace"
)

// grouping checks the invariant that the members of a group are exactly the requested ones.
func (c *Check) grouping(call *trace.Event) {
	switch request := call.Request.(type) {
	case *volumegroup.CreateVolumeGroupRequest:
		c.grouped(call, request.GetVolumeIds())
	case *volumegroup.ModifyVolumeGroupMembershipRequest:
		c.grouped(call, request.GetVolumeIds())
	case *volumegroup.ControllerGetVolumeGroupRequest:
		if wanted, known := c.groups[Volume{call.Driver, request.GetVolumeGroupId()}]; known {
			c.grouped(call, wanted)
		}
	case *volumegroup.DeleteVolumeGroupRequest:
		delete(c.groups, Volume{call.Driver, request.GetVolumeGroupId()})
	}
}

func (c *Check) grouped(call *trace.Event, wanted []string) {
	answer, ok := call.Response.(interface {
		GetVolumeGroup() *volumegroup.VolumeGroup
	})
	if !ok {
		return
	}
	group := answer.GetVolumeGroup()
	var got []string
	for _, v := range group.GetVolumes() {
		got = append(got, v.GetVolumeId())
	}
	wanted = slices.Sorted(slices.Values(wanted))
	slices.Sort(got)
	if !slices.Equal(wanted, got) {
		c.breach(call, "answers a group with other members", verdict.Say("group %s was to have %v and has %v", group.GetVolumeGroupId(), wanted, got))
	}
	c.groups[Volume{call.Driver, group.GetVolumeGroupId()}] = wanted
}
