package sim

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/internal/cluster"
	"github.com/csisim/csisim/internal/judge/ledger"
)

// setUpMock creates the mock driver's backend under the driver's name. Its snapshots have the time
// of the cluster.
func (d *driver) setUpMock(now func() time.Time) {
	d.now = now
	d.mock = mock.New(d.mockOptions(""))
	d.Name = d.mock.Name()
	d.releases = map[string]*mock.Driver{}
	for _, version := range slices.Sorted(maps.Keys(d.MockVersions)) {
		d.releases[version] = d.mock.Release(d.mockOptions(version))
	}
}

// mockOptions returns the options of the mock driver in a release; by default those of the first
// release.
func (d *driver) mockOptions(version string) mock.Options {
	options, is := d.MockVersions[version]
	if !is {
		options = *d.Mock
	}
	options.Name = cmp.Or(d.Name, options.Name)
	if options.Now == nil {
		options.Now = d.now
	}
	return options
}

// mockOf is the mock driver in a release.
func (d *driver) mockOf(version string) *mock.Driver {
	return cmp.Or(d.releases[version], d.mock)
}

// joinSites makes a mock driver and the one of its name in the previous cluster replicate to each
// other.
func (c *Simulation) joinSites(d *driver) {
	if c.cluster == "" {
		return
	}
	d.storage = cluster.NewStorage(c.cluster, d.Name)
	d.mock.KeepContents(d.storage)
	for _, other := range c.run.clusters {
		for _, its := range other.drivers {
			if other != c && its.mock != nil && its.Name == d.Name {
				mock.Join(its.site(), d.site())
			}
		}
	}
}

// site is the driver as one of two sites.
func (d *driver) site() mock.Site {
	return mock.Site{Name: d.cluster, Driver: d.mock, Reachable: func() bool { return d.controller != nil && d.answering().running }}
}

func mockHoldings(m *mock.Driver) (h ledger.Holdings) {
	h = ledger.Holdings{Volumes: []ledger.HeldVolume{}, Snapshots: []string{}}
	attached := map[string][]string{}
	for _, a := range m.Attachments() {
		attached[a.VolumeID] = append(attached[a.VolumeID], a.NodeID)
	}
	for _, v := range m.Volumes() {
		h.Volumes = append(h.Volumes, ledger.HeldVolume{ID: v.ID, Name: v.Name, NodeIDs: attached[v.ID]})
	}
	for _, s := range m.Snapshots() {
		h.Snapshots = append(h.Snapshots, s.ID)
	}
	return h
}

// ChangeNode changes the answer of the mock driver to NodeGetInfo for a node, from the next call
// on. The name is that of the driver or, for a further plugin, "driver/plugin".
func (c *Simulation) ChangeNode(name, node string, info mock.NodeInfo) error {
	p, err := c.plugin(name, node)
	if err != nil {
		return err
	}
	d, subject := p.driver, fmt.Sprintf("driver %q", name)
	switch {
	case d.mock == nil:
		return &ConfigError{Subject: subject, Problem: "only the mock can change its information about a node; restart a program with other arguments"}
	case info.Topology != nil && !d.Mock.Topology:
		return &ConfigError{Subject: subject, Problem: "it has no topology: its options need topology: true"}
	}
	if err := d.mock.ChangeNode(p.nodeID(), info); err != nil {
		return &ConfigError{Subject: subject, Problem: err.Error()}
	}
	c.World.Trace.Note(node, "%s changes the information about its node", p)
	if info.Topology != nil {
		p.segments = info.Topology
	}
	if info.NodeID != nil {
		p.rename(*info.NodeID)
	}
	return nil
}

// rename sets the node id for the next start of the plugin.
func (p *plugin) rename(id string) {
	if p.name != "" {
		p.id = id
		return
	}
	ids := maps.Clone(p.driver.NodeIDs)
	if ids == nil {
		ids = map[string]string{}
	}
	ids[p.node] = id
	p.driver.NodeIDs = ids
}

// SetVolumeCondition makes a volume of a mock driver abnormal, with a message for the
// user, or well again if the message is empty. Volumes of other drivers are an error.
func (c *Simulation) SetVolumeCondition(pv *corev1.PersistentVolume, message string) error {
	subject := fmt.Sprintf("volume %q", pv.Name)
	if pv.Spec.CSI == nil {
		return &ConfigError{Subject: subject, Problem: "it has no CSI source, so no driver can report how it is"}
	}
	p, err := c.plugin(pv.Spec.CSI.Driver, "")
	if err != nil {
		return err
	}
	if p.driver.mock == nil {
		return &ConfigError{Subject: subject, Problem: "its driver is no mock: only volumes of a mock can be made abnormal"}
	}
	var condition *mock.Condition
	if message != "" {
		condition = &mock.Condition{Message: message}
	}
	return p.driver.mock.SetCondition(pv.Spec.CSI.VolumeHandle, condition)
}
