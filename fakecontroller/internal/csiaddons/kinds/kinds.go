// Package kinds has the kinds of CSI-Addons as Go types. Fields without omitempty are written even
// if they are empty. The project's programs write whole objects. If such a write adds a field to a
// spec, it raises the generation. A-NF-2, A-VR-6
package kinds

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/csisim/csisim/internal/world/definition/csiaddons"
)

// Object is an object of one of the kinds.
type Object interface {
	metav1.Object
	// Of is its kind.
	Of() schema.GroupVersionKind
}

// Fields has the fields of a kind with a spec and a status.
type Fields[Spec, Status any] struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   Spec   `json:"spec"`
	Status Status `json:"status"`
}

func of(kind string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: csiaddons.Group, Version: csiaddons.Version, Kind: kind}
}

func ofReplication(kind string) schema.GroupVersionKind {
	return schema.GroupVersionKind{Group: csiaddons.ReplicationGroup, Version: csiaddons.Version, Kind: kind}
}
