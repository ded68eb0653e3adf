// Package store keeps every object of a simulated cluster in one versioned
// database and gives writes the semantics of the Kubernetes API server.
//
// Stored objects are immutable: reads share them, writes replace them. Each write is one
// transaction and one revision. A [Snapshot] is a revision. A [View] is the informer cache of one
// component: a snapshot that may be old and only moves forward.
//
// A Store is not safe for concurrent use; the kernel runs one process at a time.
package store

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Object is any Kubernetes object, as a pointer to its Go struct.
type Object interface {
	metav1.Object
	runtime.Object
}

// Key identifies an object within its resource. Namespace is empty for cluster-scoped kinds.
type Key struct{ Namespace, Name string }

// KeyOf returns the key of obj.
func KeyOf(obj metav1.Object) Key {
	return Key{Namespace: obj.GetNamespace(), Name: obj.GetName()}
}

// String returns "namespace/name", or "name" if there is no namespace.
func (k Key) String() string {
	if k.Namespace == "" {
		return k.Name
	}
	return k.Namespace + "/" + k.Name
}

// compare sorts like the database, by String.
func (k Key) compare(other Key) int {
	if k.Namespace == other.Namespace {
		return strings.Compare(k.Name, other.Name)
	}
	return strings.Compare(k.String(), other.String())
}
