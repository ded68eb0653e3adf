package kind

import (
	"fmt"
	"math"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/diff"
	utilvalidation "k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/store"
)

const updatableFields = "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`," +
	"`spec.tolerations` (only additions to existing tolerations)," +
	"`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)"

// checkPodUpdate permits changes of a pod's images, deadline and gates, and additional tolerations.
// [pkg/apis/core/validation/validation.go: ValidatePodUpdate]
func checkPodUpdate(pod, old *corev1.Pod) field.ErrorList {
	path := field.NewPath("spec")
	var errs field.ErrorList
	for _, all := range []struct {
		name     string
		now, was []corev1.Container
	}{{"containers", pod.Spec.Containers, old.Spec.Containers}, {"initContainers", pod.Spec.InitContainers, old.Spec.InitContainers}} {
		if len(all.now) != len(all.was) {
			return append(errs, field.Forbidden(path.Child(all.name), "pod updates may not add or remove containers"))
		}
		errs = append(errs, changedImages(path.Child(all.name), all.now)...)
	}
	wrong, stop := checkDeadline(path.Child("activeDeadlineSeconds"), pod.Spec.ActiveDeadlineSeconds, old.Spec.ActiveDeadlineSeconds)
	if errs = append(errs, wrong...); stop {
		return errs
	}
	if !keepsTolerations(pod.Spec.Tolerations, old.Spec.Tolerations) {
		errs = append(errs, field.Forbidden(path.Child("tolerations"), "existing toleration can not be modified except its tolerationSeconds"))
	} else {
		errs = append(errs, tolerations(path.Child("tolerations"), pod.Spec.Tolerations)...)
	}
	errs = append(errs, fewerGates(path.Child("schedulingGates"), pod.Spec.SchedulingGates, old.Spec.SchedulingGates)...)
	spec := pod.Spec.DeepCopy()
	for i := range spec.Containers {
		spec.Containers[i].Image = old.Spec.Containers[i].Image
	}
	for i := range spec.InitContainers {
		spec.InitContainers[i].Image = old.Spec.InitContainers[i].Image
	}
	if len(spec.InitContainers) == 0 {
		spec.InitContainers = nil // the real server's diff omits them, too
	}
	spec.ActiveDeadlineSeconds = old.Spec.ActiveDeadlineSeconds
	spec.SchedulingGates = old.Spec.SchedulingGates
	spec.Tolerations = old.Spec.Tolerations
	was, grace := old.Spec.TerminationGracePeriodSeconds, spec.TerminationGracePeriodSeconds
	if was != nil && *was < 0 && grace != nil && *grace == 1 {
		spec.TerminationGracePeriodSeconds = was
	}
	if len(old.Spec.SchedulingGates) > 0 {
		errs = append(errs, moveGated(path, spec, &old.Spec)...)
	}
	if !equality.Semantic.DeepEqual(*spec, old.Spec) {
		errs = append(errs, field.Forbidden(path, fmt.Sprintf("pod updates may not change fields other than %s\n%s", updatableFields, diff.Diff(goNames{old.Spec}, goNames{*spec}))))
	}
	return errs
}

// changedImages checks the images of an update. It reports a missing image a second time, like the
// real server.
func changedImages(at *field.Path, containers []corev1.Container) (errs field.ErrorList) {
	for i, c := range containers {
		at := at.Index(i).Child("image")
		if c.Image == "" {
			errs = append(errs, field.Required(at, ""))
		}
		if strings.TrimSpace(c.Image) != c.Image {
			errs = append(errs, field.Invalid(at, c.Image, "must not have leading or trailing whitespace"))
		}
	}
	return errs
}

// fewerGates checks that no gate is added. A new gate that is listed twice is reported at its last
// place.
func fewerGates(at *field.Path, now, was []corev1.PodSchedulingGate) (errs field.ErrorList) {
	for i, gate := range now {
		if !slices.Contains(was, gate) && !slices.Contains(now[i+1:], gate) {
			errs = append(errs, field.Forbidden(at.Index(i).Child("name"), fmt.Sprintf("only deletion is allowed, but found new scheduling gate '%s'", gate.Name)))
		}
	}
	return errs
}

