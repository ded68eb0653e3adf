// Package manifest reads Kubernetes manifests like kubectl, into the typed objects of k8s.io/api,
// and reports every mistake with its line, column and path.
package manifest

import (
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/csisim/csisim/internal/input/strict"
)

// Object is one object of a manifest with its position.
type Object struct {
	runtime.Object
	File string
	At   strict.Position // the position of its first key

	path      string // path to the object in its document
	positions strict.Positions
}

// Problem returns a mistake in the object's field at the path, such as spec.nodeName.
func (o Object) Problem(path, found, want, suggestion string) strict.Problem {
	if path != "" && o.path != "" {
		path = "." + path
	}
	path = o.path + path
	at := o.positions.At(path)
	return strict.Problem{
		File: o.File, Line: at.Line, Column: at.Column,
		Path: path, Found: found, Want: want, Suggestion: suggestion,
	}
}

// Says reports whether the manifest itself sets the field at the path.
func (o Object) Says(path string) bool {
	if path != "" && o.path != "" {
		path = "." + path
	}
	_, ok := o.positions[o.path+path]
	return ok
}

// StandWhere gives the object the position of another object from the same text.
func (o *Object) StandWhere(other Object) {
	o.File, o.At, o.path, o.positions = other.File, other.At, other.path, other.positions
}

// IsCustom reports whether the kind is not built in, so that a definition has to add it.
func (o Object) IsCustom() bool {
	_, custom := o.Object.(*unstructured.Unstructured)
	return custom
}

// NoKind returns the mistake of an object if its kind is neither built in nor defined, or is
// defined only in these other versions.
func (o Object) NoKind(versions ...string) strict.Problem {
	gvk := o.GetObjectKind().GroupVersionKind()
	if len(versions) > 0 {
		found, want := fmt.Sprintf("version %q", gvk.GroupVersion()), fmt.Sprintf("%s for kind %s", strings.Join(versions, " or "), gvk.Kind)
		return o.Problem("apiVersion", found, want, strict.Nearest(gvk.GroupVersion().String(), versions))
	}
	field, m := noKind(gvk)
	if field == "kind" {
		m.want += ", or one that a CustomResourceDefinition before this object defines"
	}
	return o.Problem(field, m.found, m.want, strict.Nearest(m.word, m.known))
}

// Meta returns the object's metadata.
func (o Object) Meta() metav1.Object { return o.Object.(metav1.Object) }

// String names the object and its position: Pod default/web-0 (scenarios/x.yaml:14). It omits a
// namespace that the manifest omits, and shows a generated name as its prefix with a star.
func (o Object) String() string {
	name := o.Meta().GetName()
	if name == "" {
		name = o.Meta().GetGenerateName() + "*"
	}
	if namespace := o.Meta().GetNamespace(); namespace != "" {
		name = namespace + "/" + name
	}
	return fmt.Sprintf("%s %s (%s:%d)", o.GetObjectKind().GroupVersionKind().Kind, name, o.File, o.At.Line)
}
