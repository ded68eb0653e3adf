package scenario

import (
	"context"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/real/promotion"
	"github.com/csisim/csisim/internal/world/version"
	"github.com/csisim/csisim/sim"
)

// Subject is the scenario as it runs on a real cluster.
func (s *Scenario) Subject() promotion.Subject {
	subject := promotion.Subject{
		Name: s.File, Kubernetes: version.Version(s.Kubernetes), Nodes: s.NodeNames(), NodeLabels: s.nodeLabels(), Images: s.containerImages(),
		Options:        func(ctx context.Context) sim.Options { return s.options(ctx, RunOptions{}, nil) },
		EndsRegistrars: s.endsRegistrars(), Snapshots: s.needsSnapshots(), OfCluster: s.isOfCluster(), Alone: s.alone() != "", Owned: s.owned(),
	}
	if s.Cluster.Kind != nil {
		subject.Kind = &s.Cluster.Kind.Cluster
	}
	for _, d := range s.Drivers {
		subject.Own = append(subject.Own, d.own)
	}
	return subject
}

// Subjects are scenarios as they run on a real cluster.
func Subjects(scenarios []*Scenario) (all []promotion.Subject) {
	for _, s := range scenarios {
		all = append(all, s.Subject())
	}
	return all
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

// nodeLabels are the labels of the scenario's nodes, by their names.
func (s *Scenario) nodeLabels() map[string]map[string]string {
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

// containerImages are the images of the containers that the scenario's own manifests have, sorted.
func (s *Scenario) containerImages() []string {
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
