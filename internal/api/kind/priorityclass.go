package kind

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

func init() {
	register(Kind{
		Group: "scheduling.k8s.io", Version: "v1", Name: "PriorityClass",
		ShortNames: []string{"pc"},
		traits:     clusterScoped | withGeneration,
		rules:      rules[*schedulingv1.PriorityClass]{fill: fillPriorityClass, validate: checkPriorityClass, validateUpdate: checkPriorityClassChange},
		Columns: []Column{
			nameColumn,
			show("Value", "integer", func(c *schedulingv1.PriorityClass) any { return int64(c.Value) }),
			show("Global-Default", "boolean", func(c *schedulingv1.PriorityClass) any { return c.GlobalDefault }),
			ageColumn,
			text("PreemptionPolicy", func(c *schedulingv1.PriorityClass) string {
				if c.PreemptionPolicy == nil {
					return ""
				}
				return string(*c.PreemptionPolicy)
			}),
		},
	})
}

func fillPriorityClass(obj *schedulingv1.PriorityClass) {
	setDefault(&obj.PreemptionPolicy, corev1.PreemptLowerPriority)
}

func checkPriorityClassChange(class, was *schedulingv1.PriorityClass) (errs field.ErrorList) {
	if class.Value != was.Value {
		errs = append(errs, field.Forbidden(field.NewPath("value"), "may not be changed in an update."))
	}
	return append(errs, immutable(field.NewPath("preemptionPolicy"), class.PreemptionPolicy, was.PreemptionPolicy)...)
}

// highestPriority is that of classes of users; what is above is the system's.
const highestPriority = 1_000_000_000

func checkPriorityClass(class *schedulingv1.PriorityClass) (errs field.ErrorList) {
	if class.Value > highestPriority && !strings.HasPrefix(class.Name, "system-") {
		errs = append(errs, field.Forbidden(field.NewPath("value"), fmt.Sprintf("maximum allowed value of a user defined priority is %v", highestPriority)))
	}
	at := field.NewPath("preemptionPolicy")
	switch policy := class.PreemptionPolicy; {
	case policy == nil, *policy == corev1.PreemptLowerPriority, *policy == corev1.PreemptNever:
	case *policy == "":
		errs = append(errs, field.Required(at, ""))
	default:
		errs = append(errs, field.NotSupported(at, *policy, []corev1.PreemptionPolicy{corev1.PreemptLowerPriority, corev1.PreemptNever}))
	}
	return errs
}
