package scenario

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/cmd/internal/deploy"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/sim"
)

// Installed is a driver as the simulation deploys it: what a real deployment has to have as well.
type Installed struct {
	sim.Driver
	// CSIDriver is its CSIDriver object; nil if the scenario has it among its objects, or none.
	CSIDriver *storagev1.CSIDriver
	// Sidecars are those beside its controller plugin, by what it can do.
	Sidecars []string
	// Zones are where the reference driver finds the nodes, by their names, in its topology.
	Zones map[string]string
	// Own are the driver's own manifests; nil if it has none.
	Own *deploy.Own
}

// Install starts the scenario's drivers in a simulation to learn what they need.
func (s *Scenario) Install(ctx context.Context, o RunOptions) (all []Installed, err error) {
	cluster, err := sim.Start(s.options(ctx, o, nil))
	if err != nil {
		return nil, fmt.Errorf("start the drivers of %s: %w", s.Name, err)
	}
	defer func() { err = joined(err, cluster.Close()) }()
	for i, name := range cluster.Drivers() {
		d := Installed{Driver: s.options(ctx, o, nil).Drivers[i], Own: s.Drivers[i].own}
		d.Name = name
		if d.Mock != nil {
			d.Mock.Name = name
			d.Zones = s.zones(cmp.Or(d.Mock.TopologyKey, name+"/zone"))
		}
		if object, ok := store.Get[*storagev1.CSIDriver](cluster.World.Store, store.Key{Name: name}); ok {
			d.CSIDriver = object
		}
		for _, controller := range cluster.Controllers() {
			if sidecar, ok := strings.CutSuffix(controller, "/"+name); ok && !slices.Contains(d.Sidecars, sidecar) {
				d.Sidecars = append(d.Sidecars, sidecar)
			}
		}
		all = append(all, d)
	}
	return all, nil
}

func joined(err, closing error) error {
	if err != nil {
		return err
	}
	return closing
}

// NodeNames are the names of the scenario's nodes.
func (s *Scenario) NodeNames() []string {
	var names []string
	for _, n := range s.Cluster.Nodes {
		names = append(names, n.Name)
	}
	if len(names) == 0 {
		names = []string{nodeName(0), nodeName(1)}
	}
	return names
}

// NodeLabels are the labels of the scenario's nodes, by their names.
func (s *Scenario) NodeLabels() map[string]map[string]string {
	all := map[string]map[string]string{}
	for _, n := range s.Cluster.Nodes {
		labels := maps.Clone(n.Labels)
		for label, value := range map[string]string{corev1.LabelTopologyZone: n.Zone, corev1.LabelTopologyRegion: n.Region} { // into a map
			if value != "" {
				if labels == nil {
					labels = map[string]string{}
				}
				labels[label] = value
			}
		}
		all[n.Name] = labels
	}
	return all
}

// zones are the values of a label of the nodes, else their zones, by the names of the nodes that have either.
func (s *Scenario) zones(key string) map[string]string {
	all := map[string]string{}
	for _, n := range s.Cluster.Nodes {
		if zone := cmp.Or(n.Labels[key], n.Zone); zone != "" {
			all[n.Name] = zone
		}
	}
	return all
}

// ContainerImages are the images of the containers that the scenario's own manifests have, sorted.
func (s *Scenario) ContainerImages() []string {
	var found []string
	look := func(objects []object) {
		for _, o := range objects {
			found = append(found, imagesOf(o.Object)...)
		}
	}
	look(s.objects)
	for _, step := range s.Steps {
		if apply, ok := step.action.(*applyStep); ok {
			look(apply.objects)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}
