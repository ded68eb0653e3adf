package sim

import (
	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/internal/cluster"
)

// joinSites makes a mock driver replicate to the one of its name in the cluster before, and that to
// it.
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
