package fakekubelet

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// podManager tracks the pods of this node and runs one worker for each.
type podManager struct {
	*Kubelet
	known   map[types.UID]*corev1.Pod
	workers map[types.UID]*podWorker
	// listed is set when the API server has listed all pods.
	listed bool
	// relistPhase is the time, within each second, at which the runtime is relisted.
	relistPhase time.Duration
	began       time.Duration
	deferred    int             // waiting resizes without room on the node
	rounds      *kernel.Process // of the status manager, while something is not written
}

func newPodManager(k *Kubelet) *podManager {
	return &podManager{Kubelet: k, known: map[types.UID]*corev1.Pod{}, workers: map[types.UID]*podWorker{}, began: k.Kernel.Elapsed()}
}

// startRelists makes the first check of the runtime happen now, or a little later.
func (m *podManager) startRelists() {
	const steps = 16
	m.relistPhase = (m.Kernel.Elapsed() + relist*time.Duration(m.Kernel.Choose(kernel.Jitter, steps, "phase of the relist"))/steps) % relist
}

func (m *podManager) start() {
	m.Go("pods", func(p *kernel.Process) {
		p.Sleep(nodeSyncPeriod)
		m.AwaitList(p)
		pods := component.Watch[*corev1.Pod](m.Component, p, store.ByIndex(kind.PodsByNode, m.options.Name))
		nodes := component.Watch[*corev1.Node](m.Component, p, store.ByKey(store.Key{Name: m.options.Name}))
		var follow func(*kernel.Process)
		follow = func(p *kernel.Process) {
			m.observeAll(pods)
			for _, ok := nodes.Next(); ok; _, ok = nodes.Next() {
				m.volumes.NodeChanged()
			}
			m.list()
			p.React("pods of its node", follow)
		}
		follow(p)
	})
}

// observeAll processes all changes. Pods that are older than the kubelet are admitted by age, the
// oldest first. K-ADM-1
func (m *podManager) observeAll(pods *store.Watcher[*corev1.Pod]) {
	var first []store.Event[*corev1.Pod]
	for e, ok := pods.Next(); ok; e, ok = pods.Next() {
		if m.listed {
			m.observe(e)
		} else {
			first = append(first, e)
		}
	}
	slices.SortStableFunc(first, func(a, b store.Event[*corev1.Pod]) int {
		return a.Object.CreationTimestamp.Compare(b.Object.CreationTimestamp.Time)
	})
	for _, e := range first {
		m.observe(e)
	}
}

// list records that all pods are known now, so the remains of other pods may be removed. K-DSW-1,
// K-POD-8
func (m *podManager) list() {
	if m.listed {
		return
	}
	m.listed = true
	m.volumes.PodsListed()
	m.housekeeping.process.Wake()
}

// Listed reports whether the pods of the node are known.
func (m *podManager) Listed() bool { return m.listed }

// observe processes a change. For the kubelet, only the UID identifies a pod.
func (m *podManager) observe(e store.Event[*corev1.Pod]) {
	if e.Replaced() {
		m.observe(store.Event[*corev1.Pod]{Type: store.Deleted, Object: e.Old})
	}
	pod := e.Object
	if e.Type == store.Deleted {
		delete(m.known, pod.UID)
		m.volumes.PodDeleted(pod.UID)
	} else {
		m.known[pod.UID] = pod
	}
	w := m.workers[pod.UID]
	if w == nil && e.Type != store.Deleted {
		w = newPodWorker(m, pod)
		m.workers[pod.UID] = w
	}
	switch {
	case w != nil:
		w.observe(pod, e.Type == store.Deleted)
	case e.Type == store.Deleted:
		m.options.Runtime.Forget(pod.UID)
	}
	m.volumes.PodChanged(pod.UID)
}

// forget drops a worker that has ended.
func (m *podManager) forget(uid types.UID) {
	delete(m.workers, uid)
	if _, known := m.known[uid]; !known {
		m.options.Runtime.Forget(uid)
	}
	if m.deferred > 0 { // there is more room now
		for _, w := range m.inOrder() {
			w.considerResize()
		}
	}
	m.volumes.PodChanged(uid)
	m.housekeeping.lookAt(uid)
}

// Pod returns the pod in the state that the API last delivered; nil after its deletion.
func (m *podManager) Pod(uid types.UID) (*corev1.Pod, bool) {
	pod, ok := m.known[uid]
	return pod, ok
}

// Terminating reports whether the pod's containers should stop. K-DSW-3
func (m *podManager) Terminating(uid types.UID) bool {
	w := m.workers[uid]
	return w == nil || w.terminating
}

// RuntimeGone reports whether the pod's containers have stopped for good. K-DSW-13, K-POD-5
func (m *podManager) RuntimeGone(uid types.UID) bool {
	w := m.workers[uid]
	return w == nil || w.stopped
}

// VolumesChanged wakes the process that waits for a pod's volumes: its worker, or the housekeeping.
func (m *podManager) VolumesChanged(uid types.UID) {
	if w := m.workers[uid]; w != nil {
		w.process.Wake()
	} else {
		m.housekeeping.lookAt(uid)
	}
}
