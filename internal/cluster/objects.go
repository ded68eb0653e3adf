package cluster

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

// Objects are the objects that a scenario has applied, in the cluster's store.
type Objects struct {
	store    *store.Store
	applied  map[*store.Resource]map[store.Key]applied
	unwanted map[Object]bool // applied and deleted by the scenario
	addons   bool            // whether the kinds of CSI-Addons have been defined
}

// Object is an object that the scenario has applied.
type Object struct {
	Resource *store.Resource
	Key      store.Key
}

// NewObjects returns the objects of a scenario that has applied none.
func NewObjects(s *store.Store) *Objects {
	return &Objects{store: s, applied: map[*store.Resource]map[store.Key]applied{}, unwanted: map[Object]bool{}}
}

// Apply creates an object or changes it to the given form, as kubectl apply does. It returns
// "created", "configured" or "unchanged".
func (o *Objects) Apply(obj store.Object) (verb string, err error) {
	if err := o.DefineKindOf(obj); err != nil {
		return "", err
	}
	res, err := kind.ResourceOf(o.store, obj)
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
	live, exists := o.store.GetObject(res, store.KeyOf(given))
	if !exists || given.GetName() == "" {
		if err := kind.Accept(res, given); err != nil {
			return "", err
		}
		created, err := o.store.AdoptObject(res, given)
		if err != nil {
			return "", err
		}
		o.keepApplied(res, store.KeyOf(created), applied)
		return "created", nil
	}
	merged, err := o.merge(res, live, given)
	if err != nil {
		return "", fmt.Errorf("apply %s %s: %w", res, store.KeyOf(given), err)
	}
	updated, err := o.store.UpdateObject(res, merged)
	if err != nil {
		return "", err
	}
	o.keepApplied(res, store.KeyOf(given), applied)
	if updated.GetResourceVersion() == live.GetResourceVersion() {
		return "unchanged", nil
	}
	return "configured", nil
}

func (o *Objects) keepApplied(res *store.Resource, key store.Key, form applied) {
	delete(o.unwanted, Object{res, key})
	if o.applied[res] == nil {
		o.applied[res] = map[store.Key]applied{}
	}
	o.applied[res][key] = form
}

// merge returns the three-way merge of the last applied, the given and the stored object.
func (o *Objects) merge(res *store.Resource, live, given store.Object) (store.Object, error) {
	current, err := json.Marshal(live)
	if err != nil {
		return nil, err
	}
	next, err := json.Marshal(given)
	if err != nil {
		return nil, err
	}
	before, err := o.applied[res][store.KeyOf(live)].json(res)
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

// mergeCustom returns the merge of custom resources. It replaces their lists, because no Go type
// defines how to merge them.
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
func (o *Objects) Delete(res *store.Resource, key store.Key, opts ...store.DeleteOption) error {
	if o.Has(Object{res, key}) {
		o.unwanted[Object{res, key}] = true
	}
	_, err := o.store.DeleteObject(res, key, opts...)
	return err
}

// Adopt makes the next Apply treat an existing object as if it had been applied in the given form.
func (o *Objects) Adopt(a Object, as store.Object) error {
	form, err := compact(as)
	if err == nil {
		o.keepApplied(a.Resource, a.Key, form)
	}
	return err
}

// Has reports whether the scenario has applied an object.
func (o *Objects) Has(a Object) bool {
	_, own := o.applied[a.Resource][a.Key]
	return own
}

// IsUnwanted reports whether the scenario has also deleted an object.
func (o *Objects) IsUnwanted(a Object) bool { return o.unwanted[a] }

// AsApplied returns an object in the form in which the scenario has applied it.
func (o *Objects) AsApplied(a Object) (store.Object, error) {
	manifest, err := o.applied[a.Resource][a.Key].json(a.Resource)
	if err != nil {
		return nil, err
	}
	obj := a.Resource.New()
	return obj, json.Unmarshal(manifest, obj)
}
