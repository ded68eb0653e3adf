package apiserver

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/machine"
)

// errNoStreams is the answer to a connection into a container if the server has no sockets.
var errNoStreams = plainError(http.StatusNotImplemented, "", "exec, attach, port-forward and the proxy of pods are served by csisim up only")

// exec runs a command in a container.
func (q *request) exec() error {
	words := q.query["command"]
	if len(words) == 0 {
		words = []string{""} // no container has an empty command
	}
	o := q.streamOptions(q.isSet("tty"))
	_, c, err := q.enter(o)
	if c == nil {
		return err
	}
	q.server.streams.Run(q.answer.w, q.Request, o, func(ctx context.Context, s machine.Stdio) error {
		code, err := c.Exec(ctx, words, s, o.Terminal)
		if err == nil && code != 0 {
			err = &ExitError{Command: words, Code: code}
		}
		return err
	})
	return nil
}

// attach connects the client with a container. A container gets a terminal only at its start.
func (q *request) attach() error {
	o := q.streamOptions(q.isSet("tty"))
	spec, c, err := q.enter(o)
	if c == nil {
		return err
	}
	o = q.streamOptions(spec.TTY)
	q.server.streams.Run(q.answer.w, q.Request, o, c.Attach)
	return nil
}

// streamOptions reads which streams the client has. A terminal has no standard error.
func (q *request) streamOptions(terminal bool) StreamOptions {
	return StreamOptions{Stdin: q.isSet("stdin"), Stdout: q.isSet("stdout"), Stderr: q.isSet("stderr") && !terminal, Terminal: terminal}
}

// enter finds the container to which a client connects; nil if enter has already answered the
// request. It reports errors in the order of the real server: the pod, its container, its node, the
// request, and finally errors of the node.
func (q *request) enter(o StreamOptions) (spec *corev1.Container, inside Container, err error) {
	var refused error
	err = q.exclusively(func() error {
		if err := q.allowedTo("create"); err != nil { // a WebSocket connects with GET
			return err
		}
		object, err := q.object()
		if err != nil {
			return err
		}
		pod := object.(*corev1.Pod)
		if spec, err = containerOf(pod, q.query.Get("container")); err != nil {
			return err
		}
		if err = q.reachable(pod); err != nil {
			return err
		}
		if !o.Stdin && !o.Stdout && !o.Stderr {
			return badRequest("you must specify at least 1 of stdin, stdout, stderr")
		}
		inside, refused = q.server.options.Nodes.Container(pod, spec.Name)
		return nil
	})
	if refused != nil {
		q.refusedByNode(refused)
		return spec, nil, nil
	}
	return spec, inside, err
}

// forward connects the client with ports of a pod.
func (q *request) forward() error {
	ports, err := q.ports()
	if err != nil {
		return err
	}
	var dial Dial
	var refused error
	err = q.exclusively(func() error {
		pod, err := q.object()
		if err == nil {
			err = q.reachable(pod.(*corev1.Pod))
		}
		if err == nil {
			dial, refused = q.server.options.Nodes.Port(pod.(*corev1.Pod))
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case refused != nil:
		q.refusedByNode(refused)
	default:
		q.server.streams.Forward(q.answer.w, q.Request, ports, dial)
	}
	return nil
}

// reachable rejects a request that does not open a connection, and a request to an unreachable pod.
func (q *request) reachable(pod *corev1.Pod) error {
	switch {
	case pod.Spec.NodeName == "":
		return badRequest("pod %s does not have a host assigned", pod.Name)
	case !strings.Contains(strings.ToLower(q.Header.Get("Connection")), "upgrade"):
		return badRequest("Upgrade request required")
	case q.server.streams == nil || q.server.options.Nodes == nil:
		return errNoStreams
	}
	return nil
}

// refusedByNode answers with the error of a node, in plain text.
func (q *request) refusedByNode(err error) {
	http.Error(q.answer.w, err.Error(), http.StatusInternalServerError)
}

// ports returns the ports of a connection over a WebSocket. Other connections name their ports
// later.
func (q *request) ports() (ports []int32, err error) {
	for _, list := range q.query["ports"] {
		for text := range strings.SplitSeq(list, ",") {
			port, err := strconv.ParseUint(text, 10, 16)
			if err != nil {
				return nil, badRequest("cannot convert to []int32: %v", err)
			}
			ports = append(ports, int32(port))
		}
	}
	return ports, nil
}

// isSet reads a boolean parameter: it is false if it is missing, 0 or false.
func (q *request) isSet(name string) bool {
	values := q.query[name]
	return len(values) > 0 && values[0] != "0" && !strings.EqualFold(values[0], "false")
}

// containerOf returns the container with a name in a pod. The name may be omitted if there is only
// one container.
func containerOf(pod *corev1.Pod, name string) (*corev1.Container, error) {
	all := slices.Concat(pod.Spec.InitContainers, pod.Spec.Containers)
	for _, c := range pod.Spec.EphemeralContainers {
		all = append(all, corev1.Container(c.EphemeralContainerCommon))
	}
	if name == "" && len(pod.Spec.Containers) == 1 {
		name = pod.Spec.Containers[0].Name
	}
	var names []string
	for i := range all {
		if all[i].Name == name {
			return &all[i], nil
		}
		names = append(names, all[i].Name)
	}
	if name == "" {
		return nil, badRequest("a container name must be specified for pod %s, choose one of: %v", pod.Name, names)
	}
	return nil, badRequest("container %s is not valid for pod %s", name, pod.Name)
}
