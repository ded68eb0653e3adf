package kind

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/store"
)

func init() {
	register(Kind{
		Group: "scheduling.k8s.io", Version: "v1", Name: "PriorityClass",
		ShortNames: []string{"pc"},
		traits:     clusterScoped | withGeneration,
		rules:      priorityClassRules,
		// [pkg/registry/scheduling/priorityclass/storage Delete]
		Undeletable:        []string{nodeCritical, clusterCritical},
		UndeletableBecause: "this is a system priority class and cannot be deleted",
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

var priorityClassRules = rules[*schedulingv1.PriorityClass]{
	fill:  fillPriorityClass,
	admit: func(a admission, class *schedulingv1.PriorityClass) error { return onlyDefault(a.cluster, class) },
	admitUpdate: func(cluster store.Reader, class, _ *schedulingv1.PriorityClass) error {
		return onlyDefault(cluster, class)
	},
	validate:       checkPriorityClass,
	validateUpdate: checkPriorityClassChange,
}

func fillPriorityClass(obj *schedulingv1.PriorityClass) {
	setDefault(&obj.PreemptionPolicy, corev1.PreemptLowerPriority)
}

// onlyDefault rejects a second global default. [plugin/pkg/admission/priority
// validatePriorityClass]
func onlyDefault(cluster store.Reader, class *schedulingv1.PriorityClass) error {
	is := defaultPriorityClass(cluster)
	if !class.GlobalDefault || is == nil || is.Name == class.Name {
		return nil
	}
	return apierrors.NewForbidden(schedulingv1.Resource("priorityclasses"), class.Name,
		fmt.Errorf("PriorityClass %s is already marked as default. Only one default can exist", is.Name))
}

func checkPriorityClassChange(class, was *schedulingv1.PriorityClass) (errs field.ErrorList) {
	if class.Value != was.Value {
		errs = append(errs, field.Forbidden(field.NewPath("value"), "may not be changed in an update."))
	}
	return append(errs, immutable(field.NewPath("preemptionPolicy"), class.PreemptionPolicy, was.PreemptionPolicy)...)
}

// highestPriority is the highest value of user-defined classes. Higher values belong to the
// system's classes.
const highestPriority = 1_000_000_000

// systemPriorityClass reserves names that begin with system- for the classes of Kubernetes.
// [pkg/apis/scheduling/v1 IsKnownSystemPriorityClass]
func systemPriorityClass(class *schedulingv1.PriorityClass) field.ErrorList {
	var why string
	switch value, known := systemPriorities[class.Name]; {
	case !known:
		why = class.Name + " is not a known system priority class"
	case class.Value != value:
		why = fmt.Sprintf("value of %s PriorityClass must be %d", class.Name, value)
	case class.GlobalDefault:
		why = fmt.Sprintf("globalDefault of %s PriorityClass must be false", class.Name)
	default:
		return nil
	}
	return field.ErrorList{field.Forbidden(field.NewPath("metadata", "name"),
		"priority class names with 'system-' prefix are reserved for system use only. error: "+why)}
}

func checkPriorityClass(class *schedulingv1.PriorityClass) (errs field.ErrorList) {
	if strings.HasPrefix(class.Name, "system-") {
		errs = append(errs, systemPriorityClass(class)...)
	} else if class.Value > highestPriority {
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
