package fakekubelet

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workload"
)

// Pace of the eviction manager. [pkg/kubelet/eviction/eviction_manager.go, pkg/kubelet/kubelet.go
// evictionMonitoringPeriod, defaults of EvictionPressureTransitionPeriod] K-EVICT-1
const (
	killLimit          = 10 * time.Second
	cleanupLimit       = 30 * time.Second
	cleanupPoll        = time.Second
	pressureTransition = 5 * time.Minute
	// evictionGrace bounds the time that the containers of an evicted pod may take to end.
	evictionGrace = time.Second
)

// Shortage is the amount of a resource, in bytes, by which a node misses the kubelet's hard
// threshold.
type Shortage struct {
	Missing int64
	// Usage is the amount that pods use. Default: their requests, or leastUsage.
	Usage map[store.Key]int64
}

// leastUsage is the memory or disk usage of a pod without a request for it.
const leastUsage = 10 << 20

// Pressure is the shortages of a node. It belongs to the machine and outlives the kubelet.
type Pressure map[corev1.ResourceName]*Shortage

// pressed lists the resources that a node may lack, in the order in which the kubelet reclaims
// them.
var pressed = []struct {
	resource  corev1.ResourceName
	signal    string
	condition corev1.NodeConditionType
	threshold int64 // the default thresholds: 100Mi of memory, 10 % of the disk
}{
	{corev1.ResourceMemory, "memory.available", corev1.NodeMemoryPressure, 100 << 20},
	{corev1.ResourceEphemeralStorage, "nodefs.available", corev1.NodeDiskPressure, 10 << 30},
}

// evictionManager ends pods while their node is short of a resource.
type evictionManager struct {
	*Kubelet
	process  *kernel.Process
	observed map[corev1.NodeConditionType]time.Duration // the last time when a threshold was missed
}

// PressureChanged makes the kubelet observe the shortages of its node at its next check.
func (k *Kubelet) PressureChanged() {
	if k.evictions == nil {
		k.evictions = &evictionManager{Kubelet: k, observed: map[corev1.NodeConditionType]time.Duration{}}
	}
	m := k.evictions
	if m.process == nil || m.process.Ended() {
		m.process = k.Go("eviction manager", m.run)
	}
}

// run checks the node every ten seconds until no condition holds any more.
func (m *evictionManager) run(p *kernel.Process) {
	for {
		next := p.Elapsed() + m.pods.nextRound(p)
		if m.short() {
			p.WaitUntil("the next look at the resources of the node", next, func() bool { return false })
		} else {
			p.IdleUntil("the end of the node's conditions", next)
		}
		for evicted := m.synchronize(p); evicted != nil; evicted = m.synchronize(p) {
			m.awaitCleanup(p, evicted)
		}
		m.status.wake()
		if !m.short() && len(m.holding()) == 0 {
			return
		}
	}
}

// short reports whether a threshold is missed, and whether the end of a pod could help.
func (m *evictionManager) short() bool {
	for _, r := range pressed {
		if s := m.options.Pressure[r.resource]; s != nil && s.Missing > 0 && len(m.candidates()) > 0 {
			return true
		}
	}
	return false
}

// holding lists the conditions that hold: a threshold was missed within the last five minutes.
func (m *evictionManager) holding() (conditions []corev1.NodeConditionType) {
	for _, r := range pressed {
		if at, observed := m.observed[r.condition]; observed && m.Kernel.Elapsed()-at < pressureTransition {
			conditions = append(conditions, r.condition)
		}
	}
	return conditions
}

// synchronize evicts one pod if a threshold is missed, and returns it when its containers have
// stopped. K-EVICT-1
func (m *evictionManager) synchronize(p *kernel.Process) *podWorker {
	starved := -1
	for i, r := range pressed {
		if s := m.options.Pressure[r.resource]; s != nil && s.Missing > 0 {
			m.observed[r.condition] = p.Elapsed()
			if starved < 0 {
				starved = i
			}
		}
	}
	m.status.wake()
	if starved < 0 {
		return nil
	}
	r := pressed[starved]
	m.Event(m.reference(), corev1.EventTypeWarning, "EvictionThresholdMet", "Attempting to reclaim %s", r.resource)
	candidates := m.candidates()
	shortage := m.options.Pressure[r.resource]
	rank(candidates, r.resource, shortage)
	for _, w := range candidates {
		if isCritical(w.pod) {
			continue
		}
		m.evict(p, w, r.signal, lowMessage(w, r.resource, r.threshold, shortage))
		shortage.Missing -= shortage.usageOf(w.pod, r.resource)
		return w
	}
	return nil
}

// candidates lists the pods that may be evicted.
func (m *evictionManager) candidates() (pods []*podWorker) {
	for _, w := range m.pods.inOrder() {
		if !w.terminating {
			pods = append(pods, w)
		}
	}
	return pods
}

// evict ends a pod and waits for a limited time until its containers have stopped.
func (m *evictionManager) evict(p *kernel.Process, w *podWorker, signal, message string) {
	m.Event(w.pod, corev1.EventTypeWarning, "Evicted", "%s", message)
	w.evict(eviction{reason: "Evicted", message: message, condition: message, grace: new(evictionGrace)})
	p.WaitUntil("the end of an evicted pod's containers", p.Elapsed()+killLimit, func() bool { return w.stopped })
	m.Metrics.Add("kubelet_evictions_total", 1, "eviction_signal", signal)
}

// awaitCleanup waits until the volumes of an evicted pod are unmounted, at most for 30 s.
func (m *evictionManager) awaitCleanup(p *kernel.Process, w *podWorker) {
	for end := p.Elapsed() + cleanupLimit; p.Elapsed() < end && !w.cleaned; {
		p.Sleep(cleanupPoll)
	}
}

// admitUnderPressure rejects pods while the node has a pressure condition. It admits critical pods
// and, under memory pressure, pods that request resources or tolerate the condition. K-EVICT-2
func (k *Kubelet) admitUnderPressure(pod *corev1.Pod) rejection {
	if k.evictions == nil {
		return rejection{}
	}
	conditions := k.evictions.holding()
	if len(conditions) == 0 || isCritical(pod) {
		return rejection{}
	}
	if len(conditions) == 1 && conditions[0] == corev1.NodeMemoryPressure {
		taint := corev1.Taint{Key: corev1.TaintNodeMemoryPressure, Effect: corev1.TaintEffectNoSchedule}
		if pod.Status.QOSClass != corev1.PodQOSBestEffort || workload.Tolerates(pod, &taint) {
			return rejection{}
		}
	}
	return rejection{"Evicted", fmt.Sprintf("The node had condition: %v. ", conditions)}
}

// binary renders bytes like the kubelet.
func binary(bytes int64) string {
	return resource.NewQuantity(max(bytes, 0), resource.BinarySI).String()
}
