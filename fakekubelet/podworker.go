package fakekubelet

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/fakekubelet/internal/volumemanager"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// Pace of a pod worker. K-POD-3
const (
	syncRetry     = 10 * time.Second
	syncRetryMore = 5 * time.Second // the largest random addition
	resync        = 60 * time.Second
	resyncMore    = 30 * time.Second
	// relist is the interval at which the kubelet lists the containers of the runtime.
	relist = time.Second
)

// podWorker takes one pod through its life: its volumes and containers, then the end of the
// containers, of the volumes and of the pod.
type podWorker struct {
	*podManager
	pod         *corev1.Pod
	process     *kernel.Process
	terminating bool      // its end has begun and cannot be undone. K-POD-4
	stopped     bool      // containers have stopped permanently: volumes may be unmounted. K-POD-5
	ended       bool      // the pod's final phase has been written
	cleaned     bool      // its volumes are unmounted
	gone        bool      // the API has deleted the pod
	rejected    rejection // the reason why it was not admitted
	evicted     *eviction // the reason why the kubelet ended it; nil if it did not

	synced   time.Duration // the end of its last sync; 0 before the first
	nextSync time.Duration // time of the next regular sync of a running pod

	unwritten []func(*corev1.PodStatus) // changes of its status that are not yet at the API server

	// The containers of a pod that run individually, from their start on.
	programs []*container
	// Their sandbox is new: none of these containers has run in it.
	fresh bool
	// Resources allocated to its containers; nil if no container requests any.
	sizes map[string]corev1.ResourceRequirements
	// Allocates the current resources of their specs; nil before the first call.
	resizing *kernel.Process
	// Ends the pod at its deadline; nil without a deadline.
	deadline *kernel.Process
	starter  *kernel.Process // starts them sequentially
	// Containers that were added to the running pod.
	ephemeral []*container
}

func newPodWorker(m *podManager, pod *corev1.Pod) *podWorker {
	w := &podWorker{podManager: m, pod: pod, sizes: sizesOf(pod)}
	if !isFinal(pod.Status.Phase) {
		w.rejected = m.admit(w.sized())
		w.noticePowerLoss()
	}
	w.process = m.Go("pod "+store.KeyOf(pod).String(), w.run)
	return w
}

// observe takes a newer state of the pod. Its end begins when it is being deleted, has reached its
// final phase, or has disappeared from the API. K-POD-4, K-POD-7, K-POD-8
func (w *podWorker) observe(pod *corev1.Pod, gone bool) {
	w.pod, w.gone = pod, gone
	w.ended = w.ended || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
	w.terminating = w.terminating || w.ended || w.gone || pod.DeletionTimestamp != nil || w.rejected.reason != ""
	w.process.Wake()
	w.watchDeadline()
	w.startEphemeral()
	w.wakeContainers()
	w.considerResize()
	w.considerGates()
}

func (w *podWorker) run(p *kernel.Process) {
	if w.rejected.reason != "" {
		w.turnAway(p)
	}
	for !w.terminating {
		if w.nextSync == 0 {
			w.sync(p)
		}
		if w.nextSync > 0 && w.rest(p) {
			return
		}
	}
	w.awaitRelist(p)
	w.stop(p)
	for !w.volumes.WaitForUnmount(p, w.pod.UID) {
		p.Sleep(syncRetry + w.chance(syncRetryMore))
	}
	w.volumes.WaitForPathsGone(p, w.pod.UID)
	w.cleaned = true
	w.finish(p)
	w.forget(w.pod.UID)
}

// sync is one run of SyncPod. After a failed sync it waits for the next attempt. K-POD-1
func (w *podWorker) sync(p *kernel.Process) {
	switch {
	case !w.running():
		w.setStatus(p, w.waitingStatus())
	// The previous kubelet could not write this status.
	case w.programs == nil && w.pod.Status.Phase != corev1.PodRunning && !w.runsOneByOne():
		w.setStatus(p, w.runningStatus())
	}
	w.makePodDirectories()
	err := w.volumes.WaitForAttachAndMount(p, w.pod, func() bool { return w.terminating })
	defer func(ended time.Duration) { w.synced = ended }(p.Elapsed())
	switch {
	case err != nil:
		w.failSync(p, err)
	case w.terminating:
	case w.programs == nil && w.runsOneByOne():
		if !w.runPrograms(p) {
			w.retry(p, "the next try to make its volumes")
		}
	case !w.running():
		if !w.runContainers(p) {
			w.retry(p, "the next try to start its containers")
		} else if !w.volumes.NeedsSyncs(w.pod.UID) && !w.volumes.HasGrown(w.pod.UID) {
			w.nextSync = p.Elapsed() + resync + w.chance(resyncMore)
		} // Otherwise the runtime's next report on the containers triggers the next sync. Fact 43
	default:
		w.readData()
		w.renewTokens(p)
		w.nextSync = p.Elapsed() + resync + w.chance(resyncMore)
	}
}

func (w *podWorker) running() bool { return w.options.Runtime.Running(w.pod.UID) }

