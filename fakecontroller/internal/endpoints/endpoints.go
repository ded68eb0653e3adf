// Package endpoints is the endpoints controller of the kube-controller-manager. It writes the
// addresses of a service's pods. (kubernetes v1.36.3, pkg/controller/endpoint)
package endpoints

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workload"
	"github.com/csisim/csisim/internal/world/workload/informers"
	"github.com/csisim/csisim/internal/world/workqueue"
)

// Controller is a running endpoints controller.
type Controller struct{ *component.Component }

// Start runs the endpoints controller.
func Start(w *component.World) *Controller {
	c := &Controller{w.Start("endpoint-controller", "")}
	c.Inform(informers.Services(c.Component, workqueue.New("services", workqueue.Workers(5), c.Go, c.sync)))
	return c
}

func (c *Controller) sync(p *kernel.Process, key store.Key) error {
	s, ok := component.Cached[*corev1.Service](c.Component, key)
	switch {
	case !ok:
		return c.remove(p, key)
	case !workload.HasEndpoints(s):
		return nil
	}
	return c.write(p, s, workload.Endpoints(c.Cache, s))
}

// remove deletes the endpoints of a deleted service.
func (c *Controller) remove(p *kernel.Process, key store.Key) error {
	//lint:ignore SA1019 the real controller still makes them
	_, err := component.Delete[*corev1.Endpoints](p, c.Component, key)
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

func (c *Controller) write(p *kernel.Process, s *corev1.Service, pods []*corev1.Pod) error {
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

// subsets returns the addresses behind one port of a service, by the port number in the pods.
//
//lint:ignore SA1019 the real controller still makes them
func subsets(s *corev1.Service, port corev1.ServicePort, pods []*corev1.Pod) []corev1.EndpointSubset {
	//lint:ignore SA1019 the real controller still makes them
	var all []corev1.EndpointSubset
	for _, pod := range pods {
		number, ok := workload.TargetPort(port, pod)
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
		address := corev1.EndpointAddress{IP: pod.Status.PodIP, NodeName: &pod.Spec.NodeName, TargetRef: workload.TargetRef(pod)}
		if name := workload.HostnameIn(s, pod); name != nil {
			address.Hostname = *name
		}
		if workload.Serves(s, pod) {
			all[i].Addresses = append(all[i].Addresses, address)
		} else {
			all[i].NotReadyAddresses = append(all[i].NotReadyAddresses, address)
		}
	}
	return all
}
