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

// Subject is a scenario, or a test in Go, that runs on a real cluster.
type Subject struct {
	// Name is the file of a scenario, or the name of a test.
	Name string
	// Options returns the options of the subject as a simulation. Each call creates new ones.
	Options func(context.Context) sim.Options
	// Kubernetes is its version. Default: the newest.
	Kubernetes version.Version
	// Kind is its configuration of kind. Default: none.
	Kind *v1alpha4.Cluster
	// Nodes are the names of its nodes. NodeLabels and NodeTaints are their additional labels and
	// taints.
	Nodes      []string
	NodeLabels map[string]map[string]string
	NodeTaints map[string][]corev1.Taint
	// NoDataCheck means that its containers do not write to their volumes.
	NoDataCheck bool
	// Own are the drivers' own manifests, one for each driver; nil for a driver without own
	// manifests.
	Own []*deploy.Own
	// Images are the images of its containers.
	Images []string
	// EndsRegistrars means that it stops or starts registrars. Snapshots means that it needs the
	// kinds of snapshots.
	EndsRegistrars, Snapshots bool
	// ReachesNodes means that it needs commands on nodes, for kubelets or listings.
	ReachesNodes bool
	// OfCluster means that it changes objects that all subjects share, so names stay unchanged.
	OfCluster bool
	// Alone means that no other subject may run at the same time.
	Alone bool
	// Owned are the names of its drivers that can exist only once in a cluster, sorted.
	Owned []string
}

func (s Subject) version() version.Version { return cmp.Or(s.Kubernetes, version.Newest) }

// installed is a driver as the simulation deploys it. A real deployment must match it.
type installed struct {
	sim.Driver
	// csiDriver is its CSIDriver object; nil if there is none or the scenario applies it.
	csiDriver *storagev1.CSIDriver
	// sidecars are the sidecars beside its controller plugin, according to its capabilities.
	sidecars []string
	// zones are the nodes' values in the topology of the reference driver, by node.
	zones map[string]string
	// own are the driver's own manifests; nil if it has none.
	own *deploy.Own
}

// install starts the drivers in a simulation to determine their needs.
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

// zones returns the values of a label of the nodes, otherwise their zones, by node name. It omits
// nodes without either.
func zones(nodes []sim.Node, key string) map[string]string {
	all := map[string]string{}
	for _, n := range nodes {
		if zone := cmp.Or(n.Labels[key], n.Zone); zone != "" {
			all[n.Name] = zone
		}
	}
	return all
}
