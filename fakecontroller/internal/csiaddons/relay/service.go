package relay

import (
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/csisim/csisim/internal/world/addons/fence"
	"github.com/csisim/csisim/internal/world/addons/identity"
	"github.com/csisim/csisim/internal/world/addons/reclaimspace"
	"github.com/csisim/csisim/internal/world/addons/replication"
	"github.com/csisim/csisim/internal/world/addons/volumegroup"
	"github.com/csisim/csisim/internal/world/kernel"
)

// Call is a call at the sidecar: the process that answers it, and the caller's deadline, as time
// since the start.
type Call struct {
	Process  *kernel.Process
	Deadline time.Duration
}

// Service is the service of a sidecar. Errors of the driver are passed on unchanged. A-SRV-1,
// A-SRV-3
type Service interface {
	Asked
	GetIdentity(Call) (*identity.GetIdentityResponse, error)
	Probe(Call) (*identity.ProbeResponse, error)
	GetGroup(Call, Group) (*volumegroup.VolumeGroup, error)
}

// Asked lists the requests of the controller manager to a sidecar.
type Asked interface {
	GetCapabilities(Call) ([]*identity.Capability, error)
	ControllerReclaimSpace(c Call, volume string) (Usage, error)
	NodeReclaimSpace(c Call, volume string) (Usage, error)
	RotateKey(c Call, volume string) error
	Fence(Call, Fence) error
	FenceClients(c Call, parameters map[string]string, s Secret) ([]*fence.ClientDetails, error)
	Replicate(Call, Replication) (proto.Message, error)
	CreateGroup(c Call, name string, g Group) (*volumegroup.VolumeGroup, error)
	ModifyGroup(Call, Group) (*volumegroup.VolumeGroup, error)
	DeleteGroup(Call, Group) error
}

// Usage is the storage consumption of a volume before and after space was reclaimed; either may be
// unknown.
type Usage struct {
	Before, After *reclaimspace.StorageConsumption
}

// Secret names a secret.
type Secret struct{ Name, Namespace string }

// Fence is a request to block clients from the storage, or to unblock them.
type Fence struct {
	Parameters map[string]string
	Secret     Secret
	CIDRs      []string
	Unfence    bool
}

// Operation is one of the calls of replication.
type Operation string

// The operations, by the names of the driver's calls.
const (
	Enable      Operation = "EnableVolumeReplication"
	Disable     Operation = "DisableVolumeReplication"
	Promote     Operation = "PromoteVolume"
	Demote      Operation = "DemoteVolume"
	Resync      Operation = "ResyncVolume"
	Info        Operation = "GetVolumeReplicationInfo"
	Destination Operation = "GetReplicationDestinationInfo"
)

// Replication is one request of replication.
type Replication struct {
	Operation  Operation
	ID         string
	Force      bool
	Parameters map[string]string
	Secret     Secret
	Source     *replication.ReplicationSource
}

// Group is a group of volumes.
type Group struct {
	ID         string
	Volumes    []string
	Parameters map[string]string
	Secret     Secret
}