// keepsTolerations reports whether the old tolerations remain, with any number of seconds.
func keepsTolerations(now, was []corev1.Toleration) bool {
	for _, old := range was {
		if !slices.ContainsFunc(now, func(kept corev1.Toleration) bool {
			kept.TolerationSeconds = old.TolerationSeconds
			return store.Same(&kept, &old)
		}) {
			return false
		}
	}
	return true
}

// checkDeadline permits a deadline to become earlier, but not to be removed. An invalid deadline
// stops all later checks.
func checkDeadline(path *field.Path, now, was *int64) (errs field.ErrorList, stop bool) {
	switch {
	case now == nil && was == nil:
		return nil, false
	case now == nil:
		return field.ErrorList{field.Invalid(path, now, "must not update from a positive integer to nil value")}, false
	case *now < 0 || *now > math.MaxInt32:
		return field.ErrorList{field.Invalid(path, *now, utilvalidation.InclusiveRangeError(0, math.MaxInt32))}, true
	case was != nil && *now > *was:
		return field.ErrorList{field.Invalid(path, *now, "must be less than or equal to previous value")}, true
	}
	return nil, false
}

// moveGated checks the scheduling fields of a pod with scheduling gates: they may only become
// narrower. It resets the permitted changes in the spec.
func moveGated(at *field.Path, spec, old *corev1.PodSpec) (errs field.ErrorList) {
	for label, value := range old.NodeSelector { // any order: one is enough
		if now, ok := spec.NodeSelector[label]; !ok || now != value {
			errs = field.ErrorList{field.Invalid(at.Child("nodeSelector"), spec.NodeSelector, "only additions to spec.nodeSelector are allowed (no mutations or deletions)")}
			break
		}
	}
	spec.NodeSelector = old.NodeSelector
	var now, was *corev1.NodeAffinity
	if old.Affinity != nil {
		was = old.Affinity.NodeAffinity
	}
	if spec.Affinity != nil {
		now = spec.Affinity.NodeAffinity
	}
	if equality.Semantic.DeepEqual(now, was) {
		return errs
	}
	errs = append(errs, fewerNodes(at.Child("affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"), requiredTerms(now), requiredTerms(was))...)
	switch {
	case spec.Affinity == nil:
		spec.Affinity = &corev1.Affinity{NodeAffinity: was}
	case old.Affinity == nil && spec.Affinity.PodAffinity == nil && spec.Affinity.PodAntiAffinity == nil:
		spec.Affinity = nil
	default:
		spec.Affinity.NodeAffinity = was
	}
	return errs
}

func requiredTerms(a *corev1.NodeAffinity) []corev1.NodeSelectorTerm {
	if a == nil || a.RequiredDuringSchedulingIgnoredDuringExecution == nil {
		return nil
	}
	return a.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms
}

// fewerNodes checks that existing terms only get more requirements.
func fewerNodes(at *field.Path, now, was []corev1.NodeSelectorTerm) (errs field.ErrorList) {
	if len(was) > 0 && len(now) != len(was) {
		return field.ErrorList{field.Invalid(at, goNames{now}, "no additions/deletions to non-empty NodeSelectorTerms list are allowed")}
	}
	begins := func(now, was []corev1.NodeSelectorRequirement) bool {
		return len(now) >= len(was) && equality.Semantic.DeepEqual(now[:len(was)], was)
	}
	for i, old := range was {
		matchedNone := len(old.MatchExpressions)+len(old.MatchFields) == 0
		nowMatches := len(now[i].MatchExpressions)+len(now[i].MatchFields) > 0
		if matchedNone && nowMatches || !begins(now[i].MatchExpressions, old.MatchExpressions) || !begins(now[i].MatchFields, old.MatchFields) {
			errs = append(errs, field.Invalid(at.Index(i), goNames{now[i]}, "only additions are allowed (no mutations or deletions)"))
		}
	}
	return errs
}
