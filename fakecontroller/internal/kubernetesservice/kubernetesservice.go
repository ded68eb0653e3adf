// Package kubernetesservice is a part of the kube-apiserver. It creates the service "kubernetes" in
// the namespace "default", with the server's own address behind it. It also creates the namespaces
// and priority classes that every cluster has. (kubernetes v1.36.3, pkg/controlplane/controller,
// pkg/registry/scheduling/rest)
package kubernetesservice

import (
	"net/netip"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/address"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

const (
	name   = "kubernetes"
	period = 10 * time.Second
)

// Controller keeps these objects in the API.
type Controller struct {
	*component.Component
	address netip.AddrPort
}

// Start creates the objects for an API server that serves at an address, and recreates deleted
// ones.
func Start(w *component.World, address netip.AddrPort) *Controller {
	c := &Controller{w.Start("kube-apiserver", ""), address}
	c.Go("kubernetes service", c.run)
	c.Go("system priority classes", c.makePriorityClasses)
	return c
}

// makePriorityClasses creates the system's classes once. Classes that a deletecollection has
// deleted are missing until the server restarts. [AddSystemPriorityClasses]
func (c *Controller) makePriorityClasses(p *kernel.Process) {
	for _, class := range kind.SystemPriorityClasses() {
		keep(p, c, class)
	}
}

func (c *Controller) run(p *kernel.Process) {
	for {
		for _, namespace := range []string{metav1.NamespacePublic, corev1.NamespaceNodeLease} {
			keep(p, c, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}})
		}
		if c.address.IsValid() {
			keep(p, c, c.service())
			keep(p, c, c.endpoints())
			keep(p, c, c.endpointSlice())
		}
		p.Idle(period)
	}
}

// keep makes an object that is missing. If that fails, the next round tries again.
func keep[T store.Object](p *kernel.Process, c *Controller, obj T) {
	if _, there := component.Cached[T](c.Component, store.KeyOf(obj)); there {
		return
	}
	if _, err := component.Create(p, c.Component, obj); err != nil && !apierrors.IsAlreadyExists(err) {
		return
	}
}

func (c *Controller) meta() metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: name}
}

func (c *Controller) service() *corev1.Service {
	s := &corev1.Service{ObjectMeta: c.meta(), Spec: corev1.ServiceSpec{
		ClusterIP: address.API.String(), ClusterIPs: []string{address.API.String()},
		Ports: []corev1.ServicePort{{Name: "https", Protocol: corev1.ProtocolTCP, Port: 443, TargetPort: intstr.FromInt32(c.port())}},
	}}
	s.Labels = map[string]string{"component": "apiserver", "provider": "kubernetes"}
	return s
}

//lint:ignore SA1019 the real server still makes it
func (c *Controller) endpoints() *corev1.Endpoints {
	//lint:ignore SA1019 the real server still makes it
	e := &corev1.Endpoints{ObjectMeta: c.meta(), Subsets: []corev1.EndpointSubset{{
		Addresses: []corev1.EndpointAddress{{IP: c.address.Addr().String()}},
		Ports:     []corev1.EndpointPort{{Name: "https", Port: c.port(), Protocol: corev1.ProtocolTCP}},
	}}}
	e.Labels = map[string]string{discoveryv1.LabelSkipMirror: "true"}
	return e
}

func (c *Controller) endpointSlice() *discoveryv1.EndpointSlice {
	s := &discoveryv1.EndpointSlice{
		ObjectMeta: c.meta(), AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints: []discoveryv1.Endpoint{{
			Addresses: []string{c.address.Addr().String()}, Conditions: discoveryv1.EndpointConditions{Ready: new(true)},
		}},
		Ports: []discoveryv1.EndpointPort{{Name: new("https"), Port: new(c.port()), Protocol: new(corev1.ProtocolTCP)}},
	}
	if c.address.Addr().Is6() {
		s.AddressType = discoveryv1.AddressTypeIPv6
	}
	s.Labels = map[string]string{discoveryv1.LabelServiceName: name}
	return s
}

func (c *Controller) port() int32 { return int32(c.address.Port()) }
