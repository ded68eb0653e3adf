package kind

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Errors are the same each time, although labels are a map.
func TestWrongLabelsAreReportedInTheOrderOfTheirKeys(t *testing.T) {
	labels := map[string]string{}
	for _, key := range []string{"a", "b", "c", "d", "e", "f"} {
		labels[key] = key + " "
	}
	var want []string
	for _, key := range []string{"a", "b", "c", "d", "e", "f"} {
		want = append(want, fmt.Sprintf("%q", key+" "))
	}
	at := field.NewPath("spec", "selector")
	for range 20 {
		for name, errs := range map[string]field.ErrorList{
			"labels":   checkLabels(labels, at),
			"selector": checkSelector(&metav1.LabelSelector{MatchLabels: labels}, at),
		} {
			var got []string
			for _, err := range errs {
				got = append(got, fmt.Sprintf("%q", err.BadValue))
			}
			assert.Equal(t, want, got, name)
		}
	}
}
