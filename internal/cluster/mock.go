package cluster

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/internal/world/addons/encryptionkeyrotation"
	"github.com/csisim/csisim/internal/world/addons/fence"
	"github.com/csisim/csisim/internal/world/addons/identity"
	"github.com/csisim/csisim/internal/world/addons/reclaimspace"
	"github.com/csisim/csisim/internal/world/addons/replication"
	"github.com/csisim/csisim/internal/world/addons/volumegroup"
	"github.com/csisim/csisim/internal/world/machine"
)

// Mock is a mock driver in its releases.
type Mock struct {
	*mock.Driver

	name     string
	options  mock.Options
	versions map[string]mock.Options
	releases map[string]*mock.Driver
	now      func() time.Time
	storage  *Storage // storage of a mock that is in several clusters
}

// SetUpMock makes a driver a mock driver, by the options of its first release and of the others.
// Its snapshots have the time of the cluster. zones returns the zones of nodes by a topology key.
func (d *Driver) SetUpMock(first mock.Options, others map[string]mock.Options, now func() time.Time, zones func(topologyKey string) map[string]string) {
	m := &Mock{name: d.Name, options: first, versions: others, now: now, releases: map[string]*mock.Driver{}}
	m.Driver = mock.New(m.optionsOf(""))
	m.name = m.Name()
	for _, version := range slices.Sorted(maps.Keys(others)) {
		m.releases[version] = m.Release(m.optionsOf(version))
	}
	if d.Cluster != "" {
		m.storage = NewStorage(d.Cluster, m.name)
		m.KeepContents(m.storage)
	}
	d.Name, d.Mock = m.name, m.Driver
	zoneOf := zones(cmp.Or(first.TopologyKey, m.name+"/zone"))
	d.Backend = func(p *Plugin) (Backend, error) {
		s := &Mocked{Serving: Serving{Plugin: p}, mock: m, zone: zoneOf[p.Node]}
		s.Services = s.services
		return s, nil
	}
}

// JoinSites makes two mock drivers with the same name, in two clusters, replicate to each other.
func (ds *Drivers) JoinSites(d *Driver) {
	for _, its := range ds.All {
		if d.Mock != nil && its.Mock != nil && its.Name == d.Name {
			mock.Join(its.site(), d.site())
		}
	}
}

// site returns a mock driver as one of two sites.
func (d *Driver) site() mock.Site {
	return mock.Site{Name: d.Cluster, Driver: d.Mock, Reachable: func() bool { return d.Controller != nil && d.answering().Running }}
}

// optionsOf returns the options of the mock driver in a release; by default the options of the
// first release.
func (m *Mock) optionsOf(version string) mock.Options {
	options, is := m.versions[version]
	if !is {
		options = m.options
	}
	options.Name = cmp.Or(m.name, options.Name)
	if options.Now == nil {
		options.Now = m.now
	}
	return options
}

// of returns the mock driver in a release.
func (m *Mock) of(version string) *mock.Driver {
	return cmp.Or(m.releases[version], m.Driver)
}

// Mocked is the backend of a plugin of a mock driver.
type Mocked struct {
	Serving

	mock     *Mock
	zone     string            // zone of the node, in the driver's topology
	segments map[string]string // set if they are no longer its zone
}

// Change changes the answer to NodeGetInfo, from the next call on.
func (s *Mocked) Change(info mock.NodeInfo) error {
	if info.Topology != nil && !s.mock.options.Topology {
		return errors.New("it has no topology: its options need topology: true")
	}
	if err := s.mock.ChangeNode(s.NodeID(), info); err != nil {
		return err
	}
	if info.Topology != nil {
		s.segments = info.Topology
	}
	if info.NodeID != nil {
		s.rename(*info.NodeID)
	}
	return nil
}

// topology returns the segments that a plugin reports for its node: the node's zone under the
// driver's topology key. Without a zone, it reports the node's id.
func (s *Mocked) topology() map[string]string {
	if o := s.mock.optionsOf(s.Version); o.Topology && s.zone != "" {
		return map[string]string{cmp.Or(o.TopologyKey, s.Driver.Name+"/zone"): s.zone}
	}
	return nil
}

// services returns the services of the controller plugin, or of the plugin of a node.
func (s *Mocked) services() []machine.Service {
	if s.Node == "" {
		release := s.mock.of(s.Version)
		release.Restart()
		controller := release.Controller()
		return append([]machine.Service{
			{Desc: &csi.Identity_ServiceDesc, Server: controller, Prompt: true},
			{Desc: &csi.Controller_ServiceDesc, Server: controller, Prompt: true},
			{Desc: &csi.GroupController_ServiceDesc, Server: controller, Prompt: true},
			{Desc: &csi.Node_ServiceDesc, Server: controller, Prompt: true},
		}, s.addons()...)
	}
	node := s.mockNode()
	node.Restart()
	services := []machine.Service{
		{Desc: &csi.Identity_ServiceDesc, Server: node, Prompt: true},
		{Desc: &csi.Node_ServiceDesc, Server: node, Prompt: true},
	}
	if s.Sidecars().Provisioner.NodeDeployment {
		services = append(services, machine.Service{Desc: &csi.Controller_ServiceDesc, Server: s.mock.of(s.Version).Controller(), Prompt: true})
	}
	return append(services, s.addons()...)
}

// addons returns the services of CSI-Addons, if the mock driver has them.
func (s *Mocked) addons() []machine.Service {
	d := s.mock.of(s.Version)
	if !d.ServesAddons() {
		return nil
	}
	own := d.AddonsOfController()
	if s.Node != "" {
		own = d.AddonsOfNode(s.NodeID())
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

func (s *Mocked) mockNode() *mock.Node {
	segments := s.segments
	if segments == nil {
		segments = s.topology()
	}
	return s.mock.of(s.Version).Node(mock.NodeOptions{
		NodeID: s.NodeID(), Topology: segments, Mounter: Mounter{Machine: s.Machine, Driver: s.Driver.Name, Storage: s.mock.storage},
	})
}

// LostPower ends the mounts of a node.
func (s *Mocked) LostPower() {
	if s.Node != "" {
		s.mockNode().Reboot()
	}
}
