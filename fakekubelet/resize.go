package fakekubelet

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/csisim/csisim/fakekubelet/internal/runtime"
	"github.com/csisim/csisim/internal/world/kernel"
)

// resizeRetry is the interval at which a resize without room is tried again.
// [pkg/kubelet/allocation/allocation_manager.go]
const resizeRetry = 3 * time.Minute

// sizesOf returns the resources of the pod's containers, by name. A starting kubelet restores the
// allocation of an earlier one from the status.
func sizesOf(pod *corev1.Pod) map[string]corev1.ResourceRequirements {
	sizes := map[string]corev1.ResourceRequirements{}
	for _, c := range runtime.Containers(pod) {
		if len(c.Resources.Requests)+len(c.Resources.Limits) > 0 {
			sizes[c.Name] = c.Resources
		}
	}
	if len(sizes) == 0 {
		return nil
	}
	for _, s := range slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses) {
		if s.State.Running != nil && s.Resources != nil {
			sizes[s.Name] = *s.Resources
		}
	}
	return sizes
}

// sized returns the pod with the resources that its node has allocated to it.
func (w *podWorker) sized() *corev1.Pod {
	if !w.wantsOtherSize() {
		return w.pod
	}
	pod := w.pod.DeepCopy()
	for _, c := range runtime.Containers(pod) {
		c.Resources = w.sizes[c.Name]
	}
	return pod
}

func (w *podWorker) wantsOtherSize() bool {
	return w.sizes != nil && slices.ContainsFunc(runtime.Containers(w.pod), func(c *corev1.Container) bool {
		return !equality.Semantic.DeepEqual(c.Resources, w.sizes[c.Name])
	})
}

// considerResize starts a resize if the pod requests other resources than its allocated ones.
func (w *podWorker) considerResize() {
	switch {
	case w.resizing != nil && !w.resizing.Ended():
		w.resizing.Wake()
	case !w.terminating && w.wantsOtherSize():
		w.resizing = w.Go("resize of "+w.pod.Namespace+"/"+w.pod.Name, w.resize)
	}
}

// resize allocates the requested resources of the pod as soon as its node has room.
func (w *podWorker) resize(p *kernel.Process) {
	var said int64 // the generation for which an event about the wait was emitted
	for !w.terminating && w.wantsOtherSize() {
		generation := w.pod.Generation
		lack := w.lacks()
		if lack == "" {
			w.allocate(p, generation)
			continue
		}
		if said != generation {
			said = generation
			w.Event(w.pod, corev1.EventTypeWarning, "ResizeDeferred", "Pod resize Deferred: %s", resizeSummary(w.pod, lack))
		}
		w.setStatus(p, func(s *corev1.PodStatus) {
			w.resizeCondition(s, corev1.PodResizePending, corev1.PodReasonDeferred, lack, generation)
		})
		w.deferred++
		p.IdleUntil("room for the resize of its pod", p.Elapsed()+resizeRetry)
		w.deferred--
	}
	w.setStatus(p, func(s *corev1.PodStatus) { dropCondition(s, corev1.PodResizePending) })
}

// allocate changes the containers' limits, and restarts containers with a policy that requires it.
func (w *podWorker) allocate(p *kernel.Process, generation int64) {
	before := w.sizes
	w.sizes = map[string]corev1.ResourceRequirements{}
	for _, c := range runtime.Containers(w.pod) {
		w.sizes[c.Name] = c.Resources
	}
	w.Event(w.pod, corev1.EventTypeNormal, "ResizeStarted", "Pod resize started: %s", resizeSummary(w.pod, ""))
	w.setStatus(p, func(s *corev1.PodStatus) {
		dropCondition(s, corev1.PodResizePending)
		w.resizeCondition(s, corev1.PodResizeInProgress, "", "", generation)
	})
	for _, c := range w.programs {
		c.resize(before[c.spec.Name])
	}
	for err := w.limit(); err != nil && !w.terminating; err = w.limit() {
		message := err.Error()
		w.Event(w.pod, corev1.EventTypeWarning, "ResizeError", "Pod resize error: %s", resizeSummary(w.pod, message))
		w.setStatus(p, func(s *corev1.PodStatus) {
			w.resizeCondition(s, corev1.PodResizeInProgress, corev1.PodReasonError, message, generation)
		})
		w.retry(p, "the next try to change its limits")
	}
	w.setStatus(p, func(s *corev1.PodStatus) {
		dropCondition(s, corev1.PodResizeInProgress)
		w.writeSizes(s)
	})
	w.Event(w.pod, corev1.EventTypeNormal, "ResizeCompleted", "Pod resize completed: %s", resizeSummary(w.pod, ""))
}

