// Package informers provides the informers of the controllers of replicated pods and of services.
package informers

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workload"
	"github.com/csisim/csisim/internal/world/workqueue"
)

// Owners queue the objects of a kind that owns pods when they or their pods change, and maintain
// their expectations.
func Owners[T store.Object](kind string, owners *workqueue.Queue[store.Key], expected *workload.Expectations) []component.Source {
	return []component.Source{
		component.On(func(e store.Event[T]) {
			owners.Add(store.KeyOf(e.Object))
			if e.Type == store.Deleted {
				expected.Forget(e.Object.GetUID())
			}
		}),
		component.On(func(e store.Event[*corev1.Pod]) {
			if owner, uid, ok := workload.Owner(e.Object, kind); ok {
				expected.Saw(uid, e.Object, e.Type == store.Deleted)
				owners.Add(owner)
			}
		}),
	}
}
