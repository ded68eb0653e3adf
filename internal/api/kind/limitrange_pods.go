package kind

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/csisim/csisim/internal/world/store"
)

// limitedByAnnotation lists the resources of a pod that come from limit ranges.
const limitedByAnnotation = "kubernetes.io/limit-ranger"

// applyLimitRanges sets the namespace's default requests and limits in the containers of a new pod.
// [plugin/pkg/admission/limitranger/admission.go PodMutateLimitFunc]
func applyLimitRanges(cluster store.Reader, pod *corev1.Pod) {
	for limits := range store.List[*corev1.LimitRange](cluster, pod.Namespace) {
		defaults := containerDefaults(limits)
		var said []string
		for i := range pod.Spec.Containers {
			said = append(said, mergeDefaults(&pod.Spec.Containers[i], defaults, "container")...)
		}
		for i := range pod.Spec.InitContainers {
			said = append(said, mergeDefaults(&pod.Spec.InitContainers[i], defaults, "init container")...)
		}
		if len(said) == 0 {
			continue
		}
		if pod.Annotations == nil {
			pod.Annotations = map[string]string{}
		}
		pod.Annotations[limitedByAnnotation] = "LimitRanger plugin set: " + strings.Join(said, "; ")
	}
}

func containerDefaults(limits *corev1.LimitRange) corev1.ResourceRequirements {
	all := corev1.ResourceRequirements{Requests: corev1.ResourceList{}, Limits: corev1.ResourceList{}}
	for _, limit := range limits.Spec.Limits {
		if limit.Type == corev1.LimitTypeContainer {
			maps.Copy(all.Requests, limit.DefaultRequest)
			maps.Copy(all.Limits, limit.Default)
		}
	}
	return all
}

// mergeDefaults returns one sentence about the requests, and one about the limits that were set.
func mergeDefaults(c *corev1.Container, defaults corev1.ResourceRequirements, what string) (said []string) {
	merge := func(to *corev1.ResourceList, from corev1.ResourceList, of string) {
		if *to == nil {
			*to = corev1.ResourceList{}
		}
		var set []string
		for _, name := range slices.Sorted(maps.Keys(from)) {
			if _, given := (*to)[name]; !given {
				(*to)[name] = from[name].DeepCopy()
				set = append(set, string(name))
			}
		}
		if len(set) > 0 {
			said = append(said, fmt.Sprintf("%s %s for %s %s", strings.Join(set, ", "), of, what, c.Name))
		}
	}
	merge(&c.Resources.Requests, defaults.Requests, "request")
	merge(&c.Resources.Limits, defaults.Limits, "limit")
	return said
}

// limitPod rejects a new pod, or a resize, outside the limit ranges of its namespace.
// [plugin/pkg/admission/limitranger/admission.go PodValidateLimitFunc]
func limitPod(cluster store.Reader, pod, old *corev1.Pod) error {
	if old != nil && sameSizes(pod, old) {
		return nil
	}
	for limits := range store.List[*corev1.LimitRange](cluster, pod.Namespace) {
		var errs []error
		for i := range limits.Spec.Limits {
			errs = append(errs, beyondLimit(&limits.Spec.Limits[i], pod)...)
		}
		if err := utilerrors.NewAggregate(errs); err != nil {
			return refusedPod(pod, err)
		}
	}
	return nil
}

// sameSizes reports whether an update resizes no container.
func sameSizes(pod, old *corev1.Pod) bool {
	same := func(a, b corev1.Container) bool { return apiequality.Semantic.DeepEqual(a.Resources, b.Resources) }
	return slices.EqualFunc(pod.Spec.Containers, old.Spec.Containers, same) &&
		slices.EqualFunc(pod.Spec.InitContainers, old.Spec.InitContainers, same)
}

func beyondLimit(limit *corev1.LimitRangeItem, pod *corev1.Pod) (errs []error) {
	switch limit.Type {
	case corev1.LimitTypeContainer:
		for _, c := range slices.Concat(pod.Spec.Containers, pod.Spec.InitContainers) {
			errs = append(errs, sizes{c.Resources.Requests, c.Resources.Limits}.beyond(limit)...)
		}
	case corev1.LimitTypePod:
		options := resourcehelper.PodResourcesOptions{ExcludeOverhead: true}
		of := sizes{resourcehelper.PodRequests(pod, options), resourcehelper.PodLimits(pod, options)}
		errs = of.beyond(limit)
	}
	return errs
}

// sizes holds the requests and limits of a container or a pod.
type sizes struct{ requests, limits corev1.ResourceList }

func (s sizes) beyond(limit *corev1.LimitRangeItem) (errs []error) {
	each := func(bounds corev1.ResourceList, check func(corev1.LimitType, corev1.ResourceName, resource.Quantity) error) {
		for _, name := range slices.Sorted(maps.Keys(bounds)) {
			if err := check(limit.Type, name, bounds[name]); err != nil {
				errs = append(errs, err)
			}
		}
	}
	each(limit.Min, s.belowMinimum)
	each(limit.Max, s.aboveMaximum)
	each(limit.MaxLimitRequestRatio, s.aboveRatio)
	return errs
}

func (s sizes) belowMinimum(of corev1.LimitType, name corev1.ResourceName, bound resource.Quantity) error {
	request, requested := s.requests[name]
	limit, limited := s.limits[name]
	switch {
	case !requested:
		return fmt.Errorf("minimum %s usage per %s is %s.  No request is specified", name, of, bound.String())
	case request.Cmp(bound) < 0:
		return fmt.Errorf("minimum %s usage per %s is %s, but request is %s", name, of, bound.String(), request.String())
	case limited && limit.Cmp(bound) < 0:
		return fmt.Errorf("minimum %s usage per %s is %s, but limit is %s", name, of, bound.String(), limit.String())
	}
	return nil
}

func (s sizes) aboveMaximum(of corev1.LimitType, name corev1.ResourceName, bound resource.Quantity) error {
	request, requested := s.requests[name]
	limit, limited := s.limits[name]
	switch {
	case !limited:
		return fmt.Errorf("maximum %s usage per %s is %s.  No limit is specified", name, of, bound.String())
	case limit.Cmp(bound) > 0:
		return fmt.Errorf("maximum %s usage per %s is %s, but limit is %s", name, of, bound.String(), limit.String())
	case requested && request.Cmp(bound) > 0:
		return fmt.Errorf("maximum %s usage per %s is %s, but request is %s", name, of, bound.String(), request.String())
	}
	return nil
}

func (s sizes) aboveRatio(of corev1.LimitType, name corev1.ResourceName, bound resource.Quantity) error {
	request, limit := s.requests[name], s.limits[name]
	if request.IsZero() {
		return fmt.Errorf("%s max limit to request ratio per %s is %s, but no request is specified or request is 0", name, of, bound.String())
	}
	if limit.IsZero() {
		return fmt.Errorf("%s max limit to request ratio per %s is %s, but no limit is specified or limit is 0", name, of, bound.String())
	}
	if ratio := limit.AsApproximateFloat64() / request.AsApproximateFloat64(); ratio*1000 > float64(bound.MilliValue()) {
		return fmt.Errorf("%s max limit to request ratio per %s is %s, but provided ratio is %f", name, of, bound.String(), ratio)
	}
	return nil
}
