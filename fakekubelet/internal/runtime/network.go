package runtime

import (
	"errors"
	"fmt"
	"net"
	"net/netip"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/internal/world/machine"
)

// Networks are the networks of a node: one for the node and its pods with hostNetwork, and one for
// each other pod.
type Networks struct {
	Node *machine.Network
	// Pods are the addresses of pods. The first address is not used.
	Pods netip.Prefix
	// Join connects the network of a pod to the cluster's network.
	Join machine.Join
}

// Address returns a pod's own address. It is not valid before its sandbox has a network, or if
// programs share csisim's network.
func (r *Runtime) Address(uid types.UID) (at netip.Addr) {
	if s := r.sandboxes[uid]; s != nil && s.network != nil {
		return s.network.Address
	}
	return at
}

// MakeNetwork creates the network of a pod that has a sandbox.
func (r *Runtime) MakeNetwork(pod *corev1.Pod) error {
	_, err := r.networkOf(pod)
	return err
}

// networkOf returns the network of a pod's programs, nil for csisim's network. The first program
// creates it.
func (r *Runtime) networkOf(pod *corev1.Pod) (*machine.Network, error) {
	networks := r.options.Networks
	switch s := r.sandboxes[pod.UID]; {
	case networks == nil:
		return nil, nil
	case pod.Spec.HostNetwork:
		return networks.Node, nil
	case s == nil:
		return nil, fmt.Errorf("pod %s has no sandbox", pod.Name)
	case s.network == nil:
		at, err := r.freeAddress()
		if err != nil {
			return nil, err
		}
		if s.network, err = machine.NewNetwork(at, networks.Join); err != nil {
			return nil, err
		}
		r.latest = at
		return s.network, nil
	default:
		return s.network, nil
	}
}

// freeAddress returns the next unused address after the latest one.
func (r *Runtime) freeAddress() (netip.Addr, error) {
	taken := map[netip.Addr]bool{r.options.Networks.Pods.Masked().Addr(): true, r.options.Networks.Pods.Masked().Addr().Next(): true}
	for _, uid := range r.Pods() {
		taken[r.Address(uid)] = true
	}
	at := r.latest
	for range 1 << (32 - r.options.Networks.Pods.Bits()) {
		at = at.Next()
		if !r.options.Networks.Pods.Contains(at.Next()) { // the last one is for broadcasts
			at = r.options.Networks.Pods.Masked().Addr()
		}
		if !taken[at] {
			return at, nil
		}
	}
	return at, errors.New("failed to allocate for range 0: no IP addresses available in range set: " + r.options.Networks.Pods.String())
}

// Dialer returns the function by which programs in the container's pod connect.
func (c *Program) Dialer() (machine.Dial, error) {
	own, err := c.runtime.networkOf(c.pod)
	return dialer(own), err
}

// Dialer returns the function by which the node connects.
func (r *Runtime) Dialer() machine.Dial {
	if r.options.Networks == nil {
		return dialer(nil)
	}
	return dialer(r.options.Networks.Node)
}

// dialer returns the function by which programs in a network connect; nil means csisim's network.
func dialer(from *machine.Network) machine.Dial {
	if from == nil {
		return new(net.Dialer).DialContext
	}
	return from.Dial
}

// leaveNamespaces ends the namespaces of a sandbox.
func (s *sandbox) leaveNamespaces() {
	if s.network != nil {
		s.network.Close()
	}
	if s.ipc != nil {
		s.ipc.Close()
	}
}
