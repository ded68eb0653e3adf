package realcluster

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/real/deploy"
	"github.com/csisim/csisim/internal/real/lines"
	"github.com/csisim/csisim/internal/real/proxy"
	"github.com/csisim/csisim/sim"
)

// NodePods run commands on the nodes of a cluster through its API: a privileged pod on the node
// runs them. A node gets its pod at the first command; the pods are deleted at the end of the run.
type NodePods struct {
	cluster *Cluster
	image   string
	ready   map[string]bool // by node
}

// nodePodTime limits the start of a node's pod.
const nodePodTime = time.Minute

// Run runs a command on a node as root and returns its output.
func (n *NodePods) Run(ctx context.Context, node string, command ...string) (string, error) {
	if err := n.prepare(ctx, node); err != nil {
		return "", err
	}
	return n.cluster.runThrough(ctx, nodePodAt(node), command)
}

// Follow runs a command on a node until ctx ends, and calls line with each line of its output.
func (n *NodePods) Follow(ctx context.Context, node string, line func(string), command ...string) error {
	text, err := json.Marshal(proxy.NodeCommand{Command: command})
	if err != nil {
		return err
	}
	stream, err := n.cluster.request(nodePodAt(node), "POST", "/follow", nil).Body(text).Stream(ctx)
	if err != nil {
		return err
	}
	defer stream.Close()
	return lines.Each(stream, line)
}

// PowerOff is not possible, because no program on a node could restore the node's power.
func (n *NodePods) PowerOff(context.Context, string) error { return ErrNotReal }

// PowerOn is not possible either.
func (n *NodePods) PowerOn(context.Context, string) error { return ErrNotReal }

// prepare creates the pod of a node, and waits until it answers.
func (n *NodePods) prepare(ctx context.Context, node string) error {
	if n.ready[node] {
		return nil
	}
	c, pod := n.cluster, deploy.NodePod(node, n.image, n.cluster.options.Deploy.Proxy)
	_, err := c.clients.CoreV1().Pods(pod.Namespace).Create(ctx, pod, metav1.CreateOptions{FieldManager: manager})
	if err != nil {
		return notPermitted(pod, err)
	}
	c.own = append(c.own, made{resource: corev1.SchemeGroupVersion.WithResource("pods"), namespace: pod.Namespace, name: pod.Name})
	var last error
	ctx, cancel := context.WithTimeout(ctx, nodePodTime)
	defer cancel()
	for ctx.Err() == nil {
		if _, last = c.runThrough(ctx, nodePodAt(node), []string{"true"}); last == nil {
			n.ready[node] = true
			return nil
		}
		time.Sleep(askAgain)
	}
	return fmt.Errorf("pod %s of %s does not answer, which needs the image %s on the node: %w", pod.Name, pod.Namespace, n.image, last)
}

// askAgain is the pause between requests to a starting pod.
const askAgain = 200 * time.Millisecond

// notPermitted returns the error for a pod that the cluster does not admit.
func notPermitted(pod *corev1.Pod, err error) error {
	if apierrors.IsForbidden(err) {
		return fmt.Errorf("the cluster does not permit the privileged pod %s in %s, through which csisim reaches the node: %w", pod.Name, pod.Namespace, err)
	}
	return fmt.Errorf("make pod %s in %s, through which csisim reaches the node: %w", pod.Name, pod.Namespace, err)
}

func nodePodAt(node string) place {
	return place{namespace: metav1.NamespaceSystem, pod: deploy.NodePod(node, "", "").Name, node: node, port: deploy.NodePort}
}

// runThrough runs a command in the pod of a node.
func (c *Cluster) runThrough(ctx context.Context, at place, command []string) (string, error) {
	text, err := c.ask(ctx, at, "POST", "/run", nil, proxy.NodeCommand{Command: command})
	if err != nil {
		return "", err
	}
	var done proxy.NodeOutput
	if err := json.Unmarshal(text, &done); err != nil {
		return "", fmt.Errorf("read the answer of %s: %w", at, err)
	}
	if done.Error != "" {
		return done.Output, errors.New(done.Error)
	}
	return done.Output, nil
}

// wakeKubelets starts the kubelets that a killed run has stopped, through the pods that it used.
func (c *Cluster) wakeKubelets(ctx context.Context) error {
	pods, err := c.clients.CoreV1().Pods(metav1.NamespaceSystem).List(ctx, labelled(deploy.ManagedBy+"="+deploy.By+","+deploy.PartLabel+"="+deploy.NodePart))
	if err != nil {
		return err
	}
	for _, pod := range pods.Items {
		c.options.Deploy.Proxy = tokenOf(pod)
		if _, err := c.runThrough(ctx, nodePodAt(pod.Spec.NodeName), []string{"systemctl", "start", "kubelet"}); err != nil && isRunning(pod, deploy.NodePart) {
			return &sim.EnvironmentError{Doing: "start the kubelet of node " + pod.Spec.NodeName, Err: err}
		}
	}
	return nil
}
