//go:build linux

package service

import (
	"slices"

	"google.golang.org/grpc"

	"github.com/csisim/csisim/internal/world/addons/capability"
	addons "github.com/csisim/csisim/internal/world/addons/identity"
)

// taken maps the methods of CSI-Addons to their capabilities, named as in a CSIAddonsNode.
var taken = map[string]string{
	"ControllerReclaimSpace":        "reclaim_space.OFFLINE",
	"NodeReclaimSpace":              "reclaim_space.ONLINE",
	"EncryptionKeyRotate":           "encryption_key_rotation.ENCRYPTIONKEYROTATION",
	"FenceClusterNetwork":           "network_fence.NETWORK_FENCE",
	"UnfenceClusterNetwork":         "network_fence.NETWORK_FENCE",
	"ListClusterFence":              "network_fence.NETWORK_FENCE",
	"GetFenceClients":               "network_fence.GET_CLIENTS_TO_FENCE",
	"EnableVolumeReplication":       "volume_replication.VOLUME_REPLICATION",
	"DisableVolumeReplication":      "volume_replication.VOLUME_REPLICATION",
	"PromoteVolume":                 "volume_replication.VOLUME_REPLICATION",
	"DemoteVolume":                  "volume_replication.VOLUME_REPLICATION",
	"ResyncVolume":                  "volume_replication.VOLUME_REPLICATION",
	"GetVolumeReplicationInfo":      "volume_replication.VOLUME_REPLICATION",
	"GetReplicationDestinationInfo": "volume_replication.GET_REPLICATION_DESTINATION_INFO",
	"CreateVolumeGroup":             "volume_group.VOLUME_GROUP",
	"DeleteVolumeGroup":             "volume_group.VOLUME_GROUP",
	"ModifyVolumeGroupMembership":   "volume_group.MODIFY_VOLUME_GROUP",
	"ControllerGetVolumeGroup":      "volume_group.GET_VOLUME_GROUP",
}

func init() {
	for _, name := range taken { // any order
		dispensable[name] = "with --csi-addons: the capability and its calls"
	}
}

// promised registers services without the methods of disabled capabilities. The driver answers
// their calls with Unimplemented.
type promised struct {
	grpc.ServiceRegistrar
	without Without
}

// RegisterService registers the remaining methods of a service.
func (p promised) RegisterService(service *grpc.ServiceDesc, server any) {
	left := *service
	left.Methods = slices.DeleteFunc(slices.Clone(service.Methods), func(m grpc.MethodDesc) bool { return p.without[taken[m.MethodName]] })
	p.ServiceRegistrar.RegisterService(&left, server)
}

// kept returns the capabilities that are not disabled.
func (w Without) kept(all []*addons.Capability) []*addons.Capability {
	return slices.DeleteFunc(all, func(c *addons.Capability) bool { return w[capability.Name(c)] })
}
