package kind

import (
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"
)

// Default values that nearly all pods share.
var (
	usualTolerations = []corev1.Toleration{tolerationOf(corev1.TaintNodeNotReady), tolerationOf(corev1.TaintNodeUnreachable)}
	usualContext     = &corev1.PodSecurityContext{}
	usualGrace       = ptr.To[int64](corev1.DefaultTerminationGracePeriodSeconds)
	usualLinks       = ptr.To(true)
	usualPriority    = ptr.To[int32](0)
	usualPreemption  = ptr.To(corev1.PreemptLowerPriority)
)

func sharePod(pod *corev1.Pod) {
	spec := &pod.Spec
	if t := spec.Tolerations; len(t) == len(usualTolerations) && &t[0] != &usualTolerations[0] && slices.EqualFunc(t, usualTolerations, sameToleration) {
		spec.Tolerations = usualTolerations
	}
	if c := spec.SecurityContext; c != nil && c != usualContext && reflect.ValueOf(c).Elem().IsZero() {
		spec.SecurityContext = usualContext
	}
	shareValue(&spec.TerminationGracePeriodSeconds, usualGrace)
	shareValue(&spec.EnableServiceLinks, usualLinks)
	shareValue(&spec.Priority, usualPriority)
	shareValue(&spec.PreemptionPolicy, usualPreemption)
}

func sameToleration(a, b corev1.Toleration) bool {
	return a.MatchToleration(&b) && ptr.Equal(a.TolerationSeconds, b.TolerationSeconds)
}

func shareValue[T comparable](p **T, usual *T) {
	if *p != nil && **p == *usual {
		*p = usual
	}
}
