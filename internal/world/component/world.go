// Package component is the basis of every program of the simulated cluster, such as a kubelet, a
// controller or a sidecar. It connects a group of kernel processes to an informer cache, to the API
// and to the trace.
package component

import (
	"strconv"
	"strings"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/csisim/csisim/internal/world/feature"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/legacy"
	"github.com/csisim/csisim/internal/world/migration"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/internal/world/version"
)

// World is the common state of one cluster's components. A kernel can run several.
type World struct {
	// Cluster distinguishes the cluster from other clusters of the run; empty if it is the only
	// cluster.
	Cluster string
	Kernel  *kernel.Kernel
	Store   *store.Store
	Trace   *trace.Recorder
	// Features are the cluster's feature gates.
	Features feature.Gates
	// Version is the control plane's version of Kubernetes. Later components inherit it.
	Version version.Version
	// Legacy selects the behaviour of old versions.
	Legacy legacy.Options
	// Began is the first version of the cluster, with the drivers and sidecars of that time.
	Began version.Version
	// Migration is the control plane's handling of in-tree plugins.
	Migration migration.Plugins
	// Chance chooses the outcomes of writes; nil if all succeed.
	Chance Chance

	numbers   map[uint64]uint64 // changes' numbers in the trace, by revision, if caches can lag
	lastEvent int64             // the name of the newest Event as a number
	said      map[string]string // the newest message of each reason
}

// NewWorld connects a kernel, a store and a trace. Every commit becomes an event of the trace and
// part of the kernel's hash.
func NewWorld(k *kernel.Kernel, s *store.Store, r *trace.Recorder) *World {
	k.OnClock(s.Expire)
	w := &World{Kernel: k, Store: s, Trace: r}
	if k.Explores() && r.WantsStates() {
		w.numbers = map[uint64]uint64{}
	}
	s.OnCommit(w.record)
	if k.Follows() {
		s.Follow(k)
	}
	return w
}

func (w *World) record(c store.Commit) {
	if r := c.Resource.GVR.Resource; r == "events" || r == "leases" && isRenewal(c) {
		return // Component.Event records events; renewals of a lease are not recorded
	}
	e := trace.Entry{Kind: trace.API, Change: "MODIFIED", Resource: c.Resource.GVR.Resource, Name: c.Key.String()}
	if p := w.Kernel.Running(); p != nil {
		e.Actor = w.unnamed(p.Name())
	}
	switch {
	case c.Old == nil:
		e.Change = "ADDED"
	case c.New == nil:
		e.Change = "DELETED"
	}
	if c.Old != nil {
		e.Old = c.Old.(runtime.Object)
	}
	if c.New != nil {
		e.New = c.New.(runtime.Object)
	}
	w.Kernel.Note(e.Change, " ", e.Resource, " ", e.Name, " ", strconv.FormatUint(c.Revision, 10))
	w.Trace.AddChange(e)
	if w.numbers != nil {
		w.numbers[c.Revision] = w.Trace.Last()
	}
}

// Named returns the kernel's name of a process or an arrival. If there are several clusters, the
// cluster's name is its prefix.
func (w *World) Named(name string) string {
	if w.Cluster == "" {
		return name
	}
	return w.Cluster + "/" + name
}

// unnamed is the inverse of Named.
func (w *World) unnamed(name string) string {
	if w.Cluster == "" {
		return name
	}
	return strings.TrimPrefix(name, w.Cluster+"/")
}

// Say records an action or observation of the scenario.
func (w *World) Say(text string) {
	w.Trace.Add(trace.Entry{Kind: trace.Step, Message: text})
}

// isRenewal reports whether the lease belongs to a node, or the write keeps the lease's holder.
func isRenewal(c store.Commit) bool {
	if c.Key.Namespace == corev1.NamespaceNodeLease {
		return true
	}
	was, existed := c.Old.(*coordinationv1.Lease)
	is, exists := c.New.(*coordinationv1.Lease)
	return existed && exists && equality.Semantic.DeepEqual(was.Spec.HolderIdentity, is.Spec.HolderIdentity) &&
		equality.Semantic.DeepEqual(was.ObjectMeta.DeletionTimestamp, is.ObjectMeta.DeletionTimestamp)
}
