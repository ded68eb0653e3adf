package cluster

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/fakekubelet"
	"github.com/csisim/csisim/internal/api/apiserver"
	"github.com/csisim/csisim/internal/world/machine"
)

// Containers gives clients of the API access to containers. Containers that are only records have
// no output, and cannot be entered.
type Containers struct {
	Nodes *Nodes
	// DialTo connects with an address of the cluster.
	DialTo func(ctx context.Context, network, to string) (net.Conn, error)
}

// runProgram describes how to get a container that runs a program. It has no colon, because kubectl
// parses an error with a colon as a YAML map and prints nothing.
const runProgram = "map its image under images, or use csisim up --pull"

// Log finds the output of a container.
func (c Containers) Log(pod *corev1.Pod, container string, previous bool) (apiserver.Log, error) {
	silent := apiserver.Log{Open: func() bool { return false }}
	program, err := c.program(pod, container)
	switch {
	case err != nil:
		return silent, err
	case program == nil && isRunning(pod, container):
		return apiserver.Log{Text: fmt.Sprintf("csisim: container %s runs no program, so it writes no log (%s)\n", container, runProgram)}, nil
	case program == nil:
		return silent, nil
	}
	instance := program.Now
	if previous && (program.Running() || !waits(pod, container)) {
		instance = program.Before
	}
	switch {
	case previous && instance == nil:
		return silent, fmt.Errorf("previous terminated container %q in pod %q not found", container, pod.Name)
	case instance == nil:
		return silent, fmt.Errorf("container %q in pod %q is waiting to start: ContainerCreating", container, pod.Name)
	}
	return apiserver.Log{File: instance.Log, Open: func() bool { return instance.Finished.IsZero() }}, nil
}

// Container finds the running instance of a container.
func (c Containers) Container(pod *corev1.Pod, container string) (apiserver.Container, error) {
	program, err := c.program(pod, container)
	switch {
	case err != nil:
		return nil, err
	case program == nil && isRunning(pod, container):
		return nil, fmt.Errorf("container %s of pod %s runs no program (%s)", container, pod.Name, runProgram)
	case program == nil:
		return nil, fmt.Errorf("container not found (%q)", container)
	}
	inside, err := program.Inside()
	if err != nil {
		return nil, err
	}
	return inside, nil
}

// Page returns a page that a kubelet serves only at its own port.
func (c Containers) Page(name, port, path string) (*apiserver.Page, error) {
	own := strconv.Itoa(fakekubelet.Port)
	n := c.Nodes.Find(name)
	if n == nil {
		// This Node object has no machine.
		return nil, fmt.Errorf("dial tcp: lookup %s: no such host", name)
	}
	if n.Kubelet == nil || port != "" && port != own {
		return nil, fmt.Errorf("dial tcp %s: connect: connection refused", net.JoinHostPort(n.Address, cmp.Or(port, own)))
	}
	contentType, body, ok := n.Kubelet.Page(path)
	if !ok {
		return nil, nil
	}
	return &apiserver.Page{Type: contentType, Body: body}, nil
}

// Port returns a connection to the ports of a pod with programs on its loopback.
func (c Containers) Port(pod *corev1.Pod) (apiserver.Dial, error) {
	for i := range pod.Spec.Containers {
		program, err := c.program(pod, pod.Spec.Containers[i].Name)
		if err != nil || program == nil {
			continue
		}
		dial, err := program.Dialer()
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, port int32) (net.Conn, error) { return dialLoopback(ctx, dial, port) }, nil
	}
	return nil, fmt.Errorf("pod %s has no port, since its containers run no program (%s)", pod.Name, runProgram)
}

// dialLoopback connects with a port of loopback.
func dialLoopback(ctx context.Context, dial machine.Dial, port int32) (net.Conn, error) {
	conn, err := dial(ctx, "tcp4", net.JoinHostPort("127.0.0.1", strconv.Itoa(int(port))))
	if err != nil {
		return nil, fmt.Errorf("failed to connect to localhost:%d inside namespace of the pod, IPv4: %w", port, err)
	}
	return conn, nil
}

// Dial connects with an address of the cluster.
func (c Containers) Dial(ctx context.Context, to string) (net.Conn, error) {
	return c.DialTo(ctx, "tcp", to)
}

// program returns a container that is a program, nil for a record.
func (c Containers) program(pod *corev1.Pod, container string) (*fakekubelet.Program, error) {
	n := c.Nodes.Find(pod.Spec.NodeName)
	if n == nil {
		return nil, fmt.Errorf("pod %s is not assigned to a node", pod.Name)
	}
	if program := n.Runtime.FindProgram(pod.UID, container); program != nil && !program.IsRecord() {
		return program, nil
	}
	return nil, nil
}

// isRunning reports whether the status shows a container as running.
func isRunning(pod *corev1.Pod, container string) bool {
	return hasStatus(pod, container, func(s *corev1.ContainerStatus) bool { return s.State.Running != nil })
}

// waits reports whether a container waits for the start of its next instance.
func waits(pod *corev1.Pod, container string) bool {
	return hasStatus(pod, container, func(s *corev1.ContainerStatus) bool { return s.State.Waiting != nil })
}

func hasStatus(pod *corev1.Pod, container string, is func(*corev1.ContainerStatus) bool) bool {
	all := slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses, pod.Status.EphemeralContainerStatuses)
	return slices.ContainsFunc(all, func(s corev1.ContainerStatus) bool { return s.Name == container && is(&s) })
}
