package manager

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc/status"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/kinds"
	"github.com/csisim/csisim/internal/driver/sidecar"
	"github.com/csisim/csisim/internal/world/addons/capability"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

const (
	nodeFinalizer = "csiaddons.openshift.io/csiaddonsnode" // A-NODE-5
	maxAttempts   = 3                                      // number of counted attempts. A-NODE-7
	nodePeriod    = time.Hour                              // A-NODE-2
)

// syncNode connects to the sidecar that a CSIAddonsNode announces.
func (m *Manager) syncNode(p *kernel.Process, key store.Key) error {
	node, err := kinds.Get[kinds.Node](m.Component, key)
	if err != nil {
		return ignoreNotFound(err)
	}
	if missing := missingIn(node); missing != "" { // A-NODE-3
		node.Status.State = "Failed"
		node.Status.Message = "Failed to validate CSIAddonsNode parameters: required parameter '" + missing + "' in CSIAddonsNode.Spec.Driver is empty"
		return kinds.UpdateStatus(p, m.Component, node)
	}
	pod, address, err := m.resolve(p, node.Spec.Driver.EndPoint)
	if err != nil && node.DeletionTimestamp == nil {
		if errors.Is(err, errPodNotReady) { // A-NODE-9
			return after(m.opts.NodeRetryDelay)
		}
		return m.retryNode(p, node, fmt.Errorf("failed to resolve endpoint %q: %w", node.Spec.Driver.EndPoint, err))
	}
	poolKey := node.Namespace + "/" + sidecar.Sanitized(pod) // A-POOL-1
	if node.DeletionTimestamp != nil {
		m.disconnect(poolKey)
		return m.release(p, node, nodeFinalizer)
	}
	if err := m.protect(p, node, nodeFinalizer); err != nil {
		return err
	}
	c, err := m.connect(p, connection{
		key: poolKey, endpoint: address, driver: node.Spec.Driver.Name, node: node.Spec.Driver.NodeID, namespace: node.Namespace, name: node.Name,
	})
	if err != nil {
		return m.retryNode(p, node, err)
	}
	clients, err := m.fenceClients(p, node, c)
	if err != nil {
		return err
	}
	return m.connected(p, node, c, clients)
}

// missingIn names an empty parameter.
func missingIn(node *kinds.Node) string {
	switch {
	case node.Spec.Driver.Name == "":
		return "Name"
	case node.Spec.Driver.EndPoint == "":
		return "EndPoint"
	}
	return ""
}

// connected: A-NODE-6
func (m *Manager) connected(p *kernel.Process, node *kinds.Node, c *connection, clients []kinds.FenceClients) error {
	node.Status = kinds.NodeStatus{
		State: "Connected", Message: "Successfully established connection with sidecar", ClientsByNode: clients,
	}
	for _, has := range c.capabilities {
		node.Status.Capabilities = append(node.Status.Capabilities, capability.Name(has))
	}
	if err := kinds.UpdateStatus(p, m.Component, node); err != nil {
		return err
	}
	return every(nodePeriod)
}

// retryNode counts a failure, and deletes the object after the last permitted one. A-NODE-7
func (m *Manager) retryNode(p *kernel.Process, node *kinds.Node, cause error) error {
	attempts, err := attemptsIn(node.Status.Reason)
	if err != nil {
		return err
	}
	if attempts >= maxAttempts {
		return ignoreNotFound(kinds.Delete(p, m.Component, node))
	}
	node.Status.State = "Retrying"
	node.Status.Reason = fmt.Sprintf("currentAttempt: %d", attempts+1)
	node.Status.Message = fmt.Sprintf("Connection failed: %v. Retrying attempt %d/%d.", messageOf(cause), attempts+1, maxAttempts)
	if err := kinds.UpdateStatus(p, m.Component, node); err != nil {
		return err
	}
	return after(m.opts.NodeRetryDelay << attempts)
}

// attemptsIn reads the number of failures back from the status.
func attemptsIn(reason string) (int, error) {
	if reason == "" {
		return 0, nil
	}
	_, number, ok := strings.Cut(reason, ":")
	if !ok {
		return 0, errors.New("got an unexpected length after splitting the reason string")
	}
	n, err := strconv.Atoi(strings.TrimSpace(number))
	if err != nil {
		return 0, errors.New("failed to parse the reason string to an integer")
	}
	return n, nil
}

// messageOf returns the message of a gRPC error without its code, or the whole text of any other
// error.
func messageOf(err error) string {
	var answer interface{ GRPCStatus() *status.Status }
	if errors.As(err, &answer) {
		return answer.GRPCStatus().Message()
	}
	return err.Error()
}

var errPodNotReady = errors.New("pod is not ready yet")

// resolve finds a sidecar's pod by its endpoint, and the pod's address. A-NODE-4
func (m *Manager) resolve(p *kernel.Process, endpoint string) (name, address string, err error) {
	key, port, err := parseEndpoint(endpoint)
	if err != nil {
		return "", "", err
	}
	pod, err := component.Live[*corev1.Pod](p, m.Component, key)
	switch {
	case err != nil:
		return key.Name, "", fmt.Errorf("failed to get pod %s/%s: %w", key.Namespace, key.Name, err)
	case pod.Status.PodIP == "":
		return key.Name, "", fmt.Errorf("%w: pod %s in phase %s does not have an IP-address yet", errPodNotReady, key, pod.Status.Phase)
	}
	ip := pod.Status.PodIP
	if strings.Count(ip, ":") >= 2 {
		ip = "[" + ip + "]"
	}
	return key.Name, ip + ":" + port, nil
}

// parseEndpoint: A-SIDE-5, A-NODE-4
func parseEndpoint(text string) (pod store.Key, port string, err error) {
	at, err := url.Parse(text)
	if err != nil {
		return pod, "", fmt.Errorf("failed to parse endpoint %q: %w", text, err)
	}
	if at.Scheme != "pod" {
		return pod, "", fmt.Errorf("endpoint scheme %q not supported", at.Scheme)
	}
	host := at.Hostname()
	dot := strings.LastIndex(host, ".")
	if dot <= 0 || dot == len(host)-1 {
		return pod, "", fmt.Errorf("hostname %q is not in <pod>.<namespace> format", host)
	}
	return store.Key{Namespace: host[dot+1:], Name: host[:dot]}, at.Port(), nil
}

// protect adds a finalizer by an update of the whole object.
func (m *Manager) protect(p *kernel.Process, obj kinds.Object, finalizer string) error {
	if slices.Contains(obj.GetFinalizers(), finalizer) {
		return nil
	}
	obj.SetFinalizers(append(slices.Clone(obj.GetFinalizers()), finalizer))
	return kinds.Update(p, m.Component, obj)
}

// release removes a finalizer.
func (m *Manager) release(p *kernel.Process, obj kinds.Object, finalizer string) error {
	if !slices.Contains(obj.GetFinalizers(), finalizer) {
		return nil
	}
	obj.SetFinalizers(slices.DeleteFunc(slices.Clone(obj.GetFinalizers()), func(f string) bool { return f == finalizer }))
	return kinds.Update(p, m.Component, obj)
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
