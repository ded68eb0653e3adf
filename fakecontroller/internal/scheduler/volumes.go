package scheduler

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	storagevolume "k8s.io/component-helpers/storage/volume"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/store"
)

// bindingPlan is the scheduler's plan for delayed claims on one node.
type bindingPlan struct {
	static    []staticBinding
	provision []*corev1.PersistentVolumeClaim
}

// staticBinding gives a claim a volume that exists.
type staticBinding struct {
	claim  *corev1.PersistentVolumeClaim
	volume *corev1.PersistentVolume
}

// sortDelayed sorts the delayed claims by size and finds the available volumes for them. C-SCHED-4
func (s *Scheduler) sortDelayed(a *attempt) {
	slices.SortStableFunc(a.delayed, func(x, y delayedClaim) int {
		return x.claim.Spec.Resources.Requests.Storage().Cmp(*y.claim.Spec.Resources.Requests.Storage())
	})
	for i := range a.delayed {
		d := &a.delayed[i]
		for pv := range store.Indexed[*corev1.PersistentVolume](s.Cache, kind.VolumesByClaim, store.KeyOf(d.claim).String()) {
			d.candidates = append(d.candidates, s.volumes.Newest(pv))
		}
		for pv := range store.Indexed[*corev1.PersistentVolume](s.Cache, kind.UnboundVolumesByClass, d.class.Name) {
			d.candidates = append(d.candidates, s.volumes.Newest(pv))
		}
	}
}

// filterVolumes checks whether a pod's volumes are usable on a node, or can be bound or provisioned
// there. C-SCHED-2
func (s *Scheduler) filterVolumes(a *attempt, n *node) (bindingPlan, refusal) {
	refuse := func(reason string) (bindingPlan, refusal) {
		return bindingPlan{}, refusal{volumeBinding, reason, true}
	}
	for _, claim := range a.bound {
		pv := a.fixedVolume[claim.Spec.VolumeName]
		switch {
		case pv == nil:
			return refuse("node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)")
		case !fitsAffinity(pv, n):
			return refuse("node(s) didn't match PersistentVolume's node affinity")
		}
	}
	plan, missing := planFor(a.delayed, n)
	switch {
	case missing || !s.canProvision(a, plan, n):
		return refuse("node(s) didn't find available persistent volumes to bind")
	case !s.hasCapacity(a, plan, n):
		return refuse("node(s) did not have enough free storage")
	}
	return plan, refusal{}
}

// planFor matches delayed claims with volumes; the remaining claims have to be provisioned. A claim
// with another selected node cannot be provisioned here.
func planFor(delayed []delayedClaim, n *node) (plan bindingPlan, elsewhere bool) {
	taken := map[string]*corev1.PersistentVolume{}
	for _, d := range delayed {
		if selected, ok := d.claim.Annotations[storagevolume.AnnSelectedNode]; ok {
			if selected != n.name {
				return bindingPlan{}, true
			}
			plan.provision = append(plan.provision, d.claim)
			continue
		}
		pv, err := storagevolume.FindMatchingVolume(d.claim, d.candidates, n.object, taken, true, true)
		if err != nil || pv == nil {
			plan.provision = append(plan.provision, d.claim)
			continue
		}
		taken[pv.Name] = pv
		plan.static = append(plan.static, staticBinding{d.claim, pv})
	}
	return plan, false
}

// canProvision: C-SCHED-5
func (s *Scheduler) canProvision(a *attempt, plan bindingPlan, n *node) bool {
	for _, claim := range plan.provision {
		class := classOf(a, claim)
		if class.Provisioner == "" || class.Provisioner == storagevolume.NotSupportedProvisioner || !allowedOn(class, n.object.Labels) {
			return false
		}
	}
	return true
}

func classOf(a *attempt, claim *corev1.PersistentVolumeClaim) *storagev1.StorageClass {
	i := slices.IndexFunc(a.delayed, func(d delayedClaim) bool { return d.claim.UID == claim.UID })
	return a.delayed[i].class
}

// allowedOn reports whether the class allows volumes for a node with these labels.
func allowedOn(class *storagev1.StorageClass, node map[string]string) bool {
	for _, term := range class.AllowedTopologies {
		if matchesAll(term.MatchLabelExpressions, node) {
			return true
		}
	}
	return len(class.AllowedTopologies) == 0
}

func matchesAll(expressions []corev1.TopologySelectorLabelRequirement, node map[string]string) bool {
	for _, e := range expressions {
		value, ok := node[e.Key]
		if !ok || !slices.Contains(e.Values, value) {
			return false
		}
	}
	return len(expressions) > 0
}

// hasCapacity reads the CSIStorageCapacity objects, if the driver publishes them. C-SCHED-6
func (s *Scheduler) hasCapacity(a *attempt, plan bindingPlan, n *node) bool {
	for _, claim := range plan.provision {
		class := classOf(a, claim)
		driver, ok := component.Cached[*storagev1.CSIDriver](s.Component, store.Key{Name: class.Provisioner})
		if !ok || !checksCapacity(driver) {
			continue
		}
		if !s.someCapacity(class.Name, claim.Spec.Resources.Requests.Storage(), n) {
			return false
		}
	}
	return true
}

func checksCapacity(driver *storagev1.CSIDriver) bool {
	return driver.Spec.StorageCapacity != nil && *driver.Spec.StorageCapacity
}

func (s *Scheduler) someCapacity(class string, size *resource.Quantity, n *node) bool {
	for c := range store.List[*storagev1.CSIStorageCapacity](s.Cache, "") {
		if c.StorageClassName == class && suffices(c, size) && reaches(c, n.object.Labels) {
			return true
		}
	}
	return false
}

func suffices(c *storagev1.CSIStorageCapacity, size *resource.Quantity) bool {
	limit := limitOf(c)
	return limit != nil && limit.Cmp(*size) >= 0
}

func limitOf(c *storagev1.CSIStorageCapacity) *resource.Quantity {
	return cmp.Or(c.MaximumVolumeSize, c.Capacity)
}

func reaches(c *storagev1.CSIStorageCapacity, node map[string]string) bool {
	if c.NodeTopology == nil {
		return false
	}
	selector, err := metav1.LabelSelectorAsSelector(c.NodeTopology)
	return err == nil && selector.Matches(labels.Set(node))
}
