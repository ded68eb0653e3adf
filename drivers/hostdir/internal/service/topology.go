//go:build linux

package service

import (
	"slices"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// place selects the topology of a new volume: the first preferred term, otherwise the first
// requisite term, that has all keys of the driver.
func (c *controller) place(r *csi.TopologyRequirement) (map[string]string, error) {
	terms := slices.Concat(r.GetPreferred(), r.GetRequisite())
	if len(c.cfg.Topology) == 0 || len(terms) == 0 {
		return nil, nil
	}
	for _, term := range terms {
		if chosen := c.project(term.GetSegments()); chosen != nil {
			return chosen, nil
		}
	}
	return nil, status.Error(codes.ResourceExhausted, "no term of accessibility_requirements has the driver's topology keys")
}

func (c *controller) project(segments map[string]string) map[string]string {
	chosen := map[string]string{}
	for key := range c.cfg.Topology {
		value, ok := segments[key]
		if !ok {
			return nil
		}
		chosen[key] = value
	}
	return chosen
}

// accessible reports whether a volume with this topology satisfies a requirement.
func accessible(topology map[string]string, r *csi.TopologyRequirement) bool {
	terms := r.GetRequisite()
	if len(terms) == 0 || len(topology) == 0 {
		return true
	}
	return slices.ContainsFunc(terms, func(term *csi.Topology) bool {
		for key, value := range topology {
			if term.GetSegments()[key] != value {
				return false
			}
		}
		return true
	})
}
