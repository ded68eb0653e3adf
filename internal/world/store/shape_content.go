package store

import (
	"maps"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// content is the shape of custom resources, which are JSON objects. "status" is the status if it is
// a subresource. Everything except status and metadata is the spec.
type content struct{ status bool }

func contentOf(obj Object) map[string]any { return obj.(*unstructured.Unstructured).Object }

func (c content) hasSpec() bool   { return true }
func (c content) hasStatus() bool { return c.status }

func (c content) isSpec(name string) bool {
	return name != "metadata" && !(c.status && name == "status")
}

func (c content) keepSpec(obj, old Object) {
	now, was := contentOf(obj), contentOf(old)
	maps.DeleteFunc(now, func(name string, _ any) bool { return c.isSpec(name) })
	for name, value := range was { // any order: names are independent
		if c.isSpec(name) {
			now[name] = value
		}
	}
}

func (c content) keepStatus(obj, old Object) {
	status, there := contentOf(old)["status"]
	if !there {
		c.clearStatus(obj)
		return
	}
	contentOf(obj)["status"] = status
}

func (c content) clearStatus(obj Object) { delete(contentOf(obj), "status") }

func (c content) sameSpec(a, b Object) bool {
	x, y := maps.Clone(contentOf(a)), maps.Clone(contentOf(b))
	for _, side := range []map[string]any{x, y} {
		maps.DeleteFunc(side, func(name string, _ any) bool { return !c.isSpec(name) })
	}
	return equality.Semantic.DeepEqual(x, y)
}

func (c content) sameStatus(a, b Object) bool {
	return equality.Semantic.DeepEqual(contentOf(a)["status"], contentOf(b)["status"])
}

func (c content) draft(Object, Part) (Object, bool) { return nil, false }

// shallowContent returns a copy that shares all but the outermost level.
func shallowContent(obj *unstructured.Unstructured) *unstructured.Unstructured {
	fresh := &unstructured.Unstructured{Object: maps.Clone(obj.Object)}
	if metadata, ok := obj.Object["metadata"].(map[string]any); ok {
		fresh.Object["metadata"] = runtime.DeepCopyJSON(metadata)
	}
	return fresh
}
