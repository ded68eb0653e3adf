package kind

import (
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Subresource is a part of an object, or an operation on it.
type Subresource struct {
	Name  string
	Verbs []string
	// GVK is the kind of the subresource, if it differs from the object's kind.
	GVK schema.GroupVersionKind
}

// PartVerbs are the verbs of a subresource that is a part of its object.
var PartVerbs = []string{"get", "patch", "update"}

// ConnectVerbs are the verbs of a subresource that becomes a connection.
var ConnectVerbs = []string{"create", "get"}

// proxyVerbs are the verbs of a subresource that another server answers.
var proxyVerbs = []string{"create", "delete", "get", "patch", "update"}
