package addons

import (
	"path"

	"google.golang.org/grpc/codes"

	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/addons/capability"
	"github.com/csisim/csisim/internal/world/addons/identity"
	"github.com/csisim/csisim/internal/world/trace"
)

// needed maps each call to the capability that promises it. GetVolumeReplicationInfo is optional.
var needed = map[string]string{
	"ControllerReclaimSpace":        "reclaim_space.OFFLINE",
	"NodeReclaimSpace":              "reclaim_space.ONLINE",
	"EncryptionKeyRotate":           "encryption_key_rotation.ENCRYPTIONKEYROTATION",
	"FenceClusterNetwork":           "network_fence.NETWORK_FENCE",
	"UnfenceClusterNetwork":         "network_fence.NETWORK_FENCE",
	"GetFenceClients":               "network_fence.GET_CLIENTS_TO_FENCE",
	"EnableVolumeReplication":       "volume_replication.VOLUME_REPLICATION",
	"DisableVolumeReplication":      "volume_replication.VOLUME_REPLICATION",
	"PromoteVolume":                 "volume_replication.VOLUME_REPLICATION",
	"DemoteVolume":                  "volume_replication.VOLUME_REPLICATION",
	"ResyncVolume":                  "volume_replication.VOLUME_REPLICATION",
	"GetReplicationDestinationInfo": "volume_replication.GET_REPLICATION_DESTINATION_INFO",
	"CreateVolumeGroup":             "volume_group.VOLUME_GROUP",
	"DeleteVolumeGroup":             "volume_group.VOLUME_GROUP",
	"ModifyVolumeGroupMembership":   "volume_group.MODIFY_VOLUME_GROUP",
	"ControllerGetVolumeGroup":      "volume_group.GET_VOLUME_GROUP",
}

// CapabilityOf returns the capability that promises a call, such as reclaim_space.OFFLINE; empty if
// there is none.
func CapabilityOf(call string) string { return needed[call] }

// promises notes the capabilities that a plugin declares.
func (c *Check) promises(call *trace.Event) {
	answer, ok := call.Response.(*identity.GetCapabilitiesResponse)
	if !ok {
		return
	}
	all := map[string]bool{}
	for _, has := range answer.GetCapabilities() {
		all[capability.Name(has)] = true
	}
	c.promised[client{call.Driver, call.Node}] = all
}

// serving checks the invariant that a plugin serves the capabilities that it declares. Answers of
// faults are not checked.
func (c *Check) serving(call *trace.Event) {
	name := path.Base(call.Method)
	if call.Code != codes.Unimplemented.String() || call.Injected != "" {
		return
	}
	if wants, known := needed[name]; known && c.promised[client{call.Driver, call.Node}][wants] {
		c.breach(call, "is promised and not served", verdict.Say("%s is among the capabilities, and the answer is %s", verdict.Kept(wants), verdict.Kept(call.Code)).Aside(": %s", call.Message))
	}
}
