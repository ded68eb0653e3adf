package fakekubelet

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/kernel"
)

// watchDeadline starts a process that ends the pod at its deadline, if the pod has one.
func (w *podWorker) watchDeadline() {
	switch {
	case w.deadline != nil:
		w.deadline.Wake()
	case w.pod.Spec.ActiveDeadlineSeconds != nil && !w.terminating:
		w.deadline = w.Go("deadline of pod "+w.pod.Namespace+"/"+w.pod.Name, w.awaitDeadline)
	}
}

// awaitDeadline ends a pod that has been on the node for longer than its activeDeadlineSeconds.
// K-POD-10
func (w *podWorker) awaitDeadline(p *kernel.Process) {
	for !w.terminating {
		began := w.Kernel.Now()
		if started := w.pod.Status.StartTime; started != nil {
			began = started.Time
		}
		left := began.Add(time.Duration(*w.pod.Spec.ActiveDeadlineSeconds) * time.Second).Sub(w.Kernel.Now())
		if left > 0 {
			p.IdleUntil("the pod's deadline", p.Elapsed()+left)
			continue
		}
		const reason, message = "DeadlineExceeded", "Pod was active on the node longer than the specified deadline"
		w.Event(w.pod, corev1.EventTypeNormal, reason, message)
		w.evict(eviction{reason: reason, message: message})
	}
}
