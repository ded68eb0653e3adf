package store

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func (s *Store) createNamespaces(names ...string) {
	for _, name := range names {
		if _, err := Create(s, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}); err != nil {
			panic(fmt.Errorf("create namespace %s: %w", name, err))
		}
	}
}

// FinalizeNamespace replaces the finalizers of a namespace's spec, its labels and
// its annotations, as the finalize subresource does. A namespace that is being
// deleted goes with the last of the finalizers.
func FinalizeNamespace(s *Store, given *corev1.Namespace) (*corev1.Namespace, error) {
	key := Key{Name: given.Name}
	old, ok := Get[*corev1.Namespace](s, key)
	if !ok {
		return nil, NotFound[*corev1.Namespace](key)
	}
	if err := resourceFor[*corev1.Namespace]().checkVersion(key, given, old); err != nil {
		return nil, err
	}
	namespace := old.DeepCopy()
	namespace.Labels, namespace.Annotations = given.Labels, given.Annotations
	namespaceRules.fill(namespace)
	namespace.Spec.Finalizers = given.Spec.Finalizers
	finalizers := namespace.Spec.Finalizers
	if old.DeletionTimestamp != nil && len(finalizers) == 0 && len(old.Finalizers) == 0 {
		s.commit(resourceFor[*corev1.Namespace](), key, old, nil)
		return namespace, nil
	}
	return as[*corev1.Namespace](s.commitChange(resourceFor[*corev1.Namespace](), key, old, namespace), nil)
}

// settleNamespace puts an object without a namespace into "default" and refuses
// namespaces that are missing or on their way out.
func (s *Store) settleNamespace(res *Resource, obj Object) error {
	if !res.Namespaced {
		obj.SetNamespace("")
		return nil
	}
	if obj.GetNamespace() == "" {
		obj.SetNamespace(metav1.NamespaceDefault)
	}
	namespace, ok := Get[*corev1.Namespace](s, Key{Name: obj.GetNamespace()})
	if !ok {
		return NotFound[*corev1.Namespace](Key{Name: obj.GetNamespace()})
	}
	if namespace.DeletionTimestamp == nil {
		return nil
	}
	return terminating(res, obj)
}

// terminating is the refusal to create an object in a namespace that is being
// deleted.
func terminating(res *Resource, obj Object) error {
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
