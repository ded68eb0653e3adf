// Package rootca is the root CA certificate publisher of the kube-controller-manager. It puts a
// config map with the CA certificate of the API server into every namespace. (kubernetes v1.36.3,
// pkg/controller/certificates/rootcacertpublisher)
package rootca

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workqueue"
)

// Name is the name of the config map in every namespace.
const Name = "kube-root-ca.crt"

const (
	descriptionAnnotation = "kubernetes.io/description"
	description           = "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal service IP or kubernetes.default.svc. " +
		"No other usage is guaranteed across distributions of Kubernetes clusters."
)

// Controller is a running publisher.
type Controller struct {
	*component.Component
	authority  string
	namespaces *workqueue.Queue[string]
}

// Start runs the publisher of a certificate in PEM.
func Start(w *component.World, authority []byte) *Controller {
	c := &Controller{Component: w.Start("root-ca-certificate-publisher-controller", ""), authority: string(authority)}
	c.namespaces = workqueue.New("namespaces", workqueue.Default, c.Go, c.sync)
	c.Inform(component.Informers{
		News: "changes of namespaces and their certificates",
		Sources: []component.Source{
			component.On(func(e store.Event[*corev1.Namespace]) {
				if e.Type != store.Deleted {
					c.namespaces.Add(e.Object.Name)
				}
			}),
			component.On(func(e store.Event[*corev1.ConfigMap]) {
				if e.Type != store.Added && e.Object.Name == Name {
					c.namespaces.Add(e.Object.Namespace)
				}
			}),
		},
	})
	return c
}

// sync creates or repairs the config map.
func (c *Controller) sync(p *kernel.Process, namespace string) error {
	is, ok := component.Cached[*corev1.Namespace](c.Component, store.Key{Name: namespace})
	if !ok || is.Status.Phase != corev1.NamespaceActive {
		return nil
	}
	data := map[string]string{"ca.crt": c.authority}
	there, ok := component.Cached[*corev1.ConfigMap](c.Component, store.Key{Namespace: namespace, Name: Name})
	if !ok {
		_, err := component.Create(p, c.Component, &corev1.ConfigMap{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: Name, Annotations: map[string]string{descriptionAnnotation: description}},
			Data:       data,
		})
		if apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) || apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	}
	if maps.Equal(there.Data, data) && there.Annotations[descriptionAnnotation] != "" {
		return nil
	}
	mended := there.DeepCopy()
	mended.Data = data
	metav1.SetMetaDataAnnotation(&mended.ObjectMeta, descriptionAnnotation, description)
	_, err := component.Update(p, c.Component, mended)
	return err
}
