package mock

import (
	"context"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Controller is a controller plugin: csi.IdentityServer, csi.ControllerServer and
// csi.GroupControllerServer; of csi.NodeServer it answers NodeGetCapabilities, which csi-resizer asks it. It has no state of its own, so any
// number of instances may serve one Driver.
type Controller struct {
	identity
	csi.UnimplementedControllerServer
	csi.UnimplementedGroupControllerServer
	csi.UnimplementedNodeServer
}

var (
	_ csi.IdentityServer   = (*Controller)(nil)
	_ csi.ControllerServer = (*Controller)(nil)
	_ csi.NodeServer       = (*Controller)(nil)

	_ csi.GroupControllerServer = (*Controller)(nil)
)

// Controller makes an instance of the controller plugin.
func (d *Driver) Controller() *Controller {
	return &Controller{identity: identity{driver: d}}
}

func (s *Controller) ControllerGetCapabilities(context.Context, *csi.ControllerGetCapabilitiesRequest) (*csi.ControllerGetCapabilitiesResponse, error) {
	return &csi.ControllerGetCapabilitiesResponse{Capabilities: s.driver.controllerCapabilities}, nil
}

func (s *Controller) NodeGetCapabilities(context.Context, *csi.NodeGetCapabilitiesRequest) (*csi.NodeGetCapabilitiesResponse, error) {
	return &csi.NodeGetCapabilitiesResponse{Capabilities: s.driver.nodeCapabilities}, nil
}

// notImplemented is the answer of a call whose capability is switched off (CSI "Error Scheme").
func notImplemented(rpc string) error {
	return status.Errorf(codes.Unimplemented, "%s is not implemented by this driver", rpc)
}

func noVolume(id string) error {
	return status.Errorf(codes.NotFound, "volume %s does not exist", id)
}
