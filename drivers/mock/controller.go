package mock

import (
	"context"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Controller is a controller plugin: csi.IdentityServer, csi.ControllerServer and
// csi.GroupControllerServer. It implements NodeGetCapabilities of csi.NodeServer, which csi-resizer
// calls. It is stateless, so any number of instances can serve one Driver.
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

// Controller returns an instance of the controller plugin.
func (d *Driver) Controller() *Controller {
	return &Controller{identity: identity{driver: d}}
}

func (s *Controller) ControllerGetCapabilities(context.Context, *csi.ControllerGetCapabilitiesRequest) (*csi.ControllerGetCapabilitiesResponse, error) {
	return &csi.ControllerGetCapabilitiesResponse{Capabilities: s.driver.controllerCapabilities}, nil
}

func (s *Controller) NodeGetCapabilities(context.Context, *csi.NodeGetCapabilitiesRequest) (*csi.NodeGetCapabilitiesResponse, error) {
	return &csi.NodeGetCapabilitiesResponse{Capabilities: s.driver.nodeCapabilities}, nil
}

// notImplemented returns the answer of a call with a disabled capability (CSI "Error Scheme").
func notImplemented(rpc string) error {
	return status.Errorf(codes.Unimplemented, "%s is not implemented by this driver", rpc)
}

func noVolume(id string) error {
	return status.Errorf(codes.NotFound, "volume %s does not exist", id)
}
