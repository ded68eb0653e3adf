package sim

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/internal/cluster"
	"github.com/csisim/csisim/internal/world/addons/encryptionkeyrotation"
	"github.com/csisim/csisim/internal/world/addons/fence"
	"github.com/csisim/csisim/internal/world/addons/identity"
	"github.com/csisim/csisim/internal/world/addons/reclaimspace"
	"github.com/csisim/csisim/internal/world/addons/replication"
	"github.com/csisim/csisim/internal/world/addons/volumegroup"
	"github.com/csisim/csisim/internal/world/machine"
)

// serving is a plugin with servers in Go code of this process: the mock driver or a user's own.
type serving struct {
	*plugin
	listener machine.Listener
}

func (s *serving) start() error {
	if err := s.machine.Remove(s.socket); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return &EnvironmentError{Doing: "remove the old socket of " + s.String(), Err: err}
	}
	// The driver's own directory has the mode that a DaemonSet's hostPath of type DirectoryOrCreate
	// gives it.
	if err := s.machine.MkdirAll(path.Dir(s.socket), 0o755); err != nil {
		return &EnvironmentError{Doing: "make the directory of " + s.String(), Err: err}
	}
	listener, err := s.machine.BindSocket(s.socket, s.services()...)
	if err != nil {
		return &EnvironmentError{Doing: "start " + s.String(), Err: err}
	}
	s.listener = listener
	return nil
}

func (s *serving) services() []machine.Service {
	d := s.driver
	switch {
	case d.Servers != nil && s.node == "":
		return d.Servers.release(s.version).Controller
	case d.Servers != nil:
		return d.Servers.release(s.version).Node(s.node, s.machine)
	case s.node == "":
		release := d.mockOf(s.version)
		release.Restart()
		controller := release.Controller()
		return append([]machine.Service{
			{Desc: &csi.Identity_ServiceDesc, Server: controller, Prompt: true},
			{Desc: &csi.Controller_ServiceDesc, Server: controller, Prompt: true},
			{Desc: &csi.GroupController_ServiceDesc, Server: controller, Prompt: true},
			{Desc: &csi.Node_ServiceDesc, Server: controller, Prompt: true},
		}, s.addons()...)
	default:
		node := s.mockNode()
		node.Restart()
		services := []machine.Service{
			{Desc: &csi.Identity_ServiceDesc, Server: node, Prompt: true},
			{Desc: &csi.Node_ServiceDesc, Server: node, Prompt: true},
		}
		if s.sidecars().Provisioner.NodeDeployment {
			services = append(services, machine.Service{Desc: &csi.Controller_ServiceDesc, Server: d.mockOf(s.version).Controller(), Prompt: true})
		}
		return append(services, s.addons()...)
	}
}

// addons are the services of CSI-Addons, if the mock driver has them.
func (s *serving) addons() []machine.Service {
	d := s.driver.mockOf(s.version)
	if !d.ServesAddons() {
		return nil
	}
	own := d.AddonsOfController()
	if s.node != "" {
		own = d.AddonsOfNode(s.nodeID())
	}
	return []machine.Service{
		{Desc: &identity.Identity_ServiceDesc, Server: own, Prompt: true},
		{Desc: &reclaimspace.ReclaimSpaceController_ServiceDesc, Server: mock.AddonsReclaim{AddonsIdentity: own}, Prompt: true},
		{Desc: &reclaimspace.ReclaimSpaceNode_ServiceDesc, Server: mock.AddonsReclaim{AddonsIdentity: own}, Prompt: true},
		{Desc: &fence.FenceController_ServiceDesc, Server: mock.AddonsFence{AddonsIdentity: own}, Prompt: true},
		{Desc: &replication.Controller_ServiceDesc, Server: mock.AddonsReplication{AddonsIdentity: own}, Prompt: true},
		{Desc: &volumegroup.Controller_ServiceDesc, Server: mock.AddonsGroups{AddonsIdentity: own}, Prompt: true},
		{Desc: &encryptionkeyrotation.EncryptionKeyRotationController_ServiceDesc, Server: mock.AddonsKeyRotation{AddonsIdentity: own}, Prompt: true},
	}
}

func (s *serving) mockNode() *mock.Node {
	segments := s.segments
	if segments == nil {
		segments = s.topology()
	}
	return s.driver.mockOf(s.version).Node(mock.NodeOptions{
		NodeID: s.nodeID(), Topology: segments, Mounter: cluster.Mounter{Machine: s.machine, Driver: s.driver.Name, Storage: s.driver.storage},
	})
}

func (s *serving) kill() error { s.listener.Abandon(); return nil }
func (s *serving) stop() error { return s.listener.Close() }

func (s *serving) lostPower() {
	if s.driver.mock != nil && s.node != "" {
		s.mockNode().Reboot()
	}
}

// Services are the gRPC services of the CSI spec that the servers implement, for
// Servers. It panics for a server that implements none: it is no CSI server.
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
