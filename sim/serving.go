package sim

import (
	"fmt"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/internal/cluster"
	"github.com/csisim/csisim/internal/world/machine"
)

// backend returns the backend of a plugin with the servers of its release.
func (s *Servers) backend(p *cluster.Plugin) (cluster.Backend, error) {
	return &cluster.Serving{Plugin: p, Services: func() []machine.Service {
		release := s.release(p.Version)
		if p.Node == "" {
			return release.Controller
		}
		return release.Node(p.Node, p.Machine)
	}}, nil
}

// Services returns the gRPC services of the CSI spec that the servers implement, for Servers. It
// panics for a value that implements none of them.
func Services(servers ...any) []machine.Service {
	var all []machine.Service
	for _, server := range servers {
		found := len(all)
		if _, ok := server.(csi.IdentityServer); ok {
			all = append(all, machine.Service{Desc: &csi.Identity_ServiceDesc, Server: server})
		}
		if _, ok := server.(csi.ControllerServer); ok {
			all = append(all, machine.Service{Desc: &csi.Controller_ServiceDesc, Server: server})
		}
		if _, ok := server.(csi.GroupControllerServer); ok {
			all = append(all, machine.Service{Desc: &csi.GroupController_ServiceDesc, Server: server})
		}
		if _, ok := server.(csi.NodeServer); ok {
			all = append(all, machine.Service{Desc: &csi.Node_ServiceDesc, Server: server})
		}
		if len(all) == found {
			panic(fmt.Sprintf("sim.Services: %T implements no service of the CSI spec", server))
		}
	}
	return all
}
