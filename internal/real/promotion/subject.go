package promotion

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"

	"github.com/csisim/csisim/internal/real/deploy"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/version"
	"github.com/csisim/csisim/sim"
)

// Subject is what runs on a real cluster: a scenario, or a test in Go.
type Subject struct {
	// Name is the file of a scenario, or the name of a test.
	Name string
	// Options are those of the subject as a simulation; each call makes them anew.
	Options func(context.Context) sim.Options
	// Kubernetes is its version. Default: the newest.
	Kubernetes version.Version
	// Kind is its configuration of kind. Default: none.
	Kind *v1alpha4.Cluster
	// Nodes are the names of its nodes, NodeLabels and NodeTaints what these have besides their own.
	Nodes      []string
	NodeLabels map[string]map[string]string
	NodeTaints map[string][]corev1.Taint
	// NoDataCheck says that its containers do not write to their volumes.
	NoDataCheck bool
	// Own are the manifests of its drivers' own, one for each driver; nil for a driver without.
	Own []*deploy.Own
	// Images are those of its containers.
	Images []string
	// EndsRegistrars says that it ends or starts registrars, Snapshots that it needs the kinds of snapshots.
	EndsRegistrars, Snapshots bool
	// ReachesNodes says that it does something on nodes that their API cannot do: kubelets, listings.
	ReachesNodes bool
	// OfCluster says that it changes what all have in common: then no name is changed.
	OfCluster bool
	// Alone says that nothing else may run at the same time.
	Alone bool
	// Owned are its drivers that are there once in a cluster, sorted.
	Owned []string
}

func (s Subject) version() version.Version { return cmp.Or(s.Kubernetes, version.Newest) }

// installed is a driver as the simulation deploys it: what a real deployment has to have as well.
type installed struct {
	sim.Driver
	// csiDriver is its CSIDriver object; nil if somebody else applies it, or none is there.
	csiDriver *storagev1.CSIDriver
	// sidecars are those beside its controller plugin, by what it can do.
	sidecars []string
	// zones are where the reference driver finds the nodes, by their names, in its topology.
	zones map[string]string
	// own are the driver's own manifests; nil if it has none.
	own *deploy.Own
}

// install starts the drivers in a simulation to learn what they need.
func (s Subject) install(ctx context.Context) (all []installed, err error) {
	options := func() sim.Options {
		o := s.Options(ctx)
		o.Isolation = sim.None
		return o
	}
	asked := options()
	for i := range asked.Drivers {
		asked.Drivers[i].Later = false
	}
	cluster, err := sim.Start(asked)
	if err != nil {
		return nil, fmt.Errorf("start the drivers of %s: %w", s.Name, err)
	}
	defer func() {
		if closing := cluster.Close(); err == nil {
			err = closing
		}
	}()
	given := options()
	for i, name := range cluster.Drivers() {
		d := installed{Driver: given.Drivers[i]}
		if i < len(s.Own) {
			d.own = s.Own[i]
		}
		d.Name = name
		if d.Mock != nil {
			d.Mock.Name = name
			d.zones = zones(given.Nodes, cmp.Or(d.Mock.TopologyKey, name+"/zone"))
		}
		if object, ok := store.Get[*storagev1.CSIDriver](cluster.World.Store, store.Key{Name: name}); ok {
			d.csiDriver = object
		}
		for _, controller := range cluster.Controllers() {
			if sidecar, ok := strings.CutSuffix(controller, "/"+name); ok && !slices.Contains(d.sidecars, sidecar) {
				d.sidecars = append(d.sidecars, sidecar)
			}
		}
		all = append(all, d)
	}
	return all, nil
}

// zones are the values of a label of the nodes, else their zones, by the names of the nodes that have either.
func zones(nodes []sim.Node, key string) map[string]string {
	all := map[string]string{}
	for _, n := range nodes {
		if zone := cmp.Or(n.Labels[key], n.Zone); zone != "" {
			all[n.Name] = zone
		}
	}
	return all
}
