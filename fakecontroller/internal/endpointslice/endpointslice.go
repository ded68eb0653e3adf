// Package endpointslice is the endpoint slice controller of the kube-controller-manager. It writes
// the addresses of a service's pods. A service owns its slice, so both are deleted together.
// (kubernetes v1.36.3, pkg/controller/endpointslice)
package endpointslice

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workload"
	"github.com/csisim/csisim/internal/world/workload/informers"
	"github.com/csisim/csisim/internal/world/workqueue"
)

const managedBy = "endpointslice-controller.k8s.io"

// Controller is a running endpoint slice controller.
type Controller struct {
	*component.Component
	triggers workload.Triggers
}

// Start runs the endpoint slice controller.
func Start(w *component.World) *Controller {
	c := &Controller{w.Start("endpoint-slice-controller", ""), workload.Triggers{}}
	c.Inform(informers.Services(c.Component, workqueue.New("services", workqueue.Workers(5), c.Go, c.sync)))
	return c
}

func (c *Controller) sync(p *kernel.Process, key store.Key) error {
	s, ok := component.Cached[*corev1.Service](c.Component, key)
	if !ok {
		c.triggers.Forget(key)
		return nil
	}
	if !workload.HasEndpoints(s) {
		return nil
	}
	return c.write(p, s, workload.Endpoints(c.Cache, s))
}

// write keeps one slice, which suffices for the pods of a simulation. If a named port has different
// numbers in the pods, the number in the first pod counts.
func (c *Controller) write(p *kernel.Process, s *corev1.Service, pods []*corev1.Pod) error {
	wanted := &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: s.Namespace, GenerateName: s.Name + "-", Labels: labelsOf(s),
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(s, corev1.SchemeGroupVersion.WithKind("Service"))},
		},
		AddressType: discoveryv1.AddressTypeIPv4, Ports: slicePorts(s, pods),
	}
	for _, pod := range pods {
		wanted.Endpoints = append(wanted.Endpoints, c.endpoint(s, pod))
	}
	trigger := c.triggers.Next(s, pods)
	there := c.sliceOf(s)
	if there == nil {
		setTrigger(wanted, trigger)
		_, err := component.Create(p, c.Component, wanted)
		return err
	}
	same := equality.Semantic.DeepEqual
	if same(there.Endpoints, wanted.Endpoints) && same(there.Ports, wanted.Ports) && same(there.Labels, wanted.Labels) {
		return nil
	}
	changed := there.DeepCopy()
	changed.Endpoints, changed.Ports, changed.Labels = wanted.Endpoints, wanted.Ports, wanted.Labels
	setTrigger(changed, trigger)
	_, err := component.Update(p, c.Component, changed)
	return err
}

// setTrigger annotates a slice with the time of the change that triggered the write, or removes the
// annotation if the time is empty. [utils.go addTriggerTimeAnnotation]
func setTrigger(slice *discoveryv1.EndpointSlice, at string) {
	if at == "" {
		delete(slice.Annotations, corev1.EndpointsLastChangeTriggerTime)
		return
	}
	metav1.SetMetaDataAnnotation(&slice.ObjectMeta, corev1.EndpointsLastChangeTriggerTime, at)
}

// labelsOf returns the labels of the service, with the controller's own. [utils.go
// setEndpointSliceLabels]
func labelsOf(s *corev1.Service) map[string]string {
	all := maps.Clone(s.Labels)
	if all == nil {
		all = map[string]string{}
	}
	all[discoveryv1.LabelServiceName], all[discoveryv1.LabelManagedBy] = s.Name, managedBy
	delete(all, corev1.IsHeadlessService)
	if s.Spec.ClusterIP == corev1.ClusterIPNone {
		all[corev1.IsHeadlessService] = ""
	}
	return all
}

// endpoint returns the address of a pod, and its zone. [utils.go podToEndpoint]
func (c *Controller) endpoint(s *corev1.Service, pod *corev1.Pod) discoveryv1.Endpoint {
	ready, ends := workload.Serves(s, pod), pod.DeletionTimestamp != nil
	e := discoveryv1.Endpoint{
		Addresses: []string{pod.Status.PodIP}, Hostname: workload.HostnameIn(s, pod), NodeName: &pod.Spec.NodeName, TargetRef: workload.TargetRef(pod),
		Conditions: discoveryv1.EndpointConditions{Ready: &ready, Serving: new(workload.Holds(pod, corev1.PodReady)), Terminating: &ends},
	}
	node, ok := store.Get[*corev1.Node](c.Store, store.Key{Name: pod.Spec.NodeName})
	if ok && node.Labels[corev1.LabelTopologyZone] != "" {
		e.Zone = new(node.Labels[corev1.LabelTopologyZone])
	}
	return e
}

func (c *Controller) sliceOf(s *corev1.Service) *discoveryv1.EndpointSlice {
	for slice := range store.Indexed[*discoveryv1.EndpointSlice](c.Cache, store.OwnerUID, string(s.UID)) {
		return slice
	}
	return nil
}

func slicePorts(s *corev1.Service, pods []*corev1.Pod) []discoveryv1.EndpointPort {
	var ports []discoveryv1.EndpointPort
	for _, port := range s.Spec.Ports {
		for _, pod := range pods {
			if number, ok := workload.TargetPort(port, pod); ok {
				ports = append(ports, discoveryv1.EndpointPort{Name: &port.Name, Port: &number, Protocol: &port.Protocol, AppProtocol: port.AppProtocol})
				break
			}
		}
	}
	return ports
}
