package contract

import (
	"strings"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/protobuf/proto"
)

const maxPluginName = 63

// isPluginName: alphanumeric at both ends, dashes, dots and alphanumerics between.
func isPluginName(name string) bool {
	for i := range len(name) {
		c := name[i]
		alphanumeric := 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
		if !alphanumeric && (i == 0 || i == len(name)-1 || c != '-' && c != '.') {
			return false
		}
	}
	return true
}

// domainName accepts labels that begin and end with an alphanumeric character, as in RFC 1035; a
// leading digit is common in practice and permitted.
func domainName(s string) bool {
	for label := range strings.SplitSeq(s, ".") {
		if label == "" || strings.HasPrefix(label, "-") || strings.HasSuffix(label, "-") {
			return false
		}
	}
	return true
}

func (f *findings) identityResponse(resp proto.Message, caps Caps) {
	switch r := resp.(type) {
	case *csi.GetPluginInfoResponse:
		f.pluginInfo(r)
	case *csi.GetPluginCapabilitiesResponse:
		learnt := caps
		learnt.Plugin = pluginNames(r)
		f.pluginPromises(learnt)
	}
}

const wantsDomain = "the CSI spec wants a domain name"

// CSI "GetPluginInfo".
func (f *findings) pluginInfo(r *csi.GetPluginInfoResponse) {
	f.required("name", r.GetName() != "")
	f.required("vendor_version", r.GetVendorVersion() != "")
	switch name := r.GetName(); {
	case name == "":
	case len(name) > maxPluginName:
		f.add("name", "the CSI spec allows 63 characters", "has %d characters", len(name))
	case !isPluginName(name) || !domainName(name):
		f.add("name", wantsDomain, "is %q", name)
	default:
		f.keep("name", wantsDomain)
	}
}

// pluginPromises: CSI "GetPluginCapabilities", message VolumeExpansion. The check also needs the
// capabilities of the controller and the node.
func (f *findings) pluginPromises(caps Caps) {
	const online = "the CSI spec requires EXPAND_VOLUME of controller or node with ONLINE"
	const offline = "the CSI spec requires EXPAND_VOLUME of the controller with OFFLINE"
	noController := caps.Controller.lacks("EXPAND_VOLUME")
	if caps.Plugin.Has("ONLINE") && noController && caps.Node.lacks("EXPAND_VOLUME") {
		f.add("capabilities", online, "has ONLINE expansion alone")
	}
	if caps.Plugin.Has("OFFLINE") && noController {
		f.add("capabilities", offline, "has OFFLINE expansion alone")
	}
}
