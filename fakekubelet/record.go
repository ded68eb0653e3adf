package fakekubelet

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/fakekubelet/internal/runtime"
	"github.com/csisim/csisim/internal/world/kernel"
)

// Annotations of a pod that describe how its record containers end.
const (
	RunsAnnotation  = "csisim.dev/runs"
	ExitsAnnotation = "csisim.dev/exits"
)

// annotatedLife returns the life of a pod's containers from its annotations; nil without them.
func annotatedLife(pod *corev1.Pod) (*runtime.Life, error) {
	text, found := pod.Annotations[RunsAnnotation]
	if !found {
		return nil, nil
	}
	runs, err := time.ParseDuration(text)
	if err != nil || runs < 0 {
		return nil, fmt.Errorf("annotation %s: want a duration such as 5s, found %q", RunsAnnotation, text)
	}
	life := runtime.Life{Runs: runs}
	if text, found = pod.Annotations[ExitsAnnotation]; found {
		code, err := strconv.ParseUint(text, 10, 8)
		if err != nil {
			return nil, fmt.Errorf("annotation %s: want an exit code from 0 to 255, found %q", ExitsAnnotation, text)
		}
		life.Exits = int32(code)
	}
	return &life, nil
}

// endsByItself reports whether some container of the pod is a record that ends.
func (w *podWorker) endsByItself() bool {
	if life, err := annotatedLife(w.pod); life != nil || err != nil {
		return true
	}
	return slices.ContainsFunc(runtime.Containers(w.pod), func(c *corev1.Container) bool {
		return w.options.Runtime.LifeOf(c.Image) != nil
	})
}

// life returns the life of the container; nil if it runs until it is stopped. An init container
// exits at once, unless its image has a life.
func (c *container) life() *runtime.Life {
	if life := c.options.Runtime.LifeOf(c.spec.Image); life != nil {
		return life
	}
	if c.init {
		if c.sidecar {
			return nil
		}
		return &runtime.Life{}
	}
	life, _ := annotatedLife(c.pod)
	return life
}

// recordMounts returns the driver volumes and devices that the container mounts. Subpaths are bound
// anew at each start.
func (c *container) recordMounts(p *kernel.Process) ([]runtime.Mount, error) {
	if _, err := annotatedLife(c.pod); err != nil {
		return nil, err
	}
	if err := c.checkVariables(p, c.spec); err != nil {
		return nil, err
	}
	c.Event(c.pod, corev1.EventTypeNormal, "Pulled", "Container image %q already present on machine and can be accessed by the pod", c.spec.Image)
	mounts, err := c.mountsOf(p, c.spec)
	if err == nil {
		_, _ = c.makeTerminationLog(c.spec.Name)
	}
	return append(mounts, c.devicesOf(c.spec)...), err
}

// startRecord starts the next instance of a record, which reads and writes its volumes.
func (c *container) startRecord(mounts []runtime.Mount) {
	c.sayRecord(c.spec)
	c.program.StartRecord(c.life(), mounts)
	c.startData()
}

// noticeEnd waits until the kubelet has checked the runtime after the end of a record, and reports
// the end.
func (c *container) noticeEnd(p *kernel.Process) {
	if !c.program.IsRecord() || c.program.Now == nil || c.running() || c.over() {
		return
	}
	p.WaitUntil("the next look at the runtime", c.nextRelist(p.Elapsed()), c.over)
	c.waiting = nil
	c.report(p)
}

// ContainerExited reports to the kubelet that a record has exited, in a pod that started all
// containers together.
func (k *Kubelet) ContainerExited(pod types.UID) {
	w := k.pods.workers[pod]
	if w == nil || w.terminating || w.programs != nil || !w.running() {
		return
	}
	w.makeContainers()
	for _, c := range w.programs {
		if c.ended = c.init && !c.sidecar; !c.ended {
			c.start()
		}
	}
}
