package fakekubelet

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/fakekubelet/internal/runtime"
	"github.com/csisim/csisim/internal/world/kernel"
)

// hasPrograms reports whether some container of the pod is a program.
func (w *podWorker) hasPrograms() bool {
	isProgram := func(c corev1.Container) bool { return w.options.Runtime.Runs(c.Image) }
	return slices.ContainsFunc(w.pod.Spec.Containers, isProgram) || slices.ContainsFunc(w.pod.Spec.InitContainers, isProgram)
}

// runPrograms starts the pod's sandbox and its containers, or takes over those that an
// earlier kubelet started. It reports whether their volumes could be made.
func (w *podWorker) runPrograms(p *kernel.Process) bool {
	if err := w.makeFiles(p); err != nil {
		w.Event(w.pod, corev1.EventTypeWarning, "FailedMount", "%v", err)
		return false
	}
	if !w.running() {
		w.options.Runtime.Run(w.pod, func(*corev1.Container) []runtime.Mount { return nil })
	}
	w.programs = nil
	for i := range w.pod.Spec.InitContainers {
		w.programs = append(w.programs, w.newContainer(&w.pod.Spec.InitContainers[i], true))
	}
	for i := range w.pod.Spec.Containers {
		w.programs = append(w.programs, w.newContainer(&w.pod.Spec.Containers[i], false))
	}
	w.Go("containers of "+w.pod.Namespace+"/"+w.pod.Name, w.startAll)
	return true
}

// startAll starts the init containers one after the other, and then all others.
func (w *podWorker) startAll(p *kernel.Process) {
	for _, c := range w.programs {
		if !c.init {
			continue
		}
		if c.program == nil || c.program.Now != nil && !c.running() && c.program.Now.Code == 0 {
			c.ended = true
			continue // a record has nothing to do, and what is done stays done
		}
		c.start()
		c.process.OnEnd(p.Wake)
		p.Wait("the end of init container "+c.spec.Name, func() bool { return c.ended })
		if c.program.Now == nil || c.program.Now.Code != 0 {
			break
		}
	}
	for _, c := range w.programs {
		switch {
		case c.init:
		case w.terminating || w.initFailed():
			c.ended = true
		default:
			c.start()
		}
	}
	w.startEphemeral()
	w.report(p)
	w.process.Wake()
}

// initFailed reports whether an init container has failed for good.
func (w *podWorker) initFailed() bool {
	return slices.ContainsFunc(w.programs, func(c *container) bool {
		return c.init && c.ended && c.program != nil && (c.program.Now == nil || c.program.Now.Code != 0)
	})
}

// wakeContainers lets the containers see that their pod has changed.
func (w *podWorker) wakeContainers() {
	for _, c := range slices.Concat(w.programs, w.ephemeral) {
		if c.process != nil {
			c.process.Wake()
		}
	}
}

// stopPrograms waits for the end of the pod's containers and removes its sandbox.
func (w *podWorker) stopPrograms(p *kernel.Process) {
	w.wakeContainers()
	p.Wait("the end of the pod's containers", func() bool {
		return !slices.ContainsFunc(slices.Concat(w.programs, w.ephemeral), func(c *container) bool { return !c.ended })
	})
	w.options.Runtime.Stop(w.pod.UID)
	w.report(p)
	w.removeFiles()
}
