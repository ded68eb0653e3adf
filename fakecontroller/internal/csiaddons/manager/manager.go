// Package manager is the controller manager of CSI-Addons: it connects to the sidecars that
// announce themselves and has them do what jobs, fences and replications ask for.
package manager

import (
	"cmp"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/kinds"
	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/relay"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workqueue"
)

// Name is the program's, in traces and to scenarios.
const Name = "csi-addons-controller-manager"

// Options are the flags of the program. A-MGR-1
type Options struct {
	// Timeout bounds each call to a sidecar. Default: 3 min.
	Timeout time.Duration `json:"reclaimSpaceTimeout,omitzero" example:"1m" doc:"--reclaim-space-timeout: the deadline of each call to a sidecar; default 3m."`
	// NodeRetryDelay is the pause before a sidecar that could not be reached is tried again,
	// which doubles. Default: 5 ns, which is what the flag's 5 means. A-NODE-8
	NodeRetryDelay time.Duration `json:"nodeRetryDelay,omitzero" example:"5s" doc:"--csi-addons-node-retry-delay with its unit; default 5ns, which is what the flag's default 5 comes to."`
}

func (o Options) withDefaults() Options {
	o.Timeout = cmp.Or(o.Timeout, 3*time.Minute)
	o.NodeRetryDelay = cmp.Or(o.NodeRetryDelay, 5*time.Nanosecond)
	return o
}

// Manager is one running controller manager.
type Manager struct {
	*component.Component
	opts    Options
	network *relay.Network
	pool    pool
}

// Start runs the controller manager.
func Start(w *component.World, network *relay.Network, opts Options) *Manager {
	m := &Manager{Component: w.Start(Name, ""), opts: opts.withDefaults(), network: network}
	m.Go("main", m.main)
	return m
}

// main starts the controllers once their kinds are defined. A-VR-18
func (m *Manager) main(p *kernel.Process) {
	for _, obj := range []kinds.Object{&kinds.Node{}, &kinds.VolumeReplicationClass{}, &kinds.VolumeReplication{}} {
		for {
			if _, ok := kinds.Resource(m.Component, obj.Of()); ok {
				break
			}
			p.Idle(definitionPoll)
		}
	}
	m.reconcile("nodes", &kinds.Node{}, byGenerationOrAnnotations, m.syncNode)
	m.reconcile("reclaim space jobs", &kinds.ReclaimSpaceJob{}, byGeneration, m.syncReclaimSpaceJob)
	m.reconcile("key rotation jobs", &kinds.KeyRotationJob{}, byGeneration, m.syncKeyRotationJob)
	m.reconcile("fences", &kinds.NetworkFence{}, byGeneration, m.syncFence)
	m.startFenceClasses()
	m.reconcile("replications", &kinds.VolumeReplication{}, byGeneration, m.syncReplication)
}

// definitionPoll is how often the program looks for its kinds. A-VR-18
const definitionPoll = 5 * time.Second

// Workers of a queue. A-MGR-3
const (
	workers = 100
	single  = 1
)

// backoff is that of controller-runtime's queue: one entry for each object, no bucket.
func backoff(workers int) workqueue.Options {
	return workqueue.Options{Workers: workers, FirstDelay: 5 * time.Millisecond, MaxDelay: 1000 * time.Second, OneEntry: true}
}

type handler func(*kernel.Process, store.Key) error

// after has an object looked at again after a time; its failures are forgotten.
func after(d time.Duration) error { return workqueue.Rest{Why: "later", For: d, Forget: true} }

// every has an object looked at again and again.
func every(d time.Duration) error {
	return workqueue.Rest{Why: "later", For: d, Forget: true, Idle: true}
}

// trigger says which changes of an object queue it; it is queued when it is made or seen
// first, too.
type trigger func(old, obj store.Object) bool

func byGeneration(old, obj store.Object) bool { return old.GetGeneration() != obj.GetGeneration() }

func byGenerationOrAnnotations(old, obj store.Object) bool {
	return byGeneration(old, obj) || !sameText(old.GetAnnotations(), obj.GetAnnotations())
}

func sameText(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for key, value := range a { // any order: each is compared for itself
		if other, ok := b[key]; !ok || other != value {
			return false
		}
	}
	return true
}

// reconcile runs a controller of one kind.
func (m *Manager) reconcile(name string, of kinds.Object, when trigger, do handler) *workqueue.Queue[store.Key] {
	queue := workqueue.New(name, backoff(workers), m.Go, do)
	m.follow(name, of.Of(), func(e store.Event[store.Object]) {
		if e.Type != store.Modified || when(e.Old, e.Object) {
			queue.Add(store.KeyOf(e.Object))
		}
	})
	return queue
}

// follow calls f for every event of a kind.
func (m *Manager) follow(name string, kind schema.GroupVersionKind, f func(store.Event[store.Object])) {
	m.Go("informer of "+name, func(p *kernel.Process) {
		res, ok := kinds.Resource(m.Component, kind)
		if !ok {
			return
		}
		watch := component.WatchObjects(m.Component, p, res)
		for {
			for e, ok := watch.Next(); ok; e, ok = watch.Next() {
				f(e)
			}
			p.Wait("changes of "+name, func() bool { return watch.Len() > 0 })
		}
	})
}
