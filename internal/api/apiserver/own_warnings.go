package apiserver

import (
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/definition"
	"github.com/csisim/csisim/internal/world/store"
)

// warningsOfDefined are what the real server says of custom resources and their
// definitions. What was there before it does not say again.
func (k *servedKind) warningsOfDefined(obj, before store.Object) []string {
	if d, ok := obj.(*apiextensionsv1.CustomResourceDefinition); ok {
		old, _ := before.(*apiextensionsv1.CustomResourceDefinition)
		return formatWarnings(d, old)
	}
	if k.own == nil && k.types() != moreTypes {
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

func formatWarnings(d, old *apiextensionsv1.CustomResourceDefinition) []string {
	var known []string
	if old != nil {
		known = definition.UnknownFormats(old)
	}
	var texts []string
	for _, format := range definition.UnknownFormats(d) {
		if !slices.Contains(known, format) {
			texts = append(texts, fmt.Sprintf("unrecognized format %q", format))
		}
	}
	return texts
}
