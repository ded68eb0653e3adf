package realcluster

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/fakekubelet"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

// Follower is a computer that returns the output of commands while they run.
type Follower interface {
	// Follow runs a command on a node until ctx ends, and calls line with each line of its output.
	Follow(ctx context.Context, node string, line func(string), command ...string) error
}

// runtimeLog copies the requests of a node's kubelet to the container runtime into the trace, from
// containerd's log.
type runtimeLog struct {
	*Cluster
	node       string
	last       time.Time            // time of the last line
	sandboxes  map[string]store.Key // pods by sandbox id
	containers map[string]store.Key // pods by container id
	creating   map[string]asked     // containers being created, by sandbox and name
	// The ids. A kubelet repeats the request until the runtime has no more data.
	stopped map[string]bool
}

// followRuntimes starts to read the logs of the scenario's nodes, if commands run there anyway.
func (c *Cluster) followRuntimes() {
	nodes, can := c.options.Machines.(Follower)
	if !can {
		return
	}
	for _, node := range c.options.Nodes {
		if c.canLook(node) != nil {
			continue
		}
		l := &runtimeLog{Cluster: c, node: node, last: time.Now(), sandboxes: map[string]store.Key{}, containers: map[string]store.Key{}, creating: map[string]asked{}, stopped: map[string]bool{}}
		go l.follow(nodes)
	}
}

// follow reads the log, and starts from the beginning after a node without power has lost its
// journal.
func (l *runtimeLog) follow(nodes Follower) {
	const pause = time.Second
	for l.ctx.Err() == nil {
		since := fmt.Sprintf("@%d", l.last.Unix())
		_ = nodes.Follow(l.ctx, l.node, l.read, "journalctl", "--unit", "containerd", "--output", "cat", "--follow", "--lines", "all", "--since", since)
		select {
		case <-l.ctx.Done():
		case <-time.After(pause):
		}
	}
}

// read processes a line of the log. Lines of one node arrive in order, so that a container's
// creation precedes requests about it.
func (l *runtimeLog) read(line string) {
	a, ok := parseAsked(line)
	if !ok || !a.at.After(l.last) {
		return
	}
	l.last = a.at
	switch a.method {
	case "RunPodSandbox":
		if a.returned == "" {
			l.record(a.at, a.method, a.pod, nil)
			return
		}
		l.sandboxes[a.returned] = a.pod
	case "CreateContainer":
		pod, known := l.sandboxes[a.id]
		if !known || slices.Contains(systemNamespaces, pod.Namespace) || pod.Namespace == l.namespace() {
			return
		}
		if a.returned == "" {
			l.creating[a.id+" "+a.container] = a
			return
		}
		began := l.creating[a.id+" "+a.container]
		l.containers[a.returned] = pod
		l.record(began.at, a.method, pod, l.inspect(a))
	case "StartContainer":
		l.record(a.at, a.method, l.containers[a.id], nil)
	case "StopContainer":
		l.recordOnce(a, l.containers[a.id])
	case "StopPodSandbox":
		l.recordOnce(a, l.sandboxes[a.id])
	}
}

func (l *runtimeLog) recordOnce(a asked, pod store.Key) {
	if !l.stopped[a.id] {
		l.stopped[a.id] = true
		l.record(a.at, a.method, pod, nil)
	}
}

// record records a request about a pod of the scenario; pods of drivers and of the cluster itself
// are not mirrored.
func (l *runtimeLog) record(at time.Time, method string, pod store.Key, detail any) {
	l.queue.put(at, func() {
		pod := l.plainKey(pod)
		if _, there := store.Get[*corev1.Pod](l.world.Store, pod); there && method == "RunPodSandbox" {
			l.pods[pod] = true
		}
		if l.pods[pod] {
			l.world.Trace.Add(trace.Entry{Kind: trace.Runtime, Actor: "kubelet", Node: l.node, Method: method, Name: pod.Namespace + "/" + pod.Name, Detail: detail})
		}
	})
}

// inspectTime bounds how long a busy runtime may take to describe a container; crictl's own limit
// is 2 s.
const inspectTime = "30s"

// inspections is the number of attempts to describe a container.
const inspections = 3

// inspect returns the configuration of a created container, or the error if it cannot be described.
func (l *runtimeLog) inspect(a asked) (detail map[string]any) {
	for range inspections {
		out, err := l.options.Machines.Run(l.ctx, l.node, "crictl", "--timeout", inspectTime, "inspect", a.returned)
		if err == nil {
			detail, err = containerAsked(l.options.Deploy.Scope.Plain(out))
		}
		if err == nil {
			return detail
		}
		detail = map[string]any{"container": a.container, "unseen": err.Error()}
	}
	return detail
}

// containerAsked converts crictl's description of a container to the form that simulated kubelets
// record. It omits the parts that every container of a real cluster has.
func containerAsked(inspected string) (map[string]any, error) {
	type path struct {
		Container   string `json:"container_path"`
		Host        string `json:"host_path"`
		ReadOnly    bool   `json:"readonly"`
		Permissions string `json:"permissions"`
	}
	var shown struct {
		Info struct {
			Config struct {
				Metadata struct {
					Name string `json:"name"`
				} `json:"metadata"`
				Mounts  []path `json:"mounts"`
				Devices []path `json:"devices"`
				Linux   struct {
					Security struct {
						Groups []int64 `json:"supplemental_groups"`
					} `json:"security_context"`
				} `json:"linux"`
			} `json:"config"`
		} `json:"info"`
	}
	if err := json.Unmarshal([]byte(inspected), &shown); err != nil {
		return nil, fmt.Errorf("read crictl's description of a container: %w", err)
	}
	config := shown.Info.Config
	var mounts []fakekubelet.ContainerMount
	for _, m := range config.Mounts {
		if !ofEveryContainer(m.Container) {
			mounts = append(mounts, fakekubelet.ContainerMount{Container: m.Container, Host: m.Host, ReadOnly: m.ReadOnly})
		}
	}
	for _, d := range config.Devices {
		mounts = append(mounts, fakekubelet.ContainerMount{Device: d.Container, Host: d.Host, Permissions: d.Permissions})
	}
	detail := map[string]any{"container": config.Metadata.Name, "mounts": mounts}
	if groups := config.Linux.Security.Groups; len(groups) > 0 {
		detail["supplementalGroups"] = groups
	}
	return detail, nil
}

// ofEveryContainer reports whether every container of a real cluster has a mount at a path,
// independent of its pod.
func ofEveryContainer(path string) bool {
	return path == "/etc/hosts" || path == corev1.TerminationMessagePathDefault || path == "/var/run/secrets/kubernetes.io/serviceaccount"
}
