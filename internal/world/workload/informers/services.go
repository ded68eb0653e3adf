package informers

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workload"
	"github.com/csisim/csisim/internal/world/workqueue"
)

// Services returns the informers that queue services when they or their pods change.
func Services(c *component.Component, services *workqueue.Queue[store.Key]) component.Informers {
	addServicesOf := func(pod *corev1.Pod) {
		for s := range store.List[*corev1.Service](c.Cache, pod.Namespace) {
			if workload.Selects(s, pod) {
				services.Add(store.KeyOf(s))
			}
		}
	}
	return component.Informers{
		First: "the first service", News: "changes of services and their pods",
		Sources: []component.Source{
			component.On(func(e store.Event[*corev1.Service]) { services.Add(store.KeyOf(e.Object)) }),
			component.On(func(e store.Event[*corev1.Pod]) {
				if e.Type == store.Modified && !endpointDiffers(e.Old, e.Object) {
					return
				}
				addServicesOf(e.Object)
				if e.Type == store.Modified {
					addServicesOf(e.Old)
				}
			}),
		},
	}
}

// endpointDiffers reports whether a change of a pod can matter to a service.
func endpointDiffers(old, pod *corev1.Pod) bool {
	return old.Status.PodIP != pod.Status.PodIP || workload.Ready(old) != workload.Ready(pod) || old.Status.Phase != pod.Status.Phase ||
		(old.DeletionTimestamp == nil) != (pod.DeletionTimestamp == nil) || !labels.Equals(old.Labels, pod.Labels)
}
