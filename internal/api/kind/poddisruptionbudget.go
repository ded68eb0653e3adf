package kind

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/util/intstr"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metavalidation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/objectname"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/workload"
)

func init() {
	register(Kind{
		Group: "policy", Version: "v1", Name: "PodDisruptionBudget",
		ShortNames: []string{"pdb"},
		traits:     withStatus | withGeneration | conditional | anyFinalizer, rules: budgetRules,
		Columns: []Column{
			nameColumn,
			text("Min Available", func(b *policyv1.PodDisruptionBudget) string { return orNotApplicable(b.Spec.MinAvailable) }),
			text("Max Unavailable", func(b *policyv1.PodDisruptionBudget) string { return orNotApplicable(b.Spec.MaxUnavailable) }),
			show("Allowed Disruptions", "integer", func(b *policyv1.PodDisruptionBudget) any { return int64(b.Status.DisruptionsAllowed) }),
			ageColumn,
		},
	})
}

var budgetRules = rules[*policyv1.PodDisruptionBudget]{
	name:         objectname.PathSegment,
	metadataLast: true,
	validate:     func(obj *policyv1.PodDisruptionBudget) field.ErrorList { return checkBudget(&obj.Spec) },
	validateUpdate: func(obj, _ *policyv1.PodDisruptionBudget) field.ErrorList {
		return checkBudget(&obj.Spec)
	},
	passes: []store.Pass{store.PassChange},
	validateStatus: func(obj, _ *policyv1.PodDisruptionBudget) field.ErrorList {
		return checkBudgetStatus(&obj.Status)
	},
}

func checkBudget(spec *policyv1.PodDisruptionBudgetSpec) (errs field.ErrorList) {
	at := field.NewPath("spec")
	if spec.MinAvailable != nil && spec.MaxUnavailable != nil {
		errs = append(errs, field.Invalid(at, goNames{spec}, "minAvailable and maxUnavailable cannot be both set"))
	}
	if n := spec.MinAvailable; n != nil {
		errs = append(errs, share(at.Child("minAvailable"), *n)...)
		errs = append(errs, atMostAll(at.Child("minAvailable"), *n)...)
	}
	if n := spec.MaxUnavailable; n != nil {
		errs = append(errs, share(at.Child("maxUnavailable"), *n)...)
		errs = append(errs, atMostAll(at.Child("maxUnavailable"), *n)...)
	}
	errs = append(errs, checkSelector(spec.Selector, at.Child("selector"))...)
	if policy := spec.UnhealthyPodEvictionPolicy; policy != nil {
		errs = append(errs, oneOf(at.Child("unhealthyPodEvictionPolicy"), *policy, policyv1.AlwaysAllow, policyv1.IfHealthyBudget)...)
	}
	return errs
}

func checkBudgetStatus(status *policyv1.PodDisruptionBudgetStatus) field.ErrorList {
	errs := metavalidation.ValidateConditions(status.Conditions, field.NewPath("status", "conditions"))
	return append(errs, tallies(tally{"disruptionsAllowed", int64(status.DisruptionsAllowed)}, tally{"currentHealthy", int64(status.CurrentHealthy)},
		tally{"desiredHealthy", int64(status.DesiredHealthy)}, tally{"expectedPods", int64(status.ExpectedPods)})...)
}

// maxDisruptedPods limits the pending evictions of a budget.
const maxDisruptedPods = 2000

// Selects reports whether a disruption budget selects a pod. An empty selector selects none.
func Selects(budget *policyv1.PodDisruptionBudget, pod *corev1.Pod) bool {
	selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
	return err == nil && budget.Namespace == pod.Namespace && !selector.Empty() && selector.Matches(labels.Set(pod.Labels))
}

// AllowEviction checks that the disruption budget of a pod permits its eviction, and counts the
// eviction there. A pod that has ended, is pending or is being deleted needs no permission. The
// eviction of an unready pod is not counted either, if the budget is met without the pod.
// (kubernetes v1.36.3, pkg/registry/core/pod/storage/eviction.go)
func AllowEviction(s *store.Store, pod *corev1.Pod, dryRun bool) error {
	if pod.DeletionTimestamp != nil || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodPending {
		return nil
	}
	var budgets []*policyv1.PodDisruptionBudget
	for b := range store.List[*policyv1.PodDisruptionBudget](s, pod.Namespace) {
		if Selects(b, pod) {
			budgets = append(budgets, b)
		}
	}
	switch {
	case len(budgets) == 0:
		return nil
	case len(budgets) > 1:
		return errManyBudgets
	case !workload.Holds(pod, corev1.PodReady) && needsNoBudget(budgets[0]):
		return nil
	}
	return spend(s, budgets[0], pod, dryRun)
}

// errManyBudgets has no reason, as in the real server.
var errManyBudgets = &apierrors.StatusError{ErrStatus: metav1.Status{
	Status: metav1.StatusFailure, Code: 500,
	Message: "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.",
}}

// needsNoBudget reports whether unready pods may be evicted: always, or only while enough other
// pods are healthy.
func needsNoBudget(b *policyv1.PodDisruptionBudget) bool {
	if p := b.Spec.UnhealthyPodEvictionPolicy; p != nil && *p == policyv1.AlwaysAllow {
		return true
	}
	return b.Status.CurrentHealthy >= b.Status.DesiredHealthy && b.Status.DesiredHealthy > 0
}

// spend counts one disruption in the status of a budget.
func spend(s *store.Store, b *policyv1.PodDisruptionBudget, pod *corev1.Pod, dryRun bool) error {
	forbidden := func(why string) error {
		return apierrors.NewForbidden(policyv1.Resource("poddisruptionbudget"), b.Name, errors.New(why))
	}
	switch {
	case b.Status.ObservedGeneration < b.Generation:
		return tooManyDisruptions(10, fmt.Sprintf("The disruption budget %s is still being processed by the server.", b.Name))
	case b.Status.DisruptionsAllowed < 0:
		return forbidden("pdb disruptions allowed is negative")
	case len(b.Status.DisruptedPods) > maxDisruptedPods:
		return forbidden("DisruptedPods map too big - too many evictions not confirmed by PDB controller")
	case b.Status.DisruptionsAllowed == 0:
		return tooManyDisruptions(0, fmt.Sprintf("The disruption budget %s needs %d healthy pods and has %d currently", b.Name, b.Status.DesiredHealthy, b.Status.CurrentHealthy))
	case dryRun:
		return nil
	}
	_, err := store.ModifyStatus(s, store.KeyOf(b), func(b *policyv1.PodDisruptionBudget) {
		b.Status = *b.Status.DeepCopy()
		b.Status.DisruptionsAllowed--
		if b.Status.DisruptionsAllowed == 0 {
			meta.SetStatusCondition(&b.Status.Conditions, metav1.Condition{
				Type: policyv1.DisruptionAllowedCondition, Status: metav1.ConditionFalse, Reason: policyv1.InsufficientPodsReason,
				ObservedGeneration: b.Status.ObservedGeneration, LastTransitionTime: s.Timestamp(),
			})
		}
		if b.Status.DisruptedPods == nil {
			b.Status.DisruptedPods = map[string]metav1.Time{}
		}
		b.Status.DisruptedPods[pod.Name] = s.Timestamp()
	})
	return err
}

func tooManyDisruptions(retryAfterSeconds int, why string) error {
	err := apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", retryAfterSeconds)
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{Type: policyv1.DisruptionBudgetCause, Message: why})
	return err
}

func orNotApplicable(amount *intstr.IntOrString) string {
	if amount == nil {
		return "N/A"
	}
	return amount.String()
}
