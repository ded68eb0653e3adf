package fakekubelet

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// startEphemeral starts new ephemeral containers of the pod, if the pod runs. An ephemeral
// container that has ended is not started again.
func (w *podWorker) startEphemeral() {
	if w.terminating || !w.running() {
		return
	}
	for _, e := range w.pod.Spec.EphemeralContainers {
		if slices.ContainsFunc(w.ephemeral, func(c *container) bool { return c.spec.Name == e.Name }) {
			continue
		}
		spec := corev1.Container(e.EphemeralContainerCommon)
		c := w.newContainer(&spec, false)
		c.debug = true
		w.ephemeral = append(w.ephemeral, c)
		c.program.Target = e.TargetContainerName
		if c.program.Now != nil && !c.running() {
			c.ended = true // under an earlier kubelet
			continue
		}
		c.start()
	}
}

func (w *podWorker) ephemeralStatuses() []corev1.ContainerStatus {
	var all []corev1.ContainerStatus
	for _, c := range w.ephemeral {
		status := c.status()
		status.Ready, status.Started = false, nil // the pod does not wait for it
		all = append(all, status)
	}
	return all
}
