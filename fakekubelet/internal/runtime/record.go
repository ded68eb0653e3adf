package runtime

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/workload"
)

// Life describes how the instances of a record container end.
type Life struct {
	Runs  time.Duration // how long an instance runs
	Exits int32         // its exit code
}

// The end of a container when its node loses power, as the runtime reports it after the next boot.
const (
	PowerLossCode   = 255
	PowerLossReason = "Unknown"
)

// killedCode is the exit code of a container that SIGKILL has ended.
const killedCode = 137

// LifeOf returns the life of an image's containers; nil if they run until they are stopped.
func (r *Runtime) LifeOf(image string) *Life {
	life, found := OfImage(r.options.Lives, image)
	if !found {
		return nil
	}
	return &life
}

// HasInstances reports whether the instances of a pod's containers are recorded individually.
func (r *Runtime) HasInstances(pod *corev1.Pod) bool { return len(r.programs[pod.UID]) > 0 }

// IsRecord reports whether the container runs nothing.
func (c *Program) IsRecord() bool { return c.record }

// StartRecord starts the next instance of a container that is a record. It ends as life describes.
// If life is nil, it runs until it is stopped.
func (c *Program) StartRecord(life *Life, mounts []Mount) {
	next := c.next()
	c.runtime.recordContainer(c.pod, c.spec, mounts)
	c.runtime.record("StartContainer", c.podName(), map[string]any{"container": c.name})
	if life == nil {
		return
	}
	k := c.runtime.world.Kernel
	k.Spawn(nil, "end of container "+c.podName()+"/"+c.name, func(p *kernel.Process) {
		p.IdleUntil("the end of container "+c.name, p.Elapsed()+life.Runs)
		c.endRecord(next, life.Exits)
	})
}

// endRecord ends an instance that still runs.
func (c *Program) endRecord(i *Instance, code int32) {
	if c.Now == i && c.Running() {
		c.end(i, code, false)
	}
}

// Exit ends the running instance of a record, like a process that exits with a code. From then on
// the kubelet starts and stops the containers of the pod individually.
func (r *Runtime) Exit(pod *corev1.Pod, name string, code int32) error {
	if r.sandboxes[pod.UID] == nil {
		return errors.New("no container of the pod runs")
	}
	r.splitRecords(r.sandboxes[pod.UID], pod)
	c := r.programs[pod.UID][name]
	switch {
	case c == nil:
		return fmt.Errorf("no such container; the pod has %s", strings.Join(containerNames(pod), ", "))
	case !c.record:
		return errors.New("the container is a program: a signal ends it, such as that of kubectl exec")
	case !c.Running():
		return errors.New("the container does not run")
	}
	c.end(c.Now, code, false)
	return nil
}

// splitRecords creates an instance for each container in a sandbox that started all containers
// together.
func (r *Runtime) splitRecords(s *sandbox, pod *corev1.Pod) {
	if r.HasInstances(pod) {
		return
	}
	for i, spec := range Containers(pod) {
		c := r.Program(pod, spec)
		completes := i < len(pod.Spec.InitContainers) && !workload.Sidecar(spec)
		past := r.PastOf(pod.UID, completes)
		c.Restarts, c.Before = past.Restarts, past.Before
		c.Now = &Instance{ID: c.id(), Started: s.started}
		if completes {
			c.Now.Finished, c.Now.Reason = s.started, "Completed"
		}
	}
	s.running = nil
}

func containerNames(pod *corev1.Pod) (all []string) {
	for _, c := range Containers(pod) {
		all = append(all, c.Name)
	}
	return all
}

// losePower ends the records of a pod when their node loses power.
func (r *Runtime) losePower(pod types.UID) {
	for _, c := range r.runningPrograms(pod) {
		if c.record {
			c.Now.Finished, c.Now.Code, c.Now.Reason = r.lost[pod].lost, PowerLossCode, PowerLossReason
		}
	}
}

// LostContainers reports whether a loss of power ended containers of the pod, and the pod has had
// no sandbox since.
func (r *Runtime) LostContainers(pod types.UID) bool {
	s := r.lost[pod]
	if s == nil {
		return false
	}
	for _, c := range r.programs[pod] {
		if c.Now != nil {
			return true
		}
	}
	return len(s.running) > 0
}

// EndLost records individually the ends of the containers that a loss of power ended.
func (r *Runtime) EndLost(pod *corev1.Pod) {
	r.splitRecords(r.lost[pod.UID], pod)
	r.losePower(pod.UID)
}

// runningPrograms lists the names of a pod's containers that run individually.
func (r *Runtime) runningPrograms(pod types.UID) (running []*Program) {
	for _, name := range slices.Sorted(maps.Keys(r.programs[pod])) {
		if c := r.programs[pod][name]; c.Running() {
			running = append(running, c)
		}
	}
	return running
}
