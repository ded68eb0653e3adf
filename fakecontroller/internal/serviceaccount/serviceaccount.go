// Package serviceaccount is the service account controller of the kube-controller-manager. It
// creates the default service account in every namespace.
package serviceaccount

import (
	"slices"

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

// initial lists the namespaces that every cluster begins with. Their accounts exist as soon as the
// API is served.
var initial = []string{metav1.NamespaceDefault, metav1.NamespaceSystem}

// Controller is a running service account controller.
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
				if e.Type != store.Deleted && !slices.Contains(initial, e.Object.Name) {
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

// StartInitial makes the accounts of the initial namespaces. Only clients of the API read them.
func StartInitial(w *component.World) {
	c := &Controller{Component: w.Start("serviceaccount-controller", "")}
	c.Go("initial accounts", func(p *kernel.Process) {
		for _, namespace := range initial {
			_ = c.sync(p, namespace) // an existing account stays
		}
	})
}

// sync makes the account of an active namespace.
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
