package sim

import (
	"encoding/json"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/csisim/csisim/sim/store"
)

// Apply creates an object or changes it to what is given, as kubectl apply does:
// fields that an earlier Apply set and this one leaves out are removed, fields
// that others set are kept. It returns "created", "configured" or "unchanged".
func (c *Simulation) Apply(obj store.Object) (verb string, err error) {
	c.gate.enter(func() { verb, err = c.apply(obj) })
	return verb, err
}

func (c *Simulation) apply(obj store.Object) (verb string, err error) {
	res, err := store.ResourceOf(obj)
	if err != nil {
		return "", err
	}
	given := obj.DeepCopyObject().(store.Object)
	if res.Namespaced && given.GetNamespace() == "" {
		given.SetNamespace("default")
	}
	applied, err := compact(given)
	if err != nil {
		return "", fmt.Errorf("apply %s %s: %w", res, store.KeyOf(given), err)
	}
	live, exists := c.World.Store.GetObject(res, store.KeyOf(given))
	if !exists || given.GetName() == "" {
		created, err := c.World.Store.AdoptObject(res, given)
		if err != nil {
			return "", err
		}
		c.applied[appliedKey{res, store.KeyOf(created)}] = applied
		return "created", nil
	}
	merged, err := c.merge(res, live, given)
	if err != nil {
		return "", fmt.Errorf("apply %s %s: %w", res, store.KeyOf(given), err)
	}
	updated, err := c.World.Store.UpdateObject(res, merged)
	if err != nil {
		return "", err
	}
	c.applied[appliedKey{res, store.KeyOf(given)}] = applied
	if updated.GetResourceVersion() == live.GetResourceVersion() {
		return "unchanged", nil
	}
	return "configured", nil
}

// appliedKey names what was applied.
type appliedKey struct {
	*store.Resource
	store.Key
}

// merge is the three-way merge of what was applied before, what is given now and
// what is stored.
func (c *Simulation) merge(res *store.Resource, live, given store.Object) (store.Object, error) {
	current, err := json.Marshal(live)
	if err != nil {
		return nil, err
	}
	next, err := json.Marshal(given)
	if err != nil {
		return nil, err
	}
	before, err := c.applied[appliedKey{res, store.KeyOf(live)}].json(res)
	if err != nil {
		return nil, err
	}
	meta, err := strategicpatch.NewPatchMetaFromStruct(live)
	if err != nil {
		return nil, err
	}
	patch, err := strategicpatch.CreateThreeWayMergePatch(before, next, current, meta, true)
	if err != nil {
		return nil, err
	}
	text, err := strategicpatch.StrategicMergePatch(current, patch, live)
	if err != nil {
		return nil, err
	}
	merged := reflect.New(reflect.TypeOf(live).Elem()).Interface().(store.Object)
	return merged, json.Unmarshal(text, merged)
}

// Delete asks for an object's deletion, as kubectl delete does.
func (c *Simulation) Delete(res *store.Resource, key store.Key, opts ...store.DeleteOption) error {
	var err error
	c.gate.enter(func() { _, err = c.World.Store.DeleteObject(res, key, opts...) })
	return err
}
