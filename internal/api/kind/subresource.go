package kind

import (
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Subresource is a part of an object, or a thing that can be done to it.
type Subresource struct {
	Name  string
	Verbs []string
	// GVK is its kind where that is not the object's.
	GVK schema.GroupVersionKind
}

// PartVerbs are the verbs of a subresource that is a part of its object.
var PartVerbs = []string{"get", "patch", "update"}

// ScaleKind is what is served of objects that have a number of replicas.
var ScaleKind = autoscalingv1.SchemeGroupVersion.WithKind("Scale")

// scalable kinds have a number of replicas.
var scalable = []Subresource{{Name: "scale", Verbs: PartVerbs, GVK: ScaleKind}}
