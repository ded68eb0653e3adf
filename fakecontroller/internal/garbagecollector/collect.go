package garbagecollector

import (
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// judge deletes an object without remaining owners. From an object with other owners, it removes
// dangling references.
func (c *Collector) judge(p *kernel.Process, id identity) error {
	obj, ok := c.live(p, id)
	if !ok || obj.GetDeletionTimestamp() != nil || len(obj.GetOwnerReferences()) == 0 {
		return nil
	}
	owners := c.sort(p, obj)
	switch {
	case len(owners.solid) > 0:
		return c.dropReferences(p, id, obj, append(owners.dangling, owners.waiting...))
	case len(owners.waiting) > 0 && len(c.graph.dependents(obj.GetUID())) > 0:
		return c.delete(p, id, obj, metav1.DeletePropagationForeground)
	default:
		return c.delete(p, id, obj, policyOf(obj))
	}
}

// ownerStates are the owner references of one object, grouped by the state of the owner.
type ownerStates struct{ solid, dangling, waiting []metav1.OwnerReference }

func (c *Collector) sort(p *kernel.Process, obj store.Object) ownerStates {
	var states ownerStates
	for _, ref := range obj.GetOwnerReferences() {
		id, known := c.ownerIdentity(obj.GetNamespace(), ref)
		if !known { // the state of a kind that is not served here is unknown
			states.solid = append(states.solid, ref)
			continue
		}
		owner, ok := c.live(p, id)
		switch {
		case !ok || owner.GetUID() != ref.UID:
			states.dangling = append(states.dangling, ref)
		case waitsForDependents(owner):
			states.waiting = append(states.waiting, ref)
		default:
			states.solid = append(states.solid, ref)
		}
	}
	return states
}

func (c *Collector) ownerIdentity(namespace string, ref metav1.OwnerReference) (identity, bool) {
	gv, err := schema.ParseGroupVersion(ref.APIVersion)
	if err != nil {
		return identity{}, false
	}
	resource, ok := c.Store.ResourceFor(gv.WithKind(ref.Kind))
	if !ok {
		return identity{}, false
	}
	key := store.Key{Name: ref.Name}
	if resource.Namespaced {
		key.Namespace = namespace
	}
	return identity{resource, key}, true
}

func (c *Collector) live(p *kernel.Process, id identity) (store.Object, bool) {
	p.Yield("get")
	return c.Store.GetObject(id.resource, id.key)
}

// policyOf follows the policy of an earlier deletion of the object.
func policyOf(obj store.Object) metav1.DeletionPropagation {
	switch {
	case slices.Contains(obj.GetFinalizers(), metav1.FinalizerOrphanDependents):
		return metav1.DeletePropagationOrphan
	case slices.Contains(obj.GetFinalizers(), metav1.FinalizerDeleteDependents):
		return metav1.DeletePropagationForeground
	}
	return metav1.DeletePropagationBackground
}

func (c *Collector) delete(p *kernel.Process, id identity, obj store.Object, policy metav1.DeletionPropagation) error {
	p.Yield("delete")
	_, err := c.Store.DeleteObject(id.resource, id.key, store.PreconditionUID(obj.GetUID()), store.Propagation(policy))
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("collect %s %s: %w", id.resource, id.key, err)
	}
	return nil
}

// dropReferences takes owner references off an object.
func (c *Collector) dropReferences(p *kernel.Process, id identity, obj store.Object, gone []metav1.OwnerReference) error {
	if len(gone) == 0 {
		return nil
	}
	return c.patch(p, id, obj, func(now store.Object) {
		now.SetOwnerReferences(slices.DeleteFunc(now.GetOwnerReferences(), func(r metav1.OwnerReference) bool {
			return slices.ContainsFunc(gone, func(g metav1.OwnerReference) bool { return g.UID == r.UID })
		}))
	})
}

func (c *Collector) patch(p *kernel.Process, id identity, obj store.Object, change func(store.Object)) error {
	p.Yield("patch")
	now, ok := c.Store.GetObject(id.resource, id.key)
	if !ok || now.GetUID() != obj.GetUID() {
		return nil
	}
	if _, err := c.Store.ModifyObject(id.resource, id.key, change); err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("patch %s %s: %w", id.resource, id.key, err)
	}
	return nil
}

// settleOwner deletes or orphans the dependents for which an owner waits, and then releases the
// owner.
func (c *Collector) settleOwner(p *kernel.Process, id identity) error {
	owner, ok := c.live(p, id)
	switch {
	case !ok:
		return nil
	case orphans(owner):
		return c.orphan(p, id, owner)
	case waitsForDependents(owner):
		return c.awaitDependents(p, id, owner)
	}
	return nil
}

func (c *Collector) orphan(p *kernel.Process, id identity, owner store.Object) error {
	for _, dependent := range c.graph.dependents(owner.GetUID()) {
		obj, ok := c.live(p, dependent)
		if !ok {
			continue
		}
		if err := c.dropReferences(p, dependent, obj, []metav1.OwnerReference{{UID: owner.GetUID()}}); err != nil {
			return err
		}
	}
	return c.dropFinalizer(p, id, owner, metav1.FinalizerOrphanDependents)
}

// awaitDependents releases the owner when no dependent blocks its deletion.
func (c *Collector) awaitDependents(p *kernel.Process, id identity, owner store.Object) error {
	blocked := false
	for _, dependent := range c.graph.dependents(owner.GetUID()) {
		obj, ok := c.Cache.GetObject(dependent.resource, dependent.key)
		if !ok {
			continue
		}
		blocked = blocked || blocks(obj, owner)
		c.suspects.Add(dependent)
	}
	if blocked {
		return nil
	}
	return c.dropFinalizer(p, id, owner, metav1.FinalizerDeleteDependents)
}

func blocks(dependent, owner store.Object) bool {
	return slices.ContainsFunc(dependent.GetOwnerReferences(), func(r metav1.OwnerReference) bool {
		return r.UID == owner.GetUID() && r.BlockOwnerDeletion != nil && *r.BlockOwnerDeletion
	})
}

func (c *Collector) dropFinalizer(p *kernel.Process, id identity, owner store.Object, finalizer string) error {
	return c.patch(p, id, owner, func(now store.Object) {
		now.SetFinalizers(slices.DeleteFunc(now.GetFinalizers(), func(f string) bool { return f == finalizer }))
	})
}
