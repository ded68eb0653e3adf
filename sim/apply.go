package sim

import (
	"encoding/json"
	"fmt"
	"reflect"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/store"
)

// Apply creates an object or changes it to the given one, as kubectl apply does: fields that an
// earlier Apply set and this one leaves out are removed, fields that others set are kept. It
// returns "created", "configured" or "unchanged".
func (c *Simulation) Apply(obj store.Object) (verb string, err error) {
	if err := c.Powered(); err != nil {
		return "", err
	}
	c.run.gate.enter(func() { verb, err = c.apply(obj) })
	return verb, err
}

func (c *Simulation) apply(obj store.Object) (verb string, err error) {
	if err := c.defineKindOf(obj); err != nil {
		return "", err
	}
	res, err := kind.ResourceOf(c.World.Store, obj)
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
		if err := kind.Accept(res, given); err != nil {
			return "", err
		}
		created, err := c.World.Store.AdoptObject(res, given)
		if err != nil {
			return "", err
		}
		c.keepApplied(res, store.KeyOf(created), applied)
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
	c.keepApplied(res, store.KeyOf(given), applied)
	if updated.GetResourceVersion() == live.GetResourceVersion() {
		return "unchanged", nil
	}
	return "configured", nil
}

func (c *Simulation) keepApplied(res *store.Resource, key store.Key, form applied) {
	delete(c.unwanted, application{res, key})
	if c.applied[res] == nil {
		c.applied[res] = map[store.Key]applied{}
	}
	c.applied[res][key] = form
}

// merge is the three-way merge of the last applied object, the given one and the stored one.
func (c *Simulation) merge(res *store.Resource, live, given store.Object) (store.Object, error) {
	current, err := json.Marshal(live)
	if err != nil {
		return nil, err
	}
	next, err := json.Marshal(given)
	if err != nil {
		return nil, err
	}
	before, err := c.applied[res][store.KeyOf(live)].json(res)
	if err != nil {
		return nil, err
	}
	if kind.DefinitionOf(res) != nil {
		return mergeCustom(res, before, next, current)
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

// mergeCustom is the merge of custom resources: no Go type defines how to merge their lists, and
// therefore it replaces them.
func mergeCustom(res *store.Resource, before, next, current []byte) (store.Object, error) {
	given := res.New()
	if err := json.Unmarshal(next, given); err != nil {
		return nil, err
	}
	if err := kind.Accept(res, given); err != nil {
		return nil, err
	}
	patch, err := jsonmergepatch.CreateThreeWayJSONMergePatch(before, next, current)
	if err != nil {
		return nil, err
	}
	text, err := jsonpatch.MergePatch(current, patch)
	if err != nil {
		return nil, err
	}
	merged := res.New()
	return merged, json.Unmarshal(text, merged)
}

// Delete requests an object's deletion, as kubectl delete does.
func (c *Simulation) Delete(res *store.Resource, key store.Key, opts ...store.DeleteOption) error {
	err := c.Powered()
	if err != nil {
		return err
	}
	c.run.gate.enter(func() {
		if _, own := c.applied[res][key]; own {
			c.unwanted[application{res, key}] = true
		}
		_, err = c.World.Store.DeleteObject(res, key, opts...)
	})
	return err
}
