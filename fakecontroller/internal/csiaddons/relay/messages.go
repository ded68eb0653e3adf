package relay

import (
	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/internal/world/addons/fence"
	"github.com/csisim/csisim/internal/world/addons/reclaimspace"
	"github.com/csisim/csisim/internal/world/addons/replication"
	"github.com/csisim/csisim/internal/world/addons/sidecar"
	"github.com/csisim/csisim/internal/world/addons/volumegroup"
)

// The messages between the programs, and the driver's messages with the same contents. A-TR-6

func consumption(bytes *sidecar.StorageConsumption) *reclaimspace.StorageConsumption {
	if bytes == nil {
		return nil
	}
	return &reclaimspace.StorageConsumption{UsageBytes: bytes.GetUsageBytes()}
}

func usageIn(answer *sidecar.ReclaimSpaceResponse) Usage {
	return Usage{Before: consumption(answer.GetPreUsage()), After: consumption(answer.GetPostUsage())}
}

func usageAnswer(u Usage) *sidecar.ReclaimSpaceResponse {
	answer := &sidecar.ReclaimSpaceResponse{}
	if u.Before != nil {
		answer.PreUsage = &sidecar.StorageConsumption{UsageBytes: u.Before.GetUsageBytes()}
	}
	if u.After != nil {
		answer.PostUsage = &sidecar.StorageConsumption{UsageBytes: u.After.GetUsageBytes()}
	}
	return answer
}

func clientWith(client *sidecar.ClientDetails) *fence.ClientDetails {
	with := &fence.ClientDetails{Id: client.GetId()}
	for _, text := range client.GetCidrs() {
		with.Addresses = append(with.Addresses, &fence.CIDR{Cidr: text})
	}
	return with
}

func clientAnswer(client *fence.ClientDetails) *sidecar.ClientDetails {
	answer := &sidecar.ClientDetails{Id: client.GetId()}
	for _, address := range client.GetAddresses() {
		answer.Cidrs = append(answer.Cidrs, address.GetCidr())
	}
	return answer
}

func sourceOf(s *replication.ReplicationSource) *sidecar.ReplicationSource {
	switch {
	case s.GetVolume() != nil:
		return &sidecar.ReplicationSource{Type: &sidecar.ReplicationSource_Volume{
			Volume: &sidecar.ReplicationSource_VolumeSource{VolumeId: s.GetVolume().GetVolumeId()},
		}}
	case s.GetVolumegroup() != nil:
		return &sidecar.ReplicationSource{Type: &sidecar.ReplicationSource_VolumeGroup{
			VolumeGroup: &sidecar.ReplicationSource_VolumeGroupSource{VolumeGroupId: s.GetVolumegroup().GetVolumeGroupId()},
		}}
	}
	return nil
}

func sourceIn(s *sidecar.ReplicationSource) *replication.ReplicationSource {
	switch {
	case s == nil:
		return nil
	case s.GetVolume() != nil:
		return &replication.ReplicationSource{Type: &replication.ReplicationSource_Volume{
			Volume: &replication.ReplicationSource_VolumeSource{VolumeId: s.GetVolume().GetVolumeId()},
		}}
	case s.GetVolumeGroup() != nil:
		return &replication.ReplicationSource{Type: &replication.ReplicationSource_Volumegroup{
			Volumegroup: &replication.ReplicationSource_VolumeGroupSource{VolumeGroupId: s.GetVolumeGroup().GetVolumeGroupId()},
		}}
	}
	return &replication.ReplicationSource{}
}

func infoIn(answer *sidecar.GetVolumeReplicationInfoResponse) *replication.GetVolumeReplicationInfoResponse {
	return &replication.GetVolumeReplicationInfoResponse{
		LastSyncTime: answer.GetLastSyncTime(), LastSyncDuration: answer.GetLastSyncDuration(), LastSyncBytes: answer.GetLastSyncBytes(),
		Status: replication.GetVolumeReplicationInfoResponse_Status(answer.GetStatus()), StatusMessage: answer.GetStatusMessage(),
	}
}

func infoAnswer(info *replication.GetVolumeReplicationInfoResponse) *sidecar.GetVolumeReplicationInfoResponse {
	return &sidecar.GetVolumeReplicationInfoResponse{
		LastSyncTime: info.GetLastSyncTime(), LastSyncDuration: info.GetLastSyncDuration(), LastSyncBytes: info.GetLastSyncBytes(),
		Status: sidecar.GetVolumeReplicationInfoResponse_Status(info.GetStatus()), StatusMessage: info.GetStatusMessage(),
	}
}

func destinationIn(d *sidecar.ReplicationDestination) *replication.ReplicationDestination {
	switch {
	case d.GetVolume() != nil:
		return &replication.ReplicationDestination{Type: &replication.ReplicationDestination_Volume{
			Volume: &replication.ReplicationDestination_VolumeDestination{VolumeId: d.GetVolume().GetVolumeId()},
		}}
	case d.GetVolumegroup() != nil:
		return &replication.ReplicationDestination{Type: &replication.ReplicationDestination_Volumegroup{
			Volumegroup: &replication.ReplicationDestination_VolumeGroupDestination{
				VolumeGroupId: d.GetVolumegroup().GetVolumeGroupId(), VolumeIds: d.GetVolumegroup().GetVolumeIds(),
			},
		}}
	}
	return nil
}

func destinationAnswer(d *replication.ReplicationDestination) *sidecar.ReplicationDestination {
	if d.GetVolume() != nil {
		return &sidecar.ReplicationDestination{Type: &sidecar.ReplicationDestination_Volume{
			Volume: &sidecar.ReplicationDestination_VolumeDestination{VolumeId: d.GetVolume().GetVolumeId()},
		}}
	}
	return &sidecar.ReplicationDestination{Type: &sidecar.ReplicationDestination_Volumegroup{
		Volumegroup: &sidecar.ReplicationDestination_VolumeGroupDestination{
			VolumeGroupId: d.GetVolumegroup().GetVolumeGroupId(), VolumeIds: d.GetVolumegroup().GetVolumeIds(),
		},
	}}
}

func groupIn(g *sidecar.VolumeGroup) *volumegroup.VolumeGroup {
	if g == nil {
		return nil
	}
	group := &volumegroup.VolumeGroup{VolumeGroupId: g.GetVolumeGroupId(), VolumeGroupContext: g.GetVolumeGroupContext()}
	for _, id := range g.GetVolumeIds() {
		group.Volumes = append(group.Volumes, &csi.Volume{VolumeId: id})
	}
	return group
}

func groupAnswer(g *volumegroup.VolumeGroup) *sidecar.VolumeGroup {
	answer := &sidecar.VolumeGroup{VolumeGroupId: g.GetVolumeGroupId(), VolumeGroupContext: g.GetVolumeGroupContext()}
	for _, v := range g.GetVolumes() {
		answer.VolumeIds = append(answer.VolumeIds, v.GetVolumeId())
	}
	return answer
}
