package kind

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/store"
)

// checkLabels checks labels in the order of their keys, so that errors do not depend on a map's
// order.
func checkLabels(labels map[string]string, at *field.Path) field.ErrorList {
	return store.CheckByKey(labels, at, metavalidation.ValidateLabels)
}

// checkSelector checks a selector: its labels in the order of their keys, then its expressions.
func checkSelector(s *metav1.LabelSelector, at *field.Path) field.ErrorList {
	if s == nil {
		return nil
	}
	expressions := &metav1.LabelSelector{MatchExpressions: s.MatchExpressions}
	return append(checkLabels(s.MatchLabels, at.Child("matchLabels")),
		metavalidation.ValidateLabelSelector(expressions, metavalidation.LabelSelectorValidationOptions{}, at)...)
}
