package contract

import (
	"fmt"
	"slices"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/protobuf/proto"
)

// Set holds the names of capabilities as in the spec, such as "STAGE_UNSTAGE_VOLUME". A nil Set
// means that the driver has not declared its capabilities yet, so no check uses them. The few
// elements are in the driver's order.
type Set []string

// Has reports whether the capability was declared.
func (s Set) Has(capability string) bool { return slices.Contains(s, capability) }

// Without returns the other capabilities.
func (s Set) Without(capability string) Set {
	return slices.DeleteFunc(slices.Clone(s), func(c string) bool { return c == capability })
}

// lacks reports whether the driver has declared its capabilities without this one.
func (s Set) lacks(capability string) bool { return s != nil && !s.Has(capability) }

// Caps holds the capabilities that a driver has declared. Plugin holds the services and, as
// "ONLINE" and "OFFLINE", the kinds of volume expansion.
type Caps struct {
	Plugin, Controller, Node, Group Set
}

// Learn stores the capabilities in the answer of a call; it ignores all other calls.
func (c *Caps) Learn(resp proto.Message) {
	switch r := resp.(type) {
	case *csi.GetPluginCapabilitiesResponse:
		c.Plugin = pluginNames(r)
	case *csi.ControllerGetCapabilitiesResponse:
		c.Controller = controllerNames(r)
	case *csi.NodeGetCapabilitiesResponse:
		c.Node = nodeNames(r)
	case *csi.GroupControllerGetCapabilitiesResponse:
		c.Group = groupNames(r)
	}
}

// volumeCondition is a capability up to CSI 1.12; 1.13 reserves its numbers.
const volumeCondition = "VOLUME_CONDITION"

// The names below are "UNKNOWN" for a capability without a type.

func pluginNames(r *csi.GetPluginCapabilitiesResponse) Set {
	names := make(Set, 0, len(r.GetCapabilities()))
	for _, c := range r.GetCapabilities() {
		if e := c.GetVolumeExpansion(); e != nil {
			names = append(names, e.GetType().String())
		} else {
			names = append(names, c.GetService().GetType().String())
		}
	}
	return names
}

func controllerNames(r *csi.ControllerGetCapabilitiesResponse) Set {
	names := make(Set, 0, len(r.GetCapabilities()))
	for _, c := range r.GetCapabilities() {
		names = append(names, ControllerCapability(c))
	}
	return names
}

// ControllerCapability returns the name of a capability, such as PUBLISH_UNPUBLISH_VOLUME. It also
// supports VOLUME_CONDITION, which the bindings no longer contain.
func ControllerCapability(c *csi.ControllerServiceCapability) string {
	return capabilityName(c.GetRpc().GetType(), csi.ControllerServiceCapability_RPC_Type_name, 11)
}

func nodeNames(r *csi.NodeGetCapabilitiesResponse) Set {
	names := make(Set, 0, len(r.GetCapabilities()))
	for _, c := range r.GetCapabilities() {
		names = append(names, capabilityName(c.GetRpc().GetType(), csi.NodeServiceCapability_RPC_Type_name, 4))
	}
	return names
}

func groupNames(r *csi.GroupControllerGetCapabilitiesResponse) Set {
	names := make(Set, 0, len(r.GetCapabilities()))
	for _, c := range r.GetCapabilities() {
		names = append(names, c.GetRpc().GetType().String())
	}
	return names
}

func capabilityName[T interface {
	~int32
	fmt.Stringer
}](t T, known map[int32]string, condition T) string {
	if t == condition {
		return volumeCondition
	}
	if name, ok := known[int32(t)]; ok { // equals the result of String, which is slower
		return name
	}
	return t.String()
}
