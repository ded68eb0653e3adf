package kind

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/store"
)

func init() {
	register(Kind{
		Version: "v1", Name: "LimitRange",
		ShortNames: []string{"limits"},
		rules:      limitRangeRules,
		Columns:    plainColumns,
	})
}

var limitRangeRules = rules[*corev1.LimitRange]{
	createdByUpdate: true,
	admit: func(_ admission, obj *corev1.LimitRange) error {
		if obj.GetName() == "" {
			obj.SetName(string(obj.GetUID()))
		}
		return nil
	},
	fill: func(obj *corev1.LimitRange) {
		limits := obj.Spec.Limits
		for i := range limits {
			fillLimit(&limits[i])
		}
	},
	validate: func(obj *corev1.LimitRange) field.ErrorList { return checkLimitRange(obj.Spec.Limits) },
	passes:   []store.Pass{store.PassObject},
}

// checkLimits rejects an object that the limit ranges of its namespace do not permit. Objects that
// are being deleted are exempt.
func checkLimits(s *store.Store, w store.Write) error {
	limit := Of(w.Resource).limit
	if limit == nil || w.Part != store.MainPart || w.Old != nil && w.Old.GetDeletionTimestamp() != nil {
		return nil
	}
	return limit(s, w.Obj, w.Old)
}

// limitClaim rejects a claim that requests less or more than the limit ranges of its namespace
// permit. (kubernetes v1.36.3,
// plugin/pkg/admission/limitranger/admission.go: PersistentVolumeClaimValidateLimitFunc)
func limitClaim(cluster store.Reader, pvc, _ *corev1.PersistentVolumeClaim) error {
	for limits := range store.List[*corev1.LimitRange](cluster, pvc.Namespace) {
		if err := outsideOf(limits, pvc.Spec.Resources.Requests); err != nil {
			return apierrors.NewForbidden(corev1.Resource("persistentvolumeclaims"), pvc.Name, err)
		}
	}
	return nil
}

// outsideOf describes how requests of a claim exceed a limit range, nil if they do not.
func outsideOf(limits *corev1.LimitRange, requests corev1.ResourceList) error {
	var errs []error
	for _, limit := range limits.Spec.Limits {
		if limit.Type != corev1.LimitTypePersistentVolumeClaim {
			continue
		}
		errs = append(errs, outside("minimum", limit.Min, requests, func(compared int) bool { return compared < 0 })...)
		errs = append(errs, outside("maximum", limit.Max, requests, func(compared int) bool { return compared > 0 })...)
	}
	return utilerrors.NewAggregate(errs)
}

func outside(which string, bounds, requests corev1.ResourceList, wrong func(compared int) bool) (errs []error) {
	for _, name := range slices.Sorted(maps.Keys(bounds)) {
		bound := bounds[name]
		request, asked := requests[name]
		switch {
		case !asked:
			errs = append(errs, fmt.Errorf("%s %s usage per PersistentVolumeClaim is %s.  No request is specified", which, name, bound.String()))
		case wrong(request.Cmp(bound)):
			errs = append(errs, fmt.Errorf("%s %s usage per PersistentVolumeClaim is %s, but request is %s", which, name, bound.String(), request.String()))
		}
	}
	return errs
}
