package kind

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/store"
)

// FinalizeNamespace replaces the finalizers of a namespace's spec, its labels and its annotations,
// like the finalize subresource. A terminating namespace is removed with its last finalizer. A dry
// run stores nothing.
func FinalizeNamespace(s *store.Store, given *corev1.Namespace, dry bool) (*corev1.Namespace, error) {
	key := store.Key{Name: given.Name}
	old, ok := store.Get[*corev1.Namespace](s, key)
	if !ok {
		return nil, store.NotFound[*corev1.Namespace](key)
	}
	if err := resourceOf[*corev1.Namespace]().CheckVersion(key, given, old); err != nil {
		return nil, err
	}
	namespace := old.DeepCopy()
	namespace.Labels, namespace.Annotations = given.Labels, given.Annotations
	namespaceRules.fill(namespace)
	namespace.Spec.Finalizers = given.Spec.Finalizers
	finalizers := namespace.Spec.Finalizers
	if old.DeletionTimestamp != nil && len(finalizers) == 0 && len(old.Finalizers) == 0 {
		if !dry {
			s.Commit(resourceOf[*corev1.Namespace](), key, old, nil)
		}
		return namespace, nil
	}
	if old.DeletionTimestamp.Equal(namespace.DeletionTimestamp) && store.Same(namespace, old) {
		return old, nil
	}
	if !dry {
		s.Commit(resourceOf[*corev1.Namespace](), key, old, namespace)
	}
	return namespace, nil
}

// admitNamespace rejects objects in namespaces that are missing or being deleted.
func admitNamespace(s *store.Store, res *store.Resource, obj store.Object) error {
	namespace, ok := store.Get[*corev1.Namespace](s, store.Key{Name: obj.GetNamespace()})
	if !ok {
		return store.NotFound[*corev1.Namespace](store.Key{Name: obj.GetNamespace()})
	}
	if namespace.DeletionTimestamp == nil {
		return nil
	}
	return terminating(res, obj)
}

// terminating returns the error for an object in a namespace that is being deleted.
func terminating(res *store.Resource, obj store.Object) error {
	namespace := obj.GetNamespace()
	err := apierrors.NewForbidden(res.GVR.GroupResource(), obj.GetName(),
		fmt.Errorf("unable to create new content in namespace %s because it is being terminated", namespace))
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{
		Type:    corev1.NamespaceTerminatingCause,
		Message: fmt.Sprintf("namespace %s is being terminated", namespace),
		Field:   "metadata.namespace",
	})
	return err
}
