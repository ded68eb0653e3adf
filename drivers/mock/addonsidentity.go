package mock

import (
	"context"
	"slices"

	"google.golang.org/protobuf/types/known/wrapperspb"

	addonscap "github.com/csisim/csisim/internal/world/addons/capability"
	addonsid "github.com/csisim/csisim/internal/world/addons/identity"
)

// AddonsIdentity is the part of CSI-Addons that every plugin serves.
type AddonsIdentity struct {
	addonsid.UnimplementedIdentityServer
	driver       *Driver
	capabilities []string
	node         string // empty for the controller plugin
}

// AddonsOfController returns the controller plugin's part of CSI-Addons. It panics if the plugin
// does not serve CSI-Addons.
func (d *Driver) AddonsOfController() *AddonsIdentity {
	return &AddonsIdentity{driver: d, capabilities: orElse(d.options.CSIAddons.Controller, addonsOfController)}
}

// AddonsOfNode returns the part of a node's plugin.
func (d *Driver) AddonsOfNode(nodeID string) *AddonsIdentity {
	return &AddonsIdentity{driver: d, capabilities: orElse(d.options.CSIAddons.Node, addonsOfNode), node: nodeID}
}

// ServesAddons reports whether the driver serves CSI-Addons.
func (d *Driver) ServesAddons() bool { return d.options.CSIAddons != nil }

// GetIdentity returns the driver's name.
func (s *AddonsIdentity) GetIdentity(context.Context, *addonsid.GetIdentityRequest) (*addonsid.GetIdentityResponse, error) {
	return &addonsid.GetIdentityResponse{Name: s.driver.Name(), VendorVersion: s.driver.options.vendorVersion()}, nil
}

// GetCapabilities returns the capabilities of the plugin.
func (s *AddonsIdentity) GetCapabilities(context.Context, *addonsid.GetCapabilitiesRequest) (*addonsid.GetCapabilitiesResponse, error) {
	answer := &addonsid.GetCapabilitiesResponse{}
	for _, name := range s.capabilities {
		answer.Capabilities = append(answer.Capabilities, addonscap.Named(name))
	}
	return answer, nil
}

// Probe reports whether the plugin is ready.
func (s *AddonsIdentity) Probe(context.Context, *addonsid.ProbeRequest) (*addonsid.ProbeResponse, error) {
	return &addonsid.ProbeResponse{Ready: wrapperspb.Bool(true)}, nil
}

// serve handles a call while the storage system is locked. Without the capability, the answer is
// Unimplemented.
func serve[A any](s *AddonsIdentity, rpc, capability string, answer func() (*A, error)) (*A, error) {
	if !slices.Contains(s.capabilities, capability) {
		return nil, notImplemented(rpc)
	}
	s.driver.mu.Lock()
	defer s.driver.mu.Unlock()
	return answer()
}

// serveVolume answers a call about a volume.
func serveVolume[A any](s *AddonsIdentity, rpc, capability, id string, answer func(*volume) (*A, error)) (*A, error) {
	return serve(s, rpc, capability, func() (*A, error) {
		v, err := s.driver.addonsVolume(id)
		if err != nil {
			return nil, err
		}
		return answer(v)
	})
}
