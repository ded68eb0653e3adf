package manifest

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/csisim/csisim/internal/input/strict"
)

const wantObject = "a Kubernetes object, a map with apiVersion, kind and metadata"

// object reads one object, or the items of a List.
func (r *reading) object(n *strict.Node) {
	if !n.IsMap() {
		n.ReportWrong(wantObject)
		return
	}
	apiVersion, versionOK := header(n, "apiVersion", `the API's version, such as "v1" or "storage.k8s.io/v1"`)
	kind, kindOK := header(n, "kind", `the object's kind, such as "Pod"`)
	if !versionOK || !kindOK {
		return
	}
	version, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		n.Value("apiVersion").ReportWrong(`group/version, such as "storage.k8s.io/v1"`)
		return
	}
	if items := n.Value("items"); items != nil && strings.HasSuffix(kind, "List") {
		r.list(items)
		return
	}
	gvk := current(version.WithKind(kind))
	typed := newObject(n, gvk)
	if typed == nil {
		return
	}
	if custom, ok := typed.(*unstructured.Unstructured); ok {
		decodeCustom(n, custom)
	} else {
		n.Decode(typed)
	}
	typed.GetObjectKind().SetGroupVersionKind(gvk)
	checkName(n, kind, typed.(metav1.Object))
	r.objects = append(r.objects, Object{
		Object: typed, File: n.File(), At: n.Position(), path: n.Path(), positions: r.positions,
	})
}

// decodeCustom reads an object that has no Go type, except for its metadata.
func decodeCustom(n *strict.Node, into *unstructured.Unstructured) {
	n.Decode(&into.Object)
	if metadata := n.Value("metadata"); metadata != nil {
		metadata.Decode(&metav1.ObjectMeta{})
	}
}

// list reads the items of kind List, which kubectl get -o yaml writes.
func (r *reading) list(items *strict.Node) {
	if items.IsNull() {
		return
	}
	if !items.IsList() {
		items.ReportWrong("a list of objects")
		return
	}
	for _, item := range items.Items() {
		r.object(item)
	}
}

// header reads one of the two fields of an object's type.
func header(n *strict.Node, name, want string) (string, bool) {
	value := n.Value(name)
	if value == nil {
		n.ReportMissing(name, want)
		return "", false
	}
	text, ok := value.Text()
	if !ok || text == "" {
		value.ReportWrong(want)
		return "", false
	}
	return text, true
}

// checkName reports an object without a name, unless its metadata already has a problem.
func checkName(n *strict.Node, kind string, object metav1.Object) {
	if object.GetName() != "" || object.GetGenerateName() != "" {
		return
	}
	metadata := n.Value("metadata")
	switch {
	case metadata == nil || metadata.IsNull():
		n.ReportMissing("metadata", "a map with a name or a generateName")
	case metadata.IsMap() && isUnset(metadata.Value("name")):
		metadata.ReportMissing("name", "the name of the "+kind+", or a generateName")
	}
}

func isUnset(n *strict.Node) bool {
	if n == nil || n.IsNull() {
		return true
	}
	text, ok := n.Text()
	return ok && text == ""
}
