//go:build linux

package service

import (
	"context"
	"net/netip"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"github.com/csisim/csisim/internal/world/addons/encryptionkeyrotation"
	"github.com/csisim/csisim/internal/world/addons/fence"
	addons "github.com/csisim/csisim/internal/world/addons/identity"
	"github.com/csisim/csisim/internal/world/addons/reclaimspace"
	"github.com/csisim/csisim/internal/world/addons/replication"
	"github.com/csisim/csisim/internal/world/addons/volumegroup"
)

// addonsIdentity serves the part of CSI-Addons that every plugin has.
type addonsIdentity struct {
	addons.UnimplementedIdentityServer
	cfg Config
}

// registerAddons adds the services of CSI-Addons to the server.
func registerAddons(all *grpc.Server, d *Driver) {
	cfg, store := d.Config, d.Backend
	server := promised{all, cfg.Without}
	addons.RegisterIdentityServer(server, addonsIdentity{cfg: cfg})
	if cfg.Controller {
		reclaimspace.RegisterReclaimSpaceControllerServer(server, reclaimController{store: store})
		replication.RegisterControllerServer(server, replicationController{store: store})
		volumegroup.RegisterControllerServer(server, groupController{store: store})
	}
	fence.RegisterFenceControllerServer(server, fenceController{cfg: cfg, store: store})
	if cfg.Node {
		reclaimspace.RegisterReclaimSpaceNodeServer(server, reclaimNode{store: store})
		encryptionkeyrotation.RegisterEncryptionKeyRotationControllerServer(server, keyRotation{store: store})
	}
}

// GetIdentity returns the driver's name.
func (a addonsIdentity) GetIdentity(context.Context, *addons.GetIdentityRequest) (*addons.GetIdentityResponse, error) {
	return &addons.GetIdentityResponse{Name: a.cfg.DriverName, VendorVersion: Version}, nil
}

// Probe reports that the plugin is ready.
func (addonsIdentity) Probe(context.Context, *addons.ProbeRequest) (*addons.ProbeResponse, error) {
	return &addons.ProbeResponse{Ready: wrapperspb.Bool(true)}, nil
}

// GetCapabilities returns the capabilities of the services that the instance offers.
func (a addonsIdentity) GetCapabilities(context.Context, *addons.GetCapabilitiesRequest) (*addons.GetCapabilitiesResponse, error) {
	answer := &addons.GetCapabilitiesResponse{}
	if a.cfg.Controller {
		answer.Capabilities = append(answer.Capabilities,
			serviceCapability(addons.Capability_Service_CONTROLLER_SERVICE), reclaimCapability(addons.Capability_ReclaimSpace_OFFLINE),
			fenceCapability(addons.Capability_NetworkFence_NETWORK_FENCE), replicationCapability(addons.Capability_VolumeReplication_VOLUME_REPLICATION),
			replicationCapability(addons.Capability_VolumeReplication_GET_REPLICATION_DESTINATION_INFO),
			groupCapability(addons.Capability_VolumeGroup_VOLUME_GROUP), groupCapability(addons.Capability_VolumeGroup_LIMIT_VOLUME_TO_ONE_VOLUME_GROUP),
			groupCapability(addons.Capability_VolumeGroup_MODIFY_VOLUME_GROUP), groupCapability(addons.Capability_VolumeGroup_GET_VOLUME_GROUP))
	}
	if a.cfg.Node {
		answer.Capabilities = append(answer.Capabilities, serviceCapability(addons.Capability_Service_NODE_SERVICE), reclaimCapability(addons.Capability_ReclaimSpace_ONLINE),
			&addons.Capability{Type: &addons.Capability_EncryptionKeyRotation_{EncryptionKeyRotation: &addons.Capability_EncryptionKeyRotation{
				Type: addons.Capability_EncryptionKeyRotation_ENCRYPTIONKEYROTATION,
			}}})
		if a.cfg.NodeAddress != (netip.Addr{}) {
			answer.Capabilities = append(answer.Capabilities, fenceCapability(addons.Capability_NetworkFence_GET_CLIENTS_TO_FENCE))
		}
	}
	answer.Capabilities = a.cfg.Without.kept(answer.Capabilities)
	return answer, nil
}

func serviceCapability(t addons.Capability_Service_Type) *addons.Capability {
	return &addons.Capability{Type: &addons.Capability_Service_{Service: &addons.Capability_Service{Type: t}}}
}

func reclaimCapability(t addons.Capability_ReclaimSpace_Type) *addons.Capability {
	return &addons.Capability{Type: &addons.Capability_ReclaimSpace_{ReclaimSpace: &addons.Capability_ReclaimSpace{Type: t}}}
}

func fenceCapability(t addons.Capability_NetworkFence_Type) *addons.Capability {
	return &addons.Capability{Type: &addons.Capability_NetworkFence_{NetworkFence: &addons.Capability_NetworkFence{Type: t}}}
}

func replicationCapability(t addons.Capability_VolumeReplication_Type) *addons.Capability {
	return &addons.Capability{Type: &addons.Capability_VolumeReplication_{VolumeReplication: &addons.Capability_VolumeReplication{Type: t}}}
}

func groupCapability(t addons.Capability_VolumeGroup_Type) *addons.Capability {
	return &addons.Capability{Type: &addons.Capability_VolumeGroup_{VolumeGroup: &addons.Capability_VolumeGroup{Type: t}}}
}
