package apiserver

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/csisim/csisim/internal/world/store"
)

// fieldPath returns the names in a path such as ".spec.replicas".
func fieldPath(path string) []string { return strings.Split(strings.TrimPrefix(path, "."), ".") }

// selected returns the value of a field that a definition makes selectable.
func selected(obj store.Object, path []string) string {
	value, found, err := unstructured.NestedFieldNoCopy(obj.(*unstructured.Unstructured).Object, path...)
	if err != nil || !found || value == nil {
		return ""
	}
	return fmt.Sprint(value)
}
