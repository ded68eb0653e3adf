package kind

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/store"
)

func init() {
	register(Kind{
		Version: "v1", Name: "ResourceQuota",
		ShortNames: []string{"quota"},
		traits:     withStatus, rules: quotaRules,
		Warnings: fromBoth(func(quota, old *corev1.ResourceQuota) []string {
			if old != nil {
				return nil
			}
			return quotaWarnings(quota.Spec.Hard)
		}),
		Columns: []Column{
			nameColumn,
			text("Request", func(q *corev1.ResourceQuota) string { return usedOf(q, false) }),
			text("Limit", func(q *corev1.ResourceQuota) string { return usedOf(q, true) }),
			ageColumn,
		},
		AnswersDeleted: true,
	})
}

var quotaRules = rules[*corev1.ResourceQuota]{
	observe:  func(c *cluster, _, _ *corev1.ResourceQuota) { c.quotas.any = true },
	validate: func(obj *corev1.ResourceQuota) field.ErrorList { return checkQuota(&obj.Spec) },
	validateUpdate: func(obj, old *corev1.ResourceQuota) field.ErrorList {
		now, was := &obj.Spec, &old.Spec
		errs := checkQuota(now)
		if !sets.New(now.Scopes...).Equal(sets.New(was.Scopes...)) {
			errs = append(errs, field.Invalid(field.NewPath("spec", "scopes"), now.Scopes, "field is immutable"))
		}
		return errs
	},
	validateStatus: func(obj, _ *corev1.ResourceQuota) field.ErrorList {
		return checkQuotaStatus(&obj.Status)
	},
}

// quotas counts writes in the quotas of their namespaces.
type quotas struct {
	any bool // a quota was created before
}

// charge counts a write in the quotas of its namespace, or rejects it. It uses the limits and usage
// in the quotas' status, which the controller of quotas maintains. A new quota limits nothing until
// its first status. A write of a status is counted, but never rejected. As in the real server, a
// write that fails later stays counted until the controller counts again. (k8s.io/apiserver
// v0.36.3, admission/plugin/resourcequota/controller.go: CheckRequest)
func (q *quotas) charge(s *store.Store, w store.Write) error {
	if !q.any || !counted(w.Resource, w.Old != nil) {
		return nil // the fast path of most writes
	}
	return chargeAll(s, w)
}

func chargeAll(s *store.Store, w store.Write) error {
	var charged []*corev1.ResourceQuota
	for quota := range store.List[*corev1.ResourceQuota](s, w.Obj.GetNamespace()) {
		next, err := chargedWith(quota, s.Now(), w)
		if err != nil {
			return apierrors.NewForbidden(w.Resource.GVR.GroupResource(), w.Obj.GetName(), err)
		}
		if next != nil {
			charged = append(charged, next)
		}
	}
	if w.DryRun {
		return nil
	}
	for _, next := range charged {
		was, _ := store.Get[*corev1.ResourceQuota](s, store.KeyOf(next))
		s.Commit(resourceOf[*corev1.ResourceQuota](), store.KeyOf(next), was, next)
	}
	return nil
}

// counted reports whether a write of the kind can change the usage of a quota.
func counted(res *store.Resource, update bool) bool {
	quota := counterOf(res)
	return res.Namespaced && (!update || quota != nil && quota.grows)
}

func counterOf(res *store.Resource) *counter { return Of(res).quota }

// evaluator counts objects of type T in quotas, beyond their number.
type evaluator[T store.Object] struct {
	limits  func(name corev1.ResourceName) bool // reports whether objects count for the resource
	usage   func(now time.Time, obj T) corev1.ResourceList
	inScope func(scope corev1.ScopedResourceSelectorRequirement, obj T) bool // nil: none
	// demands rejects an object that does not set a limited resource; nil accepts all.
	demands func(limited []corev1.ResourceName, obj T) error
	grows   bool // an update can change the usage
}

// counter is an evaluator of objects of any type.
type counter struct {
	limits  func(name corev1.ResourceName) bool
	usage   func(now time.Time, obj store.Object) corev1.ResourceList
	inScope func(scope corev1.ScopedResourceSelectorRequirement, obj store.Object) bool
	demands func(limited []corev1.ResourceName, obj store.Object) error
	grows   bool
}

func (e evaluator[T]) counter() *counter {
	return &counter{
		limits: e.limits, grows: e.grows,
		usage: func(now time.Time, obj store.Object) corev1.ResourceList { return e.usage(now, typed[T](obj)) },
		inScope: func(scope corev1.ScopedResourceSelectorRequirement, obj store.Object) bool {
			return e.inScope != nil && e.inScope(scope, typed[T](obj))
		},
		demands: func(limited []corev1.ResourceName, obj store.Object) error {
			if e.demands == nil {
				return nil
			}
			return e.demands(limited, typed[T](obj))
		},
	}
}

// chargedWith returns the quota after it has counted a write; nil if the write changes nothing.
func chargedWith(quota *corev1.ResourceQuota, now time.Time, w store.Write) (*corev1.ResourceQuota, error) {
	res, obj, old := w.Resource, w.Obj, w.Old
	limited := limitedBy(res, quota.Status.Hard)
	if len(limited) == 0 || !isInScopeOf(res, quota, obj) {
		return nil, nil
	}
	if slices.ContainsFunc(limited, func(name corev1.ResourceName) bool { _, known := quota.Status.Used[name]; return !known }) {
		return nil, fmt.Errorf("status unknown for quota: %s, resources: %s", quota.Name, commaList(limited))
	}
	if counter := counterOf(res); counter != nil {
		if err := counter.demands(limited, obj); err != nil {
			return nil, fmt.Errorf("failed quota: %s: %w", quota.Name, err)
		}
	}
	more := usageOf(res, now, obj)
	if old != nil && isInScopeOf(res, quota, old) {
		more = growth(more, usageOf(res, now, old))
	}
	next := quota.DeepCopy()
	var exceeded []corev1.ResourceName
	for _, name := range limited {
		if amount := more[name]; amount.Sign() > 0 {
			total := next.Status.Used[name]
			total.Add(amount)
			next.Status.Used[name] = total
			if limit := quota.Status.Hard[name]; total.Cmp(limit) > 0 {
				exceeded = append(exceeded, name)
			}
		}
	}
	switch {
	case len(exceeded) > 0 && w.Part != store.StatusPart:
		return nil, fmt.Errorf("exceeded quota: %s, requested: %s, used: %s, limited: %s",
			quota.Name, amounts(more, exceeded), amounts(quota.Status.Used, exceeded), amounts(quota.Status.Hard, exceeded))
	case equality.Semantic.DeepEqual(next.Status.Used, quota.Status.Used):
		return nil, nil
	}
	return next, nil
}

// growth returns the increase of usage.
func growth(now, before corev1.ResourceList) corev1.ResourceList {
	more := corev1.ResourceList{}
	for name, amount := range now { // any order: resources are independent
		amount.Sub(before[name])
		if amount.Sign() > 0 {
			more[name] = amount
		}
	}
	return more
}

func commaList(names []corev1.ResourceName) string {
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = string(name)
	}
	return strings.Join(texts, ",")
}

func amounts(list corev1.ResourceList, names []corev1.ResourceName) string {
	texts := make([]string, len(names))
	for i, name := range names {
		amount := list[name]
		texts[i] = fmt.Sprintf("%s=%s", name, amount.String())
	}
	return strings.Join(texts, ",")
}
