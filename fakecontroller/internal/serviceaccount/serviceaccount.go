// Package serviceaccount is the service account controller of the
// kube-controller-manager: every namespace has an account for pods that name none.
package serviceaccount

import (
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workqueue"
)

// name of the account in every namespace.
const name = "default"

// Controller is one running service account controller.
type Controller struct {
	*component.Component
	namespaces *workqueue.Queue[string]
}

// Start starts the controller.
func Start(w *component.World) *Controller {
	c := &Controller{Component: w.Start("serviceaccount-controller", "")}
	c.namespaces = workqueue.New("namespaces", workqueue.Default, c.Go, c.sync)
	c.Inform(component.Informers{
		News: "changes of namespaces and their accounts",
		Sources: []component.Source{
			component.On(func(e store.Event[*corev1.Namespace]) {
				if e.Type != store.Deleted {
					c.namespaces.Add(e.Object.Name)
				}
			}),
			component.On(func(e store.Event[*corev1.ServiceAccount]) {
				if e.Type == store.Deleted && e.Object.Name == name {
					c.namespaces.Add(e.Object.Namespace)
				}
			}),
		},
	})
	return c
}

// sync makes the account of a namespace that is there to stay.
func (c *Controller) sync(p *kernel.Process, namespace string) error {
	is, ok := component.Cached[*corev1.Namespace](c.Component, store.Key{Name: namespace})
	if !ok || is.Status.Phase != corev1.NamespaceActive {
		return nil
	}
	if _, ok := component.Cached[*corev1.ServiceAccount](c.Component, store.Key{Namespace: namespace, Name: name}); ok {
		return nil
	}
	_, err := component.Create(p, c.Component, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}})
	if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) || apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}
