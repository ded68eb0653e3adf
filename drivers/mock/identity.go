package mock

import (
	"context"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/protobuf/types/known/wrapperspb"
)

// identity is the common part of controller and node plugin.
type identity struct {
	csi.UnimplementedIdentityServer
	driver *Driver
}

func (s identity) GetPluginInfo(context.Context, *csi.GetPluginInfoRequest) (*csi.GetPluginInfoResponse, error) {
	name := s.driver.Name()
	if s.driver.faults[answersWrongName] {
		name = "_" + name + "_"
	}
	return &csi.GetPluginInfoResponse{Name: name, VendorVersion: s.driver.options.vendorVersion()}, nil
}

func (s identity) GetPluginCapabilities(context.Context, *csi.GetPluginCapabilitiesRequest) (*csi.GetPluginCapabilitiesResponse, error) {
	return &csi.GetPluginCapabilitiesResponse{Capabilities: s.driver.pluginCapabilities()}, nil
}

func (s identity) Probe(context.Context, *csi.ProbeRequest) (*csi.ProbeResponse, error) {
	return &csi.ProbeResponse{Ready: wrapperspb.Bool(!s.driver.faults[neverReady])}, nil
}
