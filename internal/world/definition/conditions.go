package definition

import (
	"k8s.io/apiextensions-apiserver/pkg/apihelpers"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

type (
	object    = apiextensionsv1.CustomResourceDefinition
	condition = apiextensionsv1.CustomResourceDefinitionCondition
)

// IsServed reports whether clients can access the objects of a definition.
func IsServed(o *object) bool {
	return apihelpers.IsCRDConditionTrue(o, apiextensionsv1.NamesAccepted) || apihelpers.IsCRDConditionTrue(o, apiextensionsv1.Established)
}

// IsEstablished reports whether discovery lists a definition.
func IsEstablished(o *object) bool {
	return apihelpers.IsCRDConditionTrue(o, apiextensionsv1.Established)
}

// IsTerminating reports whether a definition is being deleted, so that no more objects can be
// created.
func IsTerminating(o *object) bool {
	return apihelpers.IsCRDConditionTrue(o, apiextensionsv1.Terminating)
}

// Next returns the next state of a definition before it is established; nil if nothing is left to
// do. others are the other definitions in its group.
func Next(o *object, others []*object, now metav1.Time) *object {
	for _, step := range []func(*object, []*object, metav1.Time) bool{judgeApproval, judgeNames, establish} {
		// It copies only the status. Schemas are large, and stored objects must not be modified.
		next := &object{TypeMeta: o.TypeMeta, ObjectMeta: *o.ObjectMeta.DeepCopy(), Spec: o.Spec, Status: *o.Status.DeepCopy()}
		if step(next, others, now) {
			return next
		}
	}
	return nil
}

// judgeApproval checks the approval that groups of the Kubernetes project need.
func judgeApproval(o *object, _ []*object, now metav1.Time) bool {
	if !apihelpers.IsProtectedCommunityGroup(o.Spec.Group) {
		return false
	}
	state, message := apihelpers.GetAPIApprovalState(o.Annotations)
	verdict := condition{Type: apiextensionsv1.KubernetesAPIApprovalPolicyConformant, Status: apiextensionsv1.ConditionFalse, Message: message}
	switch state {
	case apihelpers.APIApproved:
		verdict.Status, verdict.Reason = apiextensionsv1.ConditionTrue, "ApprovedAnnotation"
	case apihelpers.APIApprovalBypassed:
		verdict.Reason = "UnapprovedAnnotation"
	case apihelpers.APIApprovalMissing:
		verdict.Reason = "MissingAnnotation"
	default:
		verdict.Reason = "InvalidAnnotation"
	}
	return SetCondition(o, verdict, now)
}

func judgeNames(o *object, others []*object, now metav1.Time) bool {
	accepted, reason, message := accept(o.Spec.Names, o.Status.AcceptedNames, takenBy(others))
	verdict := condition{Type: apiextensionsv1.NamesAccepted, Status: apiextensionsv1.ConditionTrue, Reason: "NoConflicts", Message: "no conflicts found"}
	if reason != "" {
		verdict.Status, verdict.Reason, verdict.Message = apiextensionsv1.ConditionFalse, reason, message
	}
	renamed := !equality.Semantic.DeepEqual(accepted, o.Status.AcceptedNames)
	o.Status.AcceptedNames = accepted
	if !SetCondition(o, verdict, now) && !renamed {
		return false
	}
	if !IsEstablished(o) {
		installing := condition{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionFalse, Reason: "NotAccepted", Message: "not all names are accepted"}
		if reason == "" {
			installing.Reason, installing.Message = "Installing", namesAccepted
		}
		SetCondition(o, installing, now)
	}
	return true
}

const namesAccepted = "the initial names have been accepted"

func establish(o *object, _ []*object, now metav1.Time) bool {
	if !apihelpers.IsCRDConditionTrue(o, apiextensionsv1.NamesAccepted) || IsEstablished(o) {
		return false
	}
	return SetCondition(o, condition{
		Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue, Reason: "InitialNamesAccepted", Message: namesAccepted,
	}, now)
}

// SetCondition sets a condition, and reports whether that changes anything.
func SetCondition(o *object, c condition, now metav1.Time) bool {
	c.LastTransitionTime = now
	at := apihelpers.FindCRDCondition(o, c.Type)
	if at == nil {
		o.Status.Conditions = append(o.Status.Conditions, c)
		return true
	}
	if at.Status == c.Status {
		c.LastTransitionTime = at.LastTransitionTime
	}
	changed := !equality.Semantic.DeepEqual(*at, c)
	*at = c
	return changed
}

// Cleanup is the finalizer of a definition that deletes its objects first.
const Cleanup = apiextensionsv1.CustomResourceCleanupFinalizer

// Terminating returns the condition of a definition that is being deleted.
func Terminating(status apiextensionsv1.ConditionStatus, reason, message string) condition {
	return condition{Type: apiextensionsv1.Terminating, Status: status, Reason: reason, Message: message}
}
