package apiserver

import (
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/store"
)

// warningsOfDefined returns the real server's warnings about custom resources. It does not repeat
// warnings about the previous object.
func (k *servedKind) warningsOfDefined(obj, before store.Object) []string {
	if k.custom == nil && k.types() != moreTypes() {
		return nil
	}
	var texts []string
	for _, name := range slices.Sorted(slices.Values(obj.GetFinalizers())) {
		if before == nil || !slices.Contains(before.GetFinalizers(), name) {
			texts = append(texts, finalizerWarning(name)...)
		}
	}
	return texts
}

func finalizerWarning(name string) []string {
	standard := []string{metav1.FinalizerOrphanDependents, metav1.FinalizerDeleteDependents, "kubernetes"}
	if strings.Contains(name, "/") || slices.Contains(standard, name) {
		return nil
	}
	better := "a domain-qualified finalizer name"
	if strings.Contains(name, ".") {
		better += " including a path (/)"
	}
	return []string{fmt.Sprintf("metadata.finalizers: %q: prefer %s to avoid accidental conflicts with other finalizer writers", name, better)}
}
