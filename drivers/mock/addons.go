package mock

import (
	"fmt"
	"slices"

	addonscap "github.com/csisim/csisim/internal/world/addons/capability"
)

// Addons selects the day-2 operations of CSI-Addons that the driver serves. The zero value is a
// driver with all of them, except reports on copies (GET_REPLICATION_DESTINATION_INFO) and on
// clients (GET_CLIENTS_TO_FENCE).
type Addons struct {
	Controller []string `json:"controller,omitempty" example:"[service.CONTROLLER_SERVICE, reclaim_space.OFFLINE]" doc:"Capabilities of the controller plugin, as the status of a CSIAddonsNode names them; default CONTROLLER_SERVICE, OFFLINE, NETWORK_FENCE, VOLUME_REPLICATION, VOLUME_GROUP, LIMIT_VOLUME_TO_ONE_VOLUME_GROUP, MODIFY_VOLUME_GROUP and GET_VOLUME_GROUP."`
	Node       []string `json:"node,omitempty" example:"[service.NODE_SERVICE, reclaim_space.ONLINE]" doc:"Capabilities of node plugins; default NODE_SERVICE, ONLINE and ENCRYPTIONKEYROTATION."`

	ControllerUsage *Usage `json:"controllerUsage,omitempty" doc:"The fixed usage that ControllerReclaimSpace reports for a volume; default: half of its size is freed the first time, and nothing after that."`
	NodeUsage       *Usage `json:"nodeUsage,omitempty" doc:"The fixed usage that NodeReclaimSpace reports for a volume; default as for the controller."`

	FenceClients []FenceClient     `json:"fenceClients,omitempty" doc:"The clients that GetFenceClients lists; default one with the node's id and the address 10.0.0.0/32."`
	LastSync     *Sync             `json:"lastSync,omitempty" doc:"The fixed answer of GetVolumeReplicationInfo; default HEALTHY, without a time."`
	Groups       []string          `json:"groups,omitempty" doc:"Ids of new groups, in order; default group-0001 and so on."`
	GroupContext map[string]string `json:"groupContext,omitempty" doc:"The context of every group; default none."`
	Destination  string            `json:"destination,omitempty" doc:"The id of every copy; default copy-of- followed by the id of the volume."`
}

// Usage is the space of a volume, in bytes.
type Usage struct {
	Before int64 `json:"before" doc:"Bytes in use before."`
	After  int64 `json:"after" doc:"Bytes in use afterwards."`
}

// FenceClient is a client of the storage system.
type FenceClient struct {
	Node  string   `json:"node,omitempty" doc:"The node with the plugin that lists it; default all."`
	ID    string   `json:"id" doc:"The client's id."`
	CIDRs []string `json:"cidrs" doc:"Its addresses."`
}

// Sync is the last synchronization of a replicated volume.
type Sync struct {
	Time     string `json:"time,omitempty" example:"2026-01-02T03:04:05Z" doc:"The time of its end; default not reported."`
	Duration string `json:"duration,omitempty" example:"7s" doc:"Its duration; default not reported."`
	Bytes    int64  `json:"bytes,omitempty" doc:"The number of copied bytes; default 0."`
	Status   string `json:"status,omitempty" enum:"UNKNOWN|HEALTHY|DEGRADED|ERROR" doc:"The state of the replication; default HEALTHY."`
	Message  string `json:"message,omitempty" doc:"The same as a text; default none."`
}

var (
	addonsOfController = []string{
		"service.CONTROLLER_SERVICE", "reclaim_space.OFFLINE", "network_fence.NETWORK_FENCE", "volume_replication.VOLUME_REPLICATION",
		"volume_group.VOLUME_GROUP", "volume_group.LIMIT_VOLUME_TO_ONE_VOLUME_GROUP", "volume_group.MODIFY_VOLUME_GROUP", "volume_group.GET_VOLUME_GROUP",
	}
	addonsOfNode = []string{"service.NODE_SERVICE", "reclaim_space.ONLINE", "encryption_key_rotation.ENCRYPTIONKEYROTATION"}
)

func orElse(given, otherwise []string) []string {
	if given == nil {
		return otherwise
	}
	return given
}

// mistakes returns the names of unknown capabilities.
func (a *Addons) mistakes() (wrong []string) {
	if a == nil {
		return nil
	}
	for _, name := range slices.Concat(a.Controller, a.Node) {
		if addonscap.Named(name) == nil {
			wrong = append(wrong, fmt.Sprintf("csiAddons: there is no capability %q; capabilities are named as in the status of a CSIAddonsNode, such as reclaim_space.OFFLINE", name))
		}
	}
	return wrong
}
