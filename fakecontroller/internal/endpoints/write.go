package endpoints

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workload"
)

const managedBy = "endpointslice-controller.k8s.io"

// remove takes away the endpoints of a service that is gone; its slices go with it, for it
// owns them.
func (c *Controller) remove(p *kernel.Process, key store.Key) error {
	//lint:ignore SA1019 the real controller still makes them
	_, err := component.Delete[*corev1.Endpoints](p, c.Component, key)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func (c *Controller) writeEndpoints(p *kernel.Process, s service, pods []*corev1.Pod) error {
	//lint:ignore SA1019 the real controller still makes them
	wanted := &corev1.Endpoints{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: s.Name, Labels: s.Labels}}
	for _, port := range s.Spec.Ports {
		wanted.Subsets = append(wanted.Subsets, subsets(s, port, pods)...)
	}
	//lint:ignore SA1019 the real controller still makes them
	there, ok := component.Cached[*corev1.Endpoints](c.Component, store.KeyOf(s))
	if !ok {
		_, err := component.Create(p, c.Component, wanted)
		return err
	}
	if equality.Semantic.DeepEqual(there.Subsets, wanted.Subsets) && equality.Semantic.DeepEqual(there.Labels, wanted.Labels) {
		return nil
	}
	wanted.ResourceVersion = there.ResourceVersion
	_, err := component.Update(p, c.Component, wanted)
	return err
}

// subsets are the addresses behind one port of a service, by the number that it has in the
// pods.
//
//lint:ignore SA1019 the real controller still makes them
func subsets(s service, port corev1.ServicePort, pods []*corev1.Pod) []corev1.EndpointSubset {
	//lint:ignore SA1019 the real controller still makes them
	var all []corev1.EndpointSubset
	for _, pod := range pods {
		number, ok := portOf(port, pod)
		if !ok {
			continue
		}
		//lint:ignore SA1019 the real controller still makes them
		i := slices.IndexFunc(all, func(s corev1.EndpointSubset) bool { return s.Ports[0].Port == number })
		if i < 0 {
			i = len(all)
			//lint:ignore SA1019 the real controller still makes them
			all = append(all, corev1.EndpointSubset{Ports: []corev1.EndpointPort{{Name: port.Name, Port: number, Protocol: port.Protocol}}})
		}
		address := corev1.EndpointAddress{IP: pod.Status.PodIP, NodeName: &pod.Spec.NodeName, TargetRef: reference(pod)}
		if serves(s, pod) {
			all[i].Addresses = append(all[i].Addresses, address)
		} else {
			all[i].NotReadyAddresses = append(all[i].NotReadyAddresses, address)
		}
	}
	return all
}

func reference(pod *corev1.Pod) *corev1.ObjectReference {
	return &corev1.ObjectReference{Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID}
}

// writeSlice keeps one slice, which is enough for the pods of a simulation. Named ports that
// have other numbers in other pods are those of the first.
func (c *Controller) writeSlice(p *kernel.Process, s service, pods []*corev1.Pod) error {
	wanted := &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: s.Namespace, GenerateName: s.Name + "-",
			Labels:          map[string]string{discoveryv1.LabelServiceName: s.Name, discoveryv1.LabelManagedBy: managedBy},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(s, corev1.SchemeGroupVersion.WithKind("Service"))},
		},
		AddressType: discoveryv1.AddressTypeIPv4, Ports: slicePorts(s, pods),
	}
	if s.Spec.ClusterIP == corev1.ClusterIPNone {
		wanted.Labels[corev1.IsHeadlessService] = ""
	}
	for _, pod := range pods {
		ready, ends := serves(s, pod), pod.DeletionTimestamp != nil
		wanted.Endpoints = append(wanted.Endpoints, discoveryv1.Endpoint{
			Addresses: []string{pod.Status.PodIP}, NodeName: &pod.Spec.NodeName, TargetRef: reference(pod),
			Conditions: discoveryv1.EndpointConditions{Ready: &ready, Serving: new(workload.HasReadyCondition(pod)), Terminating: &ends},
		})
	}
	there := c.sliceOf(s)
	if there == nil {
		_, err := component.Create(p, c.Component, wanted)
		return err
	}
	if equality.Semantic.DeepEqual(there.Endpoints, wanted.Endpoints) && equality.Semantic.DeepEqual(there.Ports, wanted.Ports) {
		return nil
	}
	changed := there.DeepCopy()
	changed.Endpoints, changed.Ports, changed.Labels = wanted.Endpoints, wanted.Ports, wanted.Labels
	_, err := component.Update(p, c.Component, changed)
	return err
}

func (c *Controller) sliceOf(s service) *discoveryv1.EndpointSlice {
	for slice := range store.Indexed[*discoveryv1.EndpointSlice](c.Cache, store.OwnerUID, string(s.UID)) {
		return slice
	}
	return nil
}

func slicePorts(s service, pods []*corev1.Pod) []discoveryv1.EndpointPort {
	var ports []discoveryv1.EndpointPort
	for _, port := range s.Spec.Ports {
		for _, pod := range pods {
			if number, ok := portOf(port, pod); ok {
				ports = append(ports, discoveryv1.EndpointPort{Name: &port.Name, Port: &number, Protocol: &port.Protocol})
				break
			}
		}
	}
	return ports
}
