// Package runtime is the container runtime of a node: sandboxes and containers
// are records that run until they are stopped. It lives on the machine and
// outlives the kubelet.
package runtime

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/sim/component"
	"github.com/csisim/csisim/sim/trace"
)

// Runtime is the sandboxes of one node.
type Runtime struct {
	world     *component.World
	node      string
	sandboxes map[types.UID]*sandbox
}

type sandbox struct {
	pod     string
	running []string
}

// Mount is what a container sees of a volume.
type Mount struct {
	Container   string `json:"container,omitempty"` // path in the container
	Device      string `json:"device,omitempty"`    // device path in the container
	Host        string `json:"host"`
	Permissions string `json:"permissions,omitempty"`
	ReadOnly    bool   `json:"readonly,omitempty"`
}

// New returns a node's runtime without containers.
func New(w *component.World, node string) *Runtime {
	return &Runtime{world: w, node: node, sandboxes: map[types.UID]*sandbox{}}
}

// Running reports whether the pod has a sandbox.
func (r *Runtime) Running(uid types.UID) bool { return r.sandboxes[uid] != nil }

// Pods are the pods that have a sandbox, sorted.
func (r *Runtime) Pods() []types.UID { return slices.Sorted(maps.Keys(r.sandboxes)) }

// Run starts a pod's sandbox and its containers.
func (r *Runtime) Run(pod *corev1.Pod, mounts func(*corev1.Container) []Mount) {
	name := pod.Namespace + "/" + pod.Name
	s := &sandbox{pod: name}
	r.sandboxes[pod.UID] = s
	r.tell("RunPodSandbox", name, nil)
	for i := range pod.Spec.Containers {
		c := &pod.Spec.Containers[i]
		r.tell("CreateContainer", name, map[string]any{"container": c.Name, "mounts": mounts(c)})
		r.tell("StartContainer", name, nil)
		s.running = append(s.running, c.Name)
	}
}

// Stop stops a pod's containers and its sandbox; they exit at once with code 0.
func (r *Runtime) Stop(uid types.UID) {
	s := r.sandboxes[uid]
	if s == nil {
		return
	}
	for range s.running {
		r.tell("StopContainer", s.pod, nil)
	}
	r.tell("StopPodSandbox", s.pod, nil)
	delete(r.sandboxes, uid)
}

// PowerOff ends all containers without a trace of an orderly stop.
func (r *Runtime) PowerOff() { clear(r.sandboxes) }

func (r *Runtime) tell(method, pod string, detail any) {
	e := &trace.Event{Kind: trace.Runtime, Actor: "kubelet", Node: r.node, Method: method, Name: pod, Detail: detail}
	r.world.Trace.Add(e)
}
