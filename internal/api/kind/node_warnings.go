package kind

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func nodeWarnings(spec *corev1.NodeSpec) (texts []string) {
	//lint:ignore SA1019 clients may still send it
	if spec.ConfigSource != nil {
		texts = append(texts, "spec.configSource: the feature is removed")
	}
	if spec.DoNotUseExternalID != "" {
		texts = append(texts, "spec.externalID: this field is deprecated, and is unused by Kubernetes")
	}
	return texts
}

// oldLabels are renamed labels of nodes.
var oldLabels = map[string]string{
	"beta.kubernetes.io/arch":                       `deprecated since v1.14; use "kubernetes.io/arch" instead`,
	"beta.kubernetes.io/os":                         `deprecated since v1.14; use "kubernetes.io/os" instead`,
	"failure-domain.beta.kubernetes.io/region":      `deprecated since v1.17; use "topology.kubernetes.io/region" instead`,
	"failure-domain.beta.kubernetes.io/zone":        `deprecated since v1.17; use "topology.kubernetes.io/zone" instead`,
	"beta.kubernetes.io/instance-type":              `deprecated since v1.17; use "node.kubernetes.io/instance-type" instead`,
	"app.kubernetes.io/created-by":                  `deprecated since v1.9`,
	"scheduler.alpha.kubernetes.io/preferAvoidPods": `deprecated since v1.22; use Taints and Tolerations instead`,
	"node-role.kubernetes.io/master":                `use "node-role.kubernetes.io/control-plane" instead`,
}

func selectorWarnings(path *field.Path, selector *metav1.LabelSelector) (texts []string) {
	if selector == nil {
		return nil
	}
	for i, expression := range selector.MatchExpressions {
		if text, ok := oldLabels[expression.Key]; ok {
			texts = append(texts, fmt.Sprintf("%s: %s is %s", path.Child("matchExpressions").Index(i).Child("key"), expression.Key, text))
		}
	}
	for _, label := range slices.Sorted(maps.Keys(selector.MatchLabels)) {
		if text, ok := oldLabels[label]; ok {
			texts = append(texts, fmt.Sprintf("%s: %s", path.Child("matchLabels").Child(label), text))
		}
	}
	return texts
}

func nodeSelectorWarnings(path *field.Path, selector *corev1.NodeSelector) (texts []string) {
	if selector == nil {
		return nil
	}
	for i, term := range selector.NodeSelectorTerms {
		texts = append(texts, nodeTermWarnings(path.Child("nodeSelectorTerms").Index(i), term, false)...)
	}
	return texts
}

// nodeTermWarnings are about labels of nodes, and about the labels' values if these are not
// validated.
func nodeTermWarnings(path *field.Path, term corev1.NodeSelectorTerm, values bool) (texts []string) {
	for i, expression := range term.MatchExpressions {
		at := path.Child("matchExpressions").Index(i)
		if text, ok := oldLabels[expression.Key]; ok {
			texts = append(texts, fmt.Sprintf("%s: %s is %s", at.Child("key"), expression.Key, text))
		}
		if !values {
			continue
		}
		for j, value := range expression.Values {
			for _, text := range utilvalidation.IsValidLabelValue(value) {
				texts = append(texts, fmt.Sprintf("%s: %s is invalid, %s", at.Child("values").Index(j), value, text))
			}
		}
	}
	return texts
}
