package fakekubelet

import (
	"errors"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/kernel"
)

// ShutdownGrace is the virtual time in which pods must end when their node is shut down.
type ShutdownGrace struct {
	// Total is the time for all pods.
	Total time.Duration
	// Critical is the part of it that is reserved for the critical pods, which end last.
	Critical time.Duration
}

// shutdownMessage is in the status of the pods that a shutdown ends.
const shutdownMessage = "Pod was terminated in response to imminent node shutdown."

// upPoll is the interval at which a shutdown checks whether the kubelet has started.
const upPoll = 100 * time.Millisecond

// systemCriticalPriority is the least priority of a critical pod.
const systemCriticalPriority = 2_000_000_000

func isCritical(pod *corev1.Pod) bool {
	return pod.Spec.Priority != nil && *pod.Spec.Priority >= systemCriticalPriority
}

// ShutDown shuts the node down gracefully. Pods end, critical ones last, and their volumes are
// unpublished if time permits. Pods that arrive meanwhile are rejected. At the end, done is called
// with the volumes that are still mounted. K-POD-9
func (k *Kubelet) ShutDown(grace ShutdownGrace, done func(error)) {
	k.shuttingDown = true
	k.Go("node shutdown", func(p *kernel.Process) {
		for !k.Up() { // the shutdown manager is one of the last parts to start
			p.Sleep(upPoll)
		}
		if node, ok := k.status.node(); ok {
			k.Event(node, corev1.EventTypeNormal, "Shutdown", "Shutdown manager detected shutdown event")
		}
		k.status.update(p)
		late := k.pods.end(p, grace.Total-grace.Critical, func(pod *corev1.Pod) bool { return !isCritical(pod) })
		done(errors.Join(late, k.pods.end(p, grace.Critical, isCritical)))
	})
}

// end ends some of the pods and waits for a limited time until their volumes are unmounted.
func (m *podManager) end(p *kernel.Process, grace time.Duration, which func(*corev1.Pod) bool) error {
	limit := p.Elapsed() + grace
	var pods []*corev1.Pod
	for _, uid := range slices.Sorted(maps.Keys(m.workers)) {
		w := m.workers[uid]
		if !w.ended && which(w.pod) {
			pods = append(pods, w.pod)
			w.evict(eviction{reason: "Terminated", message: shutdownMessage, condition: shutdownMessage})
		}
	}
	return m.volumes.WaitForAllPodsUnmount(p, pods, limit)
}
