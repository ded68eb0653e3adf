package sim

import (
	"fmt"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/internal/world/machine"
)

// storage holds the contents of volumes at a site of a mock driver, for nodes in memory: each node
// reads the content that another one writes.
type storage struct {
	disk   *machine.Memory
	driver string
}

func newStorage(cluster, driver string) *storage {
	return &storage{disk: machine.NewMemory("storage of " + cluster), driver: driver}
}

// show mounts a volume on a directory of a node.
func (s *storage) show(on *machine.Memory, volumeID, target string, readOnly bool) error {
	source := contentPath(s.driver, volumeID)
	if err := s.disk.MkdirAll(source, 0o755); err != nil {
		return err
	}
	return on.BindMountFrom(s.disk, source, target, readOnly)
}

// Copy replaces the content of one volume or snapshot by that of another one.
func (s *storage) Copy(from string, at mock.Contents, to string) error {
	other, same := at.(*storage)
	if !same {
		return fmt.Errorf("copy %s: its other site has no storage", from)
	}
	source, target := contentPath(s.driver, from), contentPath(other.driver, to)
	if err := s.disk.MkdirAll(source, 0o755); err != nil {
		return err
	}
	return machine.CopyTree(s.disk, source, other.disk, target)
}

// Remove removes the content of a volume or snapshot.
func (s *storage) Remove(id string) error { return s.disk.RemoveAll(contentPath(s.driver, id)) }

// joinSites makes a mock driver replicate to the one of its name in the cluster before, and that to it.
func (c *Simulation) joinSites(d *driver) {
	if c.cluster == "" {
		return
	}
	d.storage = newStorage(c.cluster, d.Name)
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
