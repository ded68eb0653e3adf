// Package endpoints is the endpoints and the endpoint slice controller of the
// kube-controller-manager: where the pods of a service are reached. Pods without an address
// are not among them; those whose containers are records have none.
// (kubernetes v1.36.3, pkg/controller/endpoint, pkg/controller/endpointslice)
package endpoints

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workload"
	"github.com/csisim/csisim/internal/world/workqueue"
)

type service = *corev1.Service

// Controller is both controllers.
type Controller struct {
	*component.Component
	services *workqueue.Queue[store.Key]
}

// Start runs both controllers.
func Start(w *component.World) *Controller {
	c := &Controller{Component: w.Start("endpoint-controller", "")}
	options := workqueue.Default
	options.Workers = 5
	c.services = workqueue.New("services", options, c.Go, c.sync)
	c.Go("informers", c.follow)
	return c
}

// follow looks at pods from the first service with a selector on.
func (c *Controller) follow(p *kernel.Process) {
	services := component.Watch[service](c.Component, p)
	p.Wait("the first service", func() bool { return services.Len() > 0 })
	pods := component.Watch[*corev1.Pod](c.Component, p)
	for {
		for e, ok := services.Next(); ok; e, ok = services.Next() {
			c.services.Add(store.KeyOf(e.Object))
		}
		for e, ok := pods.Next(); ok; e, ok = pods.Next() {
			if e.Type == store.Modified && !differs(e.Old, e.Object) {
				continue
			}
			c.addServicesOf(e.Object)
			if e.Type == store.Modified {
				c.addServicesOf(e.Old)
			}
		}
		p.Wait("changes of services and their pods", func() bool { return services.Len()+pods.Len() > 0 })
	}
}

// differs reports whether a change of a pod can matter to a service.
func differs(old, pod *corev1.Pod) bool {
	return old.Status.PodIP != pod.Status.PodIP || workload.Ready(old) != workload.Ready(pod) || old.Status.Phase != pod.Status.Phase ||
		(old.DeletionTimestamp == nil) != (pod.DeletionTimestamp == nil) || !labels.Equals(old.Labels, pod.Labels)
}

func (c *Controller) addServicesOf(pod *corev1.Pod) {
	for s := range store.List[service](c.Cache, pod.Namespace) {
		if selects(s, pod) {
			c.services.Add(store.KeyOf(s))
		}
	}
}

// selects: a service without a selector has endpoints that somebody else keeps.
func selects(s service, pod *corev1.Pod) bool {
	return len(s.Spec.Selector) > 0 && labels.SelectorFromSet(s.Spec.Selector).Matches(labels.Set(pod.Labels))
}

func (c *Controller) sync(p *kernel.Process, key store.Key) error {
	s, ok := component.Cached[service](c.Component, key)
	if !ok {
		return c.remove(p, key)
	}
	if len(s.Spec.Selector) == 0 || s.Spec.Type == corev1.ServiceTypeExternalName {
		return nil
	}
	var pods []*corev1.Pod
	for pod := range store.List[*corev1.Pod](c.Cache, s.Namespace) {
		if selects(s, pod) && pod.Status.PodIP != "" && !workload.Ended(pod) {
			pods = append(pods, pod)
		}
	}
	slices.SortFunc(pods, func(a, b *corev1.Pod) int { return cmp.Compare(a.Name, b.Name) })
	if err := c.writeEndpoints(p, s, pods); err != nil {
		return err
	}
	return c.writeSlice(p, s, pods)
}

// serves reports whether a pod is sent requests: it is ready, or the service does not ask.
func serves(s service, pod *corev1.Pod) bool {
	return s.Spec.PublishNotReadyAddresses || workload.Ready(pod) && pod.DeletionTimestamp == nil
}

// portOf is the number of the port of a pod that a service port leads to; false if the pod
// has no port of that name.
func portOf(port corev1.ServicePort, pod *corev1.Pod) (int32, bool) {
	if port.TargetPort.StrVal == "" {
		return port.TargetPort.IntVal, true
	}
	for _, container := range pod.Spec.Containers {
		for _, p := range container.Ports {
			if p.Name == port.TargetPort.StrVal && cmp.Or(p.Protocol, corev1.ProtocolTCP) == port.Protocol {
				return p.ContainerPort, true
			}
		}
	}
	return 0, false
}
