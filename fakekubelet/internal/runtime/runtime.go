// Package runtime is the container runtime of a node. Sandboxes and containers are records. A
// container runs until it is stopped or until the end that its image declares. An image can also
// name a program. This program runs on the machine and outlives the kubelet.
package runtime

import (
	"context"
	"maps"
	"net/netip"
	"slices"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/internal/world/workload"
)

// Runtime holds the sandboxes of one node.
type Runtime struct {
	world     *component.World
	node      string
	sandboxes map[types.UID]*sandbox
	// Sandboxes that ended with the node's power, until their pods have new ones.
	lost     map[types.UID]*sandbox
	together map[types.UID]Together
	options  Options
	programs map[types.UID]map[string]*Program
	pulled   map[string]RootFS // fetched ones, by the image's name in containers
	latest   netip.Addr        // the latest address of a pod
}

// Options describe the containers. The zero value makes all containers records.
type Options struct {
	// Images are the programs that containers run: a path of the host for each image, with or
	// without its tag.
	Images map[string]string
	// RootFS are the root file systems of other images' containers.
	RootFS map[string]RootFS
	// Lives has the lives of records by their images. Default: records run until they are stopped.
	Lives map[string]Life
	// RefuseUnmapped makes containers of other images fail as if their image could not be pulled.
	// Default: they are records.
	RefuseUnmapped bool
	// Pull fetches further images. It is called on separate threads. Default: they are not fetched.
	Pull func(ctx context.Context, image string) (RootFS, error)
	// Networks are the networks of programs. Default: csisim's own.
	Networks *Networks
	// Machine is the computer on which programs run.
	Machine machine.Machine
	// LogDir is the directory of the host for the output of programs.
	LogDir string
}

// sandbox holds the facts about its pod that real containers have as labels.
type sandbox struct {
	kind                          metav1.TypeMeta
	namespace, name, version, uid string
	started                       time.Time
	lost                          time.Time // the time when it ended with the node's power
	running                       []string  // of a pod that started all containers together
	// Holds the process namespace that the containers share; nil without one.
	holder *machine.Process
	// The pod's own; nil until its first program starts.
	network *machine.Network
	ipc     *machine.IPC
}

// Mount is a mount of a volume in a container.
type Mount struct {
	Container   string `json:"container,omitempty"` // path in the container
	Device      string `json:"device,omitempty"`    // device path in the container
	Host        string `json:"host"`
	Permissions string `json:"permissions,omitempty"`
	ReadOnly    bool   `json:"readonly,omitempty"`
}

// New returns a node's runtime without containers.
func New(w *component.World, node string, o Options) *Runtime {
	r := &Runtime{
		world: w, node: node, options: o,
		sandboxes: map[types.UID]*sandbox{}, lost: map[types.UID]*sandbox{},
		together: map[types.UID]Together{}, programs: map[types.UID]map[string]*Program{}, pulled: map[string]RootFS{},
	}
	if o.Networks != nil {
		r.latest = o.Networks.Pods.Masked().Addr()
	}
	return r
}

// Running reports whether the pod has a sandbox.
func (r *Runtime) Running(uid types.UID) bool { return r.sandboxes[uid] != nil }

// Pods returns the pods that have a sandbox, sorted.
func (r *Runtime) Pods() []types.UID { return slices.Sorted(maps.Keys(r.sandboxes)) }

// Run starts the sandbox of a pod of records, and all its containers.
func (r *Runtime) Run(pod *corev1.Pod, mounts func(*corev1.Container) []Mount) {
	s := r.startSandbox(pod)
	for i, c := range Containers(pod) {
		r.recordContainer(pod, c, mounts(c))
		r.record("StartContainer", s.podName(), nil)
		if i >= len(pod.Spec.InitContainers) || workload.Sidecar(c) {
			s.running = append(s.running, c.Name)
		}
	}
}

// RunSandbox starts the sandbox of a pod. The kubelet starts its containers individually.
func (r *Runtime) RunSandbox(pod *corev1.Pod) {
	r.startSandbox(pod)
	for _, c := range Containers(pod) {
		if r.Runs(c.Image) {
			r.recordContainer(pod, c, nil)
		}
	}
}

