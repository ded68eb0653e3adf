package store

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// charge counts a write in the quotas of its namespace, or refuses it. What is limited and
// used is what the quotas' status says, which their controller keeps: until it has, a new
// quota limits nothing. A status is counted, but never refused. As in the real server, a
// write that fails after that stays counted until the controller counts again.
// (k8s.io/apiserver v0.36.3, admission/plugin/resourcequota/controller.go: CheckRequest)
func (s *Store) charge(res *Resource, obj, old Object, what part, dry bool) error {
	if !s.quotas || !res.counted(old != nil) {
		return nil
	}
	return s.chargeAll(res, obj, old, what, dry)
}

func (s *Store) chargeAll(res *Resource, obj, old Object, what part, dry bool) error {
	var charged []*corev1.ResourceQuota
	for quota := range List[*corev1.ResourceQuota](s.head, obj.GetNamespace()) {
		next, err := res.charged(quota, s.options.Now(), obj, old, what)
		if err != nil {
			return apierrors.NewForbidden(res.GVR.GroupResource(), obj.GetName(), err)
		}
		if next != nil {
			charged = append(charged, next)
		}
	}
	if dry {
		return nil
	}
	for _, next := range charged {
		key := KeyOf(next)
		was, _ := s.head.GetObject(quotas, key)
		s.commit(quotas, key, was, next)
	}
	return nil
}

// counted reports whether a write of the kind can change what a quota says is used.
func (r *Resource) counted(update bool) bool {
	return r.Namespaced && (!update || r.quota != nil && r.quota.grows)
}

// evaluator is what objects of a kind count for in quotas, besides their number.
type evaluator struct {
	limits  func(name corev1.ResourceName) bool // reports whether objects count for it
	usage   func(now time.Time, obj Object) corev1.ResourceList
	inScope func(scope corev1.ScopedResourceSelectorRequirement, obj Object) bool // nil: in none
	demands func(limited []corev1.ResourceName, obj Object) error                 // rejects what leaves open what is limited
	grows   bool                                                                  // an update can change what it counts for
}

// charged is a quota in which a write is counted, nil if that changes nothing.
func (r *Resource) charged(quota *corev1.ResourceQuota, now time.Time, obj, old Object, what part) (*corev1.ResourceQuota, error) {
	limited := r.limitedBy(quota.Status.Hard)
	if len(limited) == 0 || !r.isInScopeOf(quota, obj) {
		return nil, nil
	}
	if slices.ContainsFunc(limited, func(name corev1.ResourceName) bool { _, known := quota.Status.Used[name]; return !known }) {
		return nil, fmt.Errorf("status unknown for quota: %s, resources: %s", quota.Name, commaList(limited))
	}
	if r.quota != nil && r.quota.demands != nil {
		if err := r.quota.demands(limited, obj); err != nil {
			return nil, fmt.Errorf("failed quota: %s: %w", quota.Name, err)
		}
	}
	more := r.usage(now, obj)
	if old != nil && r.isInScopeOf(quota, old) {
		more = growth(more, r.usage(now, old))
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
	case len(exceeded) > 0 && what != statusPart:
		return nil, fmt.Errorf("exceeded quota: %s, requested: %s, used: %s, limited: %s",
			quota.Name, amounts(more, exceeded), amounts(quota.Status.Used, exceeded), amounts(quota.Status.Hard, exceeded))
	case equality.Semantic.DeepEqual(next.Status.Used, quota.Status.Used):
		return nil, nil
	}
	return next, nil
}

// growth is by how much more something counts for than before.
func growth(now, before corev1.ResourceList) corev1.ResourceList {
	more := corev1.ResourceList{}
	for name, amount := range now { // any order: each for itself
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
