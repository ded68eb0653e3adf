package sim

import (
	"cmp"

	"github.com/csisim/csisim/internal/cluster"
)

// backend returns the backend of a plugin that listens at one of the sockets.
func (s *Socket) backend(p *cluster.Plugin) (cluster.Backend, error) {
	target := cmp.Or(s.Controller, s.Node)
	if p.Node != "" {
		target = cmp.Or(s.Nodes[p.Node], s.Node, target)
	}
	return cluster.NewExisting(p, target, s.Addons)
}
