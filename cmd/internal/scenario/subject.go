package scenario

import (
	"context"
	"slices"

	"github.com/csisim/csisim/internal/real/promotion"
	"github.com/csisim/csisim/internal/world/version"
	"github.com/csisim/csisim/sim"
)

// Subject describes the scenario for a run on a real cluster.
func (s *Scenario) Subject() promotion.Subject {
	subject := promotion.Subject{
		Name: s.File, Kubernetes: version.Version(s.Kubernetes), Nodes: s.NodeNames(), NodeLabels: promotion.NodeLabels(s.Cluster.Nodes.options()), NodeTaints: promotion.NodeTaints(s.Cluster.Nodes.options()), Images: s.containerImages(), NoDataCheck: s.noDataCheck(),
		Options:        func(ctx context.Context) sim.Options { return s.options(ctx, RunOptions{}, nil) },
		EndsRegistrars: s.endsRegistrars(), ReachesNodes: s.reachesNodes(), Snapshots: s.needsSnapshots(), OfCluster: s.isOfCluster(), Alone: s.alone() != "", Owned: s.owned(),
	}
	if s.Cluster.Kind != nil {
		subject.Kind = &s.Cluster.Kind.Cluster
	}
	for _, d := range s.Drivers {
		subject.Own = append(subject.Own, d.own)
	}
	return subject
}

// Subjects describes scenarios for runs on a real cluster.
func Subjects(scenarios []*Scenario) (all []promotion.Subject) {
	for _, s := range scenarios {
		all = append(all, s.Subject())
	}
	return all
}

// NodeNames returns the names of the scenario's nodes.
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

// containerImages returns the images of the containers in the scenario's own manifests, sorted.
func (s *Scenario) containerImages() []string {
	var found []string
	look := func(objects []object) {
		for _, o := range objects {
			found = append(found, promotion.ImagesOf(o.Object)...)
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
