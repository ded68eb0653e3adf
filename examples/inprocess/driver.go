// Package disk is a small CSI driver. A volume is a directory below a root that all nodes share.
// Pods get the directory as a bind mount.
package disk

import (
	"context"
	"io/fs"

	"github.com/container-storage-interface/spec/lib/go/csi"
)

// Name is the driver's.
const Name = "disk.example.com"

// Files are the file operations that the driver needs from its machine. Host implements them on the
// real machine, and tests have their own implementation.
type Files interface {
	MkdirAll(path string, mode fs.FileMode) error
	Remove(path string) error
	RemoveAll(path string) error
	Lstat(path string) (fs.FileInfo, error)
	IsMountPoint(path string) (bool, error)
	BindMount(source, target string, readOnly bool) error
	Unmount(target string) error
}

// Identity serves the identity service.
type Identity struct {
	csi.UnimplementedIdentityServer
}

// GetPluginInfo returns the name.
func (Identity) GetPluginInfo(context.Context, *csi.GetPluginInfoRequest) (*csi.GetPluginInfoResponse, error) {
	return &csi.GetPluginInfoResponse{Name: Name, VendorVersion: "1.0"}, nil
}

// GetPluginCapabilities reports that there is a controller.
func (Identity) GetPluginCapabilities(context.Context, *csi.GetPluginCapabilitiesRequest) (*csi.GetPluginCapabilitiesResponse, error) {
	return &csi.GetPluginCapabilitiesResponse{Capabilities: []*csi.PluginCapability{{
		Type: &csi.PluginCapability_Service_{Service: &csi.PluginCapability_Service{Type: csi.PluginCapability_Service_CONTROLLER_SERVICE}},
	}}}, nil
}

// Probe reports that the driver is ready.
func (Identity) Probe(context.Context, *csi.ProbeRequest) (*csi.ProbeResponse, error) {
	return &csi.ProbeResponse{}, nil
}
