package fakekubelet

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/kernel"
)

// hasPrograms reports whether some container of the pod is a program.
func (w *podWorker) hasPrograms() bool {
	isProgram := func(c corev1.Container) bool { return w.options.Runtime.Runs(c.Image) }
	return slices.ContainsFunc(w.pod.Spec.Containers, isProgram) || slices.ContainsFunc(w.pod.Spec.InitContainers, isProgram)
}

// runsOneByOne reports whether the pod's containers start and end individually. Containers of a pod
// of records that do not end start and stop together.
func (w *podWorker) runsOneByOne() bool {
	return w.hasPrograms() || w.endsByItself() || w.options.Runtime.HasInstances(w.pod)
}

// runPrograms starts the pod's sandbox and its containers, or adopts those that an earlier kubelet
// started. It reports whether their volumes could be created.
func (w *podWorker) runPrograms(p *kernel.Process) bool {
	w.fresh = !w.running()
	make := w.makeFiles
	if !w.hasPrograms() {
		make = w.checkVolumes
	}
	if w.hasPrograms() || w.fresh {
		if err := make(p); err != nil {
			w.Event(w.pod, corev1.EventTypeWarning, "FailedMount", "%v", err)
			return false
		}
	}
	if w.fresh {
		w.options.Runtime.RunSandbox(w.pod)
	}
	if err := w.options.Runtime.MakeNetwork(w.pod); err != nil {
		w.stopSandbox(w.pod.UID)
		w.Event(w.pod, corev1.EventTypeWarning, "FailedCreatePodSandBox", "Failed to create pod sandbox: %v", err)
		return false
	}
	w.makeContainers()
	w.starter = w.Go("containers of "+w.pod.Namespace+"/"+w.pod.Name, w.startAll)
	return true
}

func (w *podWorker) makeContainers() {
	w.programs = nil
	for i := range w.pod.Spec.InitContainers {
		w.programs = append(w.programs, w.newContainer(&w.pod.Spec.InitContainers[i], true))
	}
	for i := range w.pod.Spec.Containers {
		w.programs = append(w.programs, w.newContainer(&w.pod.Spec.Containers[i], false))
	}
}

// startAll starts the init containers one after the other, and then the remaining ones.
func (w *podWorker) startAll(p *kernel.Process) {
	initialized := w.begun() // an earlier kubelet may have started containers
	for _, c := range w.programs {
		if c.init && !w.initialize(p, c, initialized) {
			break
		}
	}
	for _, c := range w.programs {
		switch {
		case c.process != nil || c.ended:
		case c.init || w.terminating || w.initFailed():
			c.ended = true
		default:
			c.start()
		}
	}
	w.startEphemeral()
	w.wakeContainers() // sidecars have no purpose if none of the others is started
	w.report(p)
	w.process.Wake()
}

// initialize starts an init container and waits for its end. For a sidecar it waits only for the
// start, unless the regular containers were started before. It reports whether the next one may
// start.
func (w *podWorker) initialize(p *kernel.Process, c *container, initialized bool) bool {
	switch {
	case c.sidecar:
		c.start()
		p.Wait("the start of sidecar "+c.spec.Name, func() bool { return initialized || c.started() || c.ended })
		return !c.ended
	case initialized || c.endedBefore() && c.program.Now.Code == 0:
		c.ended = true
		return true // a finished init container stays finished
	}
	c.start()
	p.Wait("the end of init container "+c.spec.Name, func() bool { return c.ended })
	return c.program.Now != nil && c.program.Now.Code == 0
}

// begun reports whether a container other than an init container has been started in the pod's
// sandbox.
func (w *podWorker) begun() bool {
	return slices.ContainsFunc(w.programs, func(c *container) bool {
		return !c.init && c.program.Now != nil && (!w.fresh || c.process != nil)
	})
}

// allEnded reports whether none of the pod's containers will run any more.
func (w *podWorker) allEnded() bool {
	return !slices.ContainsFunc(w.programs, func(c *container) bool { return !c.ended })
}

// initFailed reports whether an init container has failed for good.
func (w *podWorker) initFailed() bool {
	return slices.ContainsFunc(w.programs, func(c *container) bool {
		return c.init && !c.sidecar && c.ended && (c.program.Now == nil || c.program.Now.Code != 0)
	})
}

// wakeContainers notifies the containers that their pod has changed.
func (w *podWorker) wakeContainers() {
	for _, c := range slices.Concat(w.programs, w.ephemeral) {
		if c.process != nil {
			c.process.Wake()
		}
	}
	if w.starter != nil {
		w.starter.Wake()
	}
}

// stopPrograms waits for the end of the pod's containers and removes its sandbox.
func (w *podWorker) stopPrograms(p *kernel.Process) {
	w.wakeContainers()
	p.Wait("the end of the pod's containers", func() bool {
		return !slices.ContainsFunc(slices.Concat(w.programs, w.ephemeral), func(c *container) bool { return !c.ended })
	})
	w.stopSandbox(w.pod.UID)
	w.report(p)
	w.removeFiles()
}