// rest waits for the pod's end or, if the pod needs it, for the next regular sync. It returns true
// if the worker must return now and will run again.
func (w *podWorker) rest(p *kernel.Process) bool {
	const why = "the pod's next regular sync"
	for !w.terminating {
		for w.nextSync < p.Elapsed() { // the worker skips syncs without any effect
			w.nextSync += resync + w.chance(resyncMore)
		}
		due := false
		switch {
		case w.volumes.HasGrown(w.pod.UID):
			due = !p.ParkUntil(why, w.nextSync)
		case w.volumes.NeedsSyncs(w.pod.UID) || w.hasTokens():
			due = !p.IdleUntil(why, w.nextSync)
		default:
			p.Rest("the pod's end", w.run)
			return true
		}
		if due {
			break
		}
	}
	w.nextSync = 0
	return false
}

// failSync emits the errors of its volumes, except for a wait that timed out, and waits for the
// next try. K-POD-2, K-POD-3
func (w *podWorker) failSync(p *kernel.Process, err *volumemanager.WaitError) {
	switch {
	case err.Exhausted != "":
		w.rejectForLimit(p, err)
		return
	case !err.Timeout:
		w.Event(w.pod, corev1.EventTypeWarning, "FailedMount", "Unable to attach or mount volumes: %v", err)
	}
	w.retry(p, "the next try to mount its volumes")
}

// retry waits for the next sync after a failed one. K-POD-3
func (w *podWorker) retry(p *kernel.Process, why string) {
	next := p.Elapsed() + syncRetry + w.chance(syncRetryMore)
	p.WaitUntil(why, next, func() bool { return w.terminating })
}

// rejectForLimit ends a pod that does not fit on its node. It refreshes the driver's limit for the
// scheduler. K-ALLOC-3, K-ALLOC-4
func (w *podWorker) rejectForLimit(p *kernel.Process, err *volumemanager.WaitError) {
	_ = w.plugins.RefreshLimit(p, err.Exhausted) // logged only
	message := fmt.Sprintf("Node has reached its volume attachment limit, rejecting pod. %v", err)
	w.reject(p, "VolumeAttachmentLimitExceeded", message)
}

// reject ends a pod that the node does not accept.
func (w *podWorker) reject(p *kernel.Process, reason, message string) {
	w.Event(w.pod, corev1.EventTypeWarning, reason, "%s", message)
	w.Metrics.Add("kubelet_admission_rejections_total", 1, "reason", reason)
	w.terminating = true
	w.end(p, func(s *corev1.PodStatus) {
		s.Phase, s.Reason, s.Message = corev1.PodFailed, reason, "Pod was rejected: "+message
	})
}

// chance returns the random part of a delay; 0 if the strategy is calm.
func (w *podWorker) chance(most time.Duration) time.Duration {
	const steps = 16
	return most * time.Duration(w.Kernel.Choose(kernel.Jitter, steps, "pod sync")) / steps
}

// awaitRelist waits until the runtime has been checked since the last sync: no sync begins with an
// older state. Therefore the end of a pod that has just started is up to a second late. The end of
// other pods begins at once.
func (w *podWorker) awaitRelist(p *kernel.Process) {
	if seen := w.nextRelist(w.synced); w.synced > 0 && p.Elapsed() < seen {
		p.Sleep(seen - p.Elapsed())
	}
}

// nextRelist returns the time of the first relist after a moment.
func (m *podManager) nextRelist(after time.Duration) time.Duration {
	return (after + relist - m.relistPhase).Truncate(relist) + m.relistPhase
}

// stop is SyncTerminatingPod: the containers stop, and only then may volumes be
// unpublished. K-POD-5. The worker itself continues after the next relist of the runtime (facts 3
// and 49).
func (w *podWorker) stop(p *kernel.Process) {
	endedBefore := w.ended
	switch {
	case w.programs != nil:
		w.stopPrograms(p)
		if w.ended = true; w.evicted != nil {
			w.setStatus(p, w.evictedStatus(func(*corev1.PodStatus) {}))
		}
	case w.running():
		w.readData()
		w.stopContainers(w.pod.UID)
		w.end(p, w.completedStatus())
	}
	w.stopped = true
	w.volumes.PodChanged(w.pod.UID)
	if !endedBefore {
		p.Sleep(w.nextRelist(p.Elapsed()) - p.Elapsed())
	}
}

// end writes the pod's final phase, once.
func (w *podWorker) end(p *kernel.Process, status func(*corev1.PodStatus)) {
	if w.ended {
		return
	}
	w.ended = true
	if w.evicted != nil {
		status = w.evictedStatus(status)
	}
	w.setStatus(p, status)
}

// finish is the end of SyncTerminatedPod. It writes the final status and then requests the deletion
// for which the API server has waited. K-POD-6
func (w *podWorker) finish(p *kernel.Process) {
	w.end(p, w.failedStatus())
	p.Wait("the pod's deletion", func() bool { return w.gone || w.pod.DeletionTimestamp != nil })
	w.remove(p)
	p.Wait("the removal of the pod's finalizers", func() bool { return w.gone })
}
