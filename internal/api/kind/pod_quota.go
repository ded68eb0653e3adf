package kind

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"
)

// podQuota counts unfinished pods with their requests and limits. (kubernetes v1.36.3,
// pkg/quota/v1/evaluator/core/pods.go)
var podQuota = evaluator[*corev1.Pod]{
	limits: func(name corev1.ResourceName) bool {
		return slices.Contains(podLimits, name) ||
			strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) || strings.HasPrefix(string(name), corev1.ResourceRequestsHugePagesPrefix)
	},
	usage:   podUsage,
	inScope: podInScope,
	demands: mustRequest,
}

// podLimits are the resource names under which pods are counted.
var podLimits = []corev1.ResourceName{
	corev1.ResourcePods,
	corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage,
	corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory, corev1.ResourceRequestsEphemeralStorage,
	corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory, corev1.ResourceLimitsEphemeralStorage,
}

// mustBeRequested are resources that each container must set if a quota limits them.
var mustBeRequested = []corev1.ResourceName{
	corev1.ResourceCPU, corev1.ResourceMemory,
	corev1.ResourceRequestsCPU, corev1.ResourceRequestsMemory, corev1.ResourceLimitsCPU, corev1.ResourceLimitsMemory,
}

func podUsage(now time.Time, pod *corev1.Pod) corev1.ResourceList {
	if !CountsForQuota(now, pod) {
		return corev1.ResourceList{}
	}
	options := resourcehelper.PodResourcesOptions{UseStatusResources: true}
	return computeUsage(resourcehelper.PodRequests(pod, options), resourcehelper.PodLimits(pod, options))
}

// CountsForQuota reports whether a pod is unfinished and within its grace period.
func CountsForQuota(now time.Time, pod *corev1.Pod) bool {
	if pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded {
		return false
	}
	if pod.DeletionTimestamp == nil || pod.DeletionGracePeriodSeconds == nil {
		return true
	}
	grace := time.Duration(*pod.DeletionGracePeriodSeconds) * time.Second
	return !now.After(pod.DeletionTimestamp.Add(grace))
}

// computeUsage returns requests and limits under their names in quotas.
func computeUsage(requests, limits corev1.ResourceList) corev1.ResourceList {
	list := corev1.ResourceList{corev1.ResourcePods: one()}
	for name, amount := range requests { // any order: resources are independent
		if slices.Contains(podLimits, name) || strings.HasPrefix(string(name), corev1.ResourceHugePagesPrefix) {
			list[name], list[corev1.DefaultResourceRequestsPrefix+name] = amount, amount
		}
	}
	for name, amount := range limits { // any order: resources are independent
		if slices.Contains(podLimits, "limits."+name) {
			list["limits."+name] = amount
		}
	}
	return list
}

func podInScope(scope corev1.ScopedResourceSelectorRequirement, pod *corev1.Pod) bool {
	ends := pod.Spec.ActiveDeadlineSeconds != nil && *pod.Spec.ActiveDeadlineSeconds >= 0
	switch scope.ScopeName {
	case corev1.ResourceQuotaScopeTerminating:
		return ends
	case corev1.ResourceQuotaScopeNotTerminating:
		return !ends
	case corev1.ResourceQuotaScopeBestEffort:
		return qosClass(pod) == corev1.PodQOSBestEffort
	case corev1.ResourceQuotaScopeNotBestEffort:
		return qosClass(pod) != corev1.PodQOSBestEffort
	case corev1.ResourceQuotaScopePriorityClass:
		if pod.Spec.PriorityClassName == "" {
			return matchesScope(scope, nil)
		}
		return matchesScope(scope, []string{pod.Spec.PriorityClassName})
	case corev1.ResourceQuotaScopeCrossNamespacePodAffinity:
		return lookAcrossNamespaces(pod.Spec.Affinity)
	}
	return false
}

func lookAcrossNamespaces(affinity *corev1.Affinity) bool {
	if affinity == nil {
		return false
	}
	across := func(term corev1.PodAffinityTerm) bool {
		return len(term.Namespaces) > 0 || term.NamespaceSelector != nil
	}
	weighted := func(term corev1.WeightedPodAffinityTerm) bool { return across(term.PodAffinityTerm) }
	if with := affinity.PodAffinity; with != nil && (slices.ContainsFunc(with.RequiredDuringSchedulingIgnoredDuringExecution, across) ||
		slices.ContainsFunc(with.PreferredDuringSchedulingIgnoredDuringExecution, weighted)) {
		return true
	}
	without := affinity.PodAntiAffinity
	return without != nil && (slices.ContainsFunc(without.RequiredDuringSchedulingIgnoredDuringExecution, across) ||
		slices.ContainsFunc(without.PreferredDuringSchedulingIgnoredDuringExecution, weighted))
}

// mustRequest rejects a pod with containers that do not set the limited cpu and memory resources.
func mustRequest(limited []corev1.ResourceName, pod *corev1.Pod) error {
	var missing []string
	for _, name := range limited {
		if !slices.Contains(mustBeRequested, name) {
			continue
		}
		var without []string
		for _, c := range slices.Concat(pod.Spec.Containers, pod.Spec.InitContainers) {
			if _, set := computeUsage(c.Resources.Requests, c.Resources.Limits)[name]; !set {
				without = append(without, c.Name)
			}
		}
		if len(without) > 0 {
			slices.Sort(without)
			missing = append(missing, fmt.Sprintf("%s for: %s", name, strings.Join(without, ",")))
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return fmt.Errorf("must specify %s", strings.Join(missing, "; "))
}