func (r *Runtime) startSandbox(pod *corev1.Pod) *sandbox {
	s := r.newSandbox(pod)
	r.sandboxes[pod.UID] = s
	if end := r.LostTogether(pod.UID); end != nil {
		r.together[pod.UID] = Together{Restarts: r.together[pod.UID].Restarts + 1, Before: end}
	}
	delete(r.lost, pod.UID)
	r.record("RunPodSandbox", s.podName(), nil)
	return s
}

func (r *Runtime) newSandbox(pod *corev1.Pod) *sandbox {
	return &sandbox{
		kind: pod.TypeMeta, namespace: pod.Namespace, name: pod.Name, version: pod.ResourceVersion, uid: string(pod.UID),
		started: r.world.Kernel.Now(),
	}
}

func (r *Runtime) recordContainer(pod *corev1.Pod, c *corev1.Container, mounts []Mount) {
	container := map[string]any{"container": c.Name, "mounts": mounts}
	if groups := SupplementalGroups(pod); len(groups) > 0 {
		container["supplementalGroups"] = groups
	}
	r.record("CreateContainer", pod.Namespace+"/"+pod.Name, container)
}

// Containers returns all containers in a pod's manifest, in the order in which they start.
func Containers(pod *corev1.Pod) []*corev1.Container {
	all := make([]*corev1.Container, 0, len(pod.Spec.InitContainers)+len(pod.Spec.Containers))
	for i := range pod.Spec.InitContainers {
		all = append(all, &pod.Spec.InitContainers[i])
	}
	for i := range pod.Spec.Containers {
		all = append(all, &pod.Spec.Containers[i])
	}
	return all
}

// pod returns the known metadata of its pod.
func (s *sandbox) pod() *metav1.PartialObjectMetadata {
	return &metav1.PartialObjectMetadata{TypeMeta: s.kind, ObjectMeta: metav1.ObjectMeta{
		Namespace: s.namespace, Name: s.name, UID: types.UID(s.uid), ResourceVersion: s.version,
	}}
}

func (s *sandbox) podName() string { return s.namespace + "/" + s.name }

// SupplementalGroups returns the additional groups of a pod's processes, including the group of its
// volumes.
func SupplementalGroups(pod *corev1.Pod) []int64 {
	context := pod.Spec.SecurityContext
	if context == nil {
		return nil
	}
	groups := slices.Clone(context.SupplementalGroups)
	if context.FSGroup != nil {
		groups = append(groups, *context.FSGroup)
	}
	return groups
}

// Stop stops a pod's containers and its sandbox. They exit at once with code 0. It returns the
// metadata of the pod (nil if there was none) and the names of the containers.
func (r *Runtime) Stop(uid types.UID) (pod *metav1.PartialObjectMetadata, containers []string) {
	s := r.sandboxes[uid]
	if s == nil {
		return nil, nil
	}
	containers = s.running
	for _, c := range r.runningPrograms(uid) {
		containers = append(containers, c.name)
		c.Kill() // the kubelet has not stopped it
	}
	if s.holder != nil {
		_ = s.holder.Signal(syscall.SIGKILL) // it may have ended with the node's power
	}
	s.leaveNamespaces()
	for range s.running {
		r.record("StopContainer", s.podName(), nil)
	}
	r.record("StopPodSandbox", s.podName(), nil)
	delete(r.sandboxes, uid)
	return s.pod(), containers
}

// PowerOff ends all containers without a trace of an orderly stop.
func (r *Runtime) PowerOff() {
	for _, uid := range r.Pods() {
		s := r.sandboxes[uid]
		s.leaveNamespaces()
		s.lost = r.world.Kernel.Now()
		r.lost[uid] = s
		r.losePower(uid)
	}
	clear(r.sandboxes)
}

func (r *Runtime) record(method, pod string, detail any) {
	r.world.Trace.AddChange(trace.Entry{Kind: trace.Runtime, Actor: "kubelet", Node: r.node, Method: method, Name: pod, Detail: detail})
}