// limit sets the limits of running programs to the allocated resources of their containers.
func (w *podWorker) limit() error {
	for _, c := range w.programs {
		if !c.running() || c.renew {
			continue
		}
		if err := c.program.Limit(limitsOf(w.sizes[c.spec.Name])); err != nil {
			return err
		}
	}
	return nil
}

// resize restarts a running container if its policy for the changed resources requires it.
func (c *container) resize(was corev1.ResourceRequirements) {
	now, spec := c.sizes[c.spec.Name], *c.spec
	spec.Resources = now
	c.spec = &spec
	changed := func(name corev1.ResourceName) bool {
		return !now.Requests[name].Equal(was.Requests[name]) || !now.Limits[name].Equal(was.Limits[name])
	}
	asks := slices.ContainsFunc(c.spec.ResizePolicy, func(p corev1.ContainerResizePolicy) bool {
		return p.RestartPolicy == corev1.RestartContainer && changed(p.ResourceName)
	})
	if asks && c.running() {
		c.renew = true // stays set until the instance has ended, even after a later resize
		c.process.Wake()
	}
}

// lacks returns the resource that is missing for the pod's new size; empty if the node has room.
func (w *podWorker) lacks() string {
	node, ok := w.status.node()
	if !ok {
		return ""
	}
	wants := resourcehelper.PodRequests(w.pod, resourcehelper.PodResourcesOptions{})
	used := corev1.ResourceList{}
	for _, other := range w.inOrder() {
		if other == w || other.ended {
			continue
		}
		requests := resourcehelper.PodRequests(other.sized(), resourcehelper.PodResourcesOptions{})
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			sum := used[name]
			sum.Add(requests[name])
			used[name] = sum
		}
	}
	for _, of := range []struct {
		name                  corev1.ResourceName
		wanted, used, allowed int64
	}{
		{corev1.ResourceCPU, wants.Cpu().MilliValue(), used.Cpu().MilliValue(), node.Status.Allocatable.Cpu().MilliValue()},
		{corev1.ResourceMemory, wants.Memory().Value(), used.Memory().Value(), node.Status.Allocatable.Memory().Value()},
	} {
		if of.wanted+of.used > of.allowed {
			return fmt.Sprintf("Node didn't have enough resource: %s, requested: %d, used: %d, capacity: %d", of.name, of.wanted, of.used, of.allowed)
		}
	}
	return ""
}

// writeSizes writes the resources allocated to the containers, and those in effect.
func (w *podWorker) writeSizes(s *corev1.PodStatus) {
	if w.sizes == nil {
		return
	}
	for _, all := range [][]corev1.ContainerStatus{s.InitContainerStatuses, s.ContainerStatuses} {
		for i := range all {
			if all[i].State.Waiting != nil {
				continue // the container has not been created
			}
			size := w.sizes[all[i].Name]
			all[i].Resources, all[i].AllocatedResources = size.DeepCopy(), size.DeepCopy().Requests
		}
	}
}

func (w *podWorker) resizeCondition(s *corev1.PodStatus, t corev1.PodConditionType, reason, message string, generation int64) {
	w.condition(s, t, corev1.ConditionTrue, reason, message)
	for i := range s.Conditions {
		if s.Conditions[i].Type == t {
			s.Conditions[i].ObservedGeneration = generation
			s.Conditions[i].LastProbeTime = metav1.NewTime(w.Kernel.Now())
		}
	}
}

func dropCondition(s *corev1.PodStatus, t corev1.PodConditionType) {
	s.Conditions = slices.DeleteFunc(s.Conditions, func(c corev1.PodCondition) bool { return c.Type == t })
}

// resizeSummary returns the message of events about a resize. [pkg/kubelet/events/resize.go]
func resizeSummary(pod *corev1.Pod, mistake string) string {
	type allocation struct {
		Name      string                      `json:"name"`
		Resources corev1.ResourceRequirements `json:"resources,omitempty"`
	}
	summary := struct {
		InitContainers []allocation `json:"initContainers,omitempty"`
		Containers     []allocation `json:"containers,omitempty"`
		Generation     int64        `json:"generation"`
		Error          string       `json:"error,omitempty"`
	}{Generation: pod.Generation, Error: mistake}
	for _, c := range pod.Spec.InitContainers {
		summary.InitContainers = append(summary.InitContainers, allocation{c.Name, c.Resources})
	}
	for _, c := range pod.Spec.Containers {
		summary.Containers = append(summary.Containers, allocation{c.Name, c.Resources})
	}
	text, err := json.Marshal(summary)
	if err != nil {
		return err.Error() // impossible: these are quantities and texts
	}
	return string(text)
}
