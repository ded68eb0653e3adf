package job

import (
	"fmt"
	"slices"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
)

// match returns the action of the first rule in the job's podFailurePolicy that a failed pod
// matches. For FailJob it also returns the failure message. If no rule matches, the action is
// Count. C-JOB-5
func (r *round) match(pod *corev1.Pod) (action batchv1.PodFailurePolicyAction, message string) {
	policy := r.Spec.PodFailurePolicy
	if policy == nil {
		return batchv1.PodFailurePolicyActionCount, ""
	}
	for i, rule := range policy.Rules {
		at := fmt.Sprintf("matching %v rule at index %d", rule.Action, i)
		if codes := rule.OnExitCodes; codes != nil {
			if c := exitedWith(&pod.Status, codes); c != nil {
				return rule.Action, fmt.Sprintf("Container %s for pod %s/%s failed with exit code %d %s", c.Name, pod.Namespace, pod.Name, c.State.Terminated.ExitCode, at)
			}
		} else if c := conditionOf(&pod.Status, rule.OnPodConditions); c != nil {
			return rule.Action, fmt.Sprintf("Pod %s/%s has condition %v %s", pod.Namespace, pod.Name, c.Type, at)
		}
	}
	return batchv1.PodFailurePolicyActionCount, ""
}

// exitedWith returns the first container that exited with a code of a rule.
func exitedWith(s *corev1.PodStatus, rule *batchv1.PodFailurePolicyOnExitCodesRequirement) *corev1.ContainerStatus {
	for _, c := range slices.Concat(s.ContainerStatuses, s.InitContainerStatuses) {
		ended := c.State.Terminated
		if ended == nil || ended.ExitCode == 0 || rule.ContainerName != nil && *rule.ContainerName != c.Name {
			continue
		}
		if slices.Contains(rule.Values, ended.ExitCode) == (rule.Operator == batchv1.PodFailurePolicyOnExitCodesOpIn) {
			return &c
		}
	}
	return nil
}

func conditionOf(s *corev1.PodStatus, rule []batchv1.PodFailurePolicyOnPodConditionsPattern) *corev1.PodCondition {
	for _, c := range s.Conditions {
		if slices.Contains(rule, batchv1.PodFailurePolicyOnPodConditionsPattern{Type: c.Type, Status: c.Status}) {
			return &c
		}
	}
	return nil
}

// counts reports whether a failed pod counts against the backoff limits.
func (r *round) counts(pod *corev1.Pod) bool {
	action, _ := r.match(pod)
	return action != batchv1.PodFailurePolicyActionIgnore
}

// failedByPolicy returns the end of a job if a failed pod matches a FailJob rule of its policy.
// C-JOB-5
func (r *round) failedByPolicy() *verdict {
	for _, pod := range r.tracked {
		if pod.Status.Phase != corev1.PodFailed {
			continue
		}
		if action, message := r.match(pod); action == batchv1.PodFailurePolicyActionFailJob {
			return failure(batchv1.JobReasonPodFailurePolicy, message)
		}
	}
	return nil
}

// onlyReplacesFailed reports whether a terminating pod is replaced only after its end. C-JOB-5
func (r *round) onlyReplacesFailed() bool {
	policy := r.Spec.PodReplacementPolicy
	return r.Spec.PodFailurePolicy != nil || policy != nil && *policy == batchv1.Failed
}

// succeededByPolicy returns the end of an Indexed job if a rule of its successPolicy is met.
// C-JOB-6
func (r *round) succeededByPolicy() *verdict {
	if r.Spec.SuccessPolicy == nil || len(r.done) == 0 {
		return nil
	}
	for i, rule := range r.Spec.SuccessPolicy.Rules {
		if r.meets(rule) {
			return success(batchv1.JobReasonSuccessPolicy, fmt.Sprintf("Matched rules at index %d", i))
		}
	}
	return nil
}

func (r *round) meets(rule batchv1.SuccessPolicyRule) bool {
	if rule.SucceededIndexes == nil {
		return rule.SucceededCount != nil && len(r.done) >= int(*rule.SucceededCount)
	}
	required, met := parseIndexes(*rule.SucceededIndexes, int(*r.Spec.Completions)), 0
	for n := range required { // any order: they are counted
		if r.done[n] {
			met++
		}
	}
	return len(required) > 0 && (met == len(required) || rule.SucceededCount != nil && met >= int(*rule.SucceededCount))
}
