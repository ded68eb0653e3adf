// Package manager is the controller manager of CSI-Addons. It connects to the sidecars that
// announce themselves, and makes them carry out jobs, fences and replications.
package manager

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/kinds"
	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/relay"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workqueue"
)

// Name is the name of the program, in traces and in scenarios.
const Name = "csi-addons-controller-manager"

// Manager is a running controller manager.
type Manager struct {
	*component.Component
	opts    Options
	network *relay.Network
	pool    pool
	// untried are the CSIAddonsNodes that existed at the start and have not been processed since.
	untried  map[store.Key]bool
	overlaps overlaps
}

// Start runs the controller manager.
func Start(w *component.World, network *relay.Network, opts Options) *Manager {
	m := &Manager{Component: w.Start(Name, ""), opts: opts.withDefaults(), network: network}
	m.Go("main", func(p *kernel.Process) { m.main(p, func(*kernel.Process) {}) })
	return m
}

// main reads the ConfigMap and starts the controllers when their kinds are defined and this replica
// leads. A-VR-18
func (m *Manager) main(p *kernel.Process, lead func(*kernel.Process)) {
	m.configure(p)
	m.await(p, &kinds.Node{}, &kinds.VolumeReplicationClass{}, &kinds.VolumeReplication{})
	lead(p)
	m.noteNodes()
	m.reconcile("nodes", &kinds.Node{}, byGenerationOrAnnotations, m.firstLook(p, m.syncNode))
	p.WaitUntil("connections to the sidecars that are there", p.Elapsed()+connecting, func() bool { return len(m.untried) == 0 })
	m.reconcile("reclaim space jobs", &kinds.ReclaimSpaceJob{}, byGeneration, m.syncJob(reclaimSpaceJob(m.opts.Timeout)))
	m.reconcile("key rotation jobs", &kinds.KeyRotationJob{}, byGeneration, m.syncJob(keyRotationJob))
	m.startCron("reclaim space cron jobs", reclaimSpaceCron)
	m.startCron("key rotation cron jobs", keyRotationCron)
	m.startAutomation()
	m.reconcile("fences", &kinds.NetworkFence{}, byGeneration, m.syncFence)
	m.startFenceClasses()
	m.reconcile("replications", &kinds.VolumeReplication{}, byGeneration, m.syncReplication)
	m.await(p, &kinds.GroupReplicationClass{}, &kinds.GroupReplication{}, &kinds.GroupContent{})
	m.startGroups()
	m.startContents()
	m.Go("volume health", m.tidyHealth)
}

// connecting bounds the time for which other controllers wait for the connections to sidecars.
const connecting = time.Second

// noteNodes records the sidecars to which the program has to connect before it starts any
// operation. In recordings no job fails because the program has just started. A-NODE-11
func (m *Manager) noteNodes() {
	m.untried = map[store.Key]bool{}
	for node := range kinds.List[kinds.Node](m.Component, "") {
		m.untried[store.KeyOf(node)] = true
	}
}

// firstLook wakes the program after it has tried all existing sidecars.
func (m *Manager) firstLook(main *kernel.Process, do handler) handler {
	return func(p *kernel.Process, key store.Key) error {
		err := do(p, key)
		if delete(m.untried, key); len(m.untried) == 0 && !main.Ended() {
			main.Wake()
		}
		return err
	}
}

// await waits until kinds are defined. A-VR-18
func (m *Manager) await(p *kernel.Process, objects ...kinds.Object) {
	for _, obj := range objects {
		for {
			if _, ok := kinds.Resource(m.Component, obj.Of()); ok {
				break
			}
			p.Idle(definitionPoll)
		}
	}
}

// definitionPoll is the interval at which the program checks whether its kinds are defined. A-VR-18
const definitionPoll = 5 * time.Second

// backoff returns the options of controller-runtime's queue: one entry for each object, no bucket.
func (m *Manager) backoff() workqueue.Options {
	return workqueue.Options{Workers: m.opts.Workers, FirstDelay: 5 * time.Millisecond, MaxDelay: 1000 * time.Second, OneEntry: true}
}

// oneByOne is backoff for controllers that process one object at a time. A-MGR-3
func (m *Manager) oneByOne() workqueue.Options {
	o := m.backoff()
	o.Workers = 1
	return o
}

type handler func(*kernel.Process, store.Key) error

// after queues an object again after a time and resets its failures.
func after(d time.Duration) error { return workqueue.Rest{Why: "later", For: d, Forget: true} }

// every processes an object again at intervals.
func every(d time.Duration) error {
	return workqueue.Rest{Why: "later", For: d, Forget: true, Idle: true}
}

// trigger selects the changes of an object that queue it. Its creation or first delivery also
// queues it.
type trigger func(old, obj store.Object) bool

func byGeneration(old, obj store.Object) bool { return old.GetGeneration() != obj.GetGeneration() }

func byGenerationOrAnnotations(old, obj store.Object) bool {
	return byGeneration(old, obj) || !sameText(old.GetAnnotations(), obj.GetAnnotations())
}

func sameText(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for key, value := range a { // any order will do: each is compared separately
		if other, ok := b[key]; !ok || other != value {
			return false
		}
	}
	return true
}

// reconcile runs a controller of one kind.
func (m *Manager) reconcile(name string, of kinds.Object, when trigger, do handler) *workqueue.Queue[store.Key] {
	queue := workqueue.New(name, m.backoff(), m.Go, do)
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
