package apiserver

import (
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/csisim/csisim/internal/world/store"
)

// apply sets the fields that a manager applies, unless they belong to other managers. It creates a
// missing object.
func (p *patcher) apply() (stored store.Object, created bool, err error) {
	patch := &unstructured.Unstructured{Object: map[string]any{}}
	if err := yaml.Unmarshal(p.body, &patch.Object); err != nil {
		return nil, false, badRequest("error decoding YAML: %v", err)
	}
	old, exists := p.server.store.GetObject(p.kind.res, p.key())
	if exists {
		p.before = old
	}
	if !exists && p.what != mainPart {
		return nil, false, apierrors.NewNotFound(p.kind.gvr.GroupResource(), p.info.name)
	}
	if uid := patch.GetUID(); uid != "" && !exists {
		return nil, false, apierrors.NewConflict(p.kind.gvr.GroupResource(), p.info.name,
			fmt.Errorf("uid mismatch: the provided object specified uid %s, and no existing object was found", uid))
	}
	if !exists {
		patch.SetResourceVersion("") // the version of a deleted object does no harm
	}
	if version := patch.GetResourceVersion(); version != "" && exists && version != old.GetResourceVersion() {
		return nil, false, apierrors.NewConflict(p.kind.gvr.GroupResource(), p.info.name, errModified)
	}
	obj, err := p.applied(patch, old, exists)
	if err != nil {
		return nil, false, err
	}
	if err := p.strictly(p.kind.gvk, p.kind.newObject()); err != nil {
		return nil, false, err
	}
	options := append(p.options.forStore(p.kind), store.Finish(p.mayWrite))
	if !exists {
		stored, err = p.server.store.CreateObject(p.kind.res, obj, options...)
		return stored, true, err
	}
	stored, err = p.replace(obj, p.what, append(options, store.Patched()))
	return stored, false, err
}

var errModified = fmt.Errorf("the object has been modified; please apply your changes to the latest version and try again")

// applied merges the patch into the current object.
func (p *patcher) applied(patch *unstructured.Unstructured, old store.Object, exists bool) (store.Object, error) {
	fields, err := managerOf(p.kind, p.what)
	if err != nil {
		return nil, err
	}
	live := p.kind.newObject()
	var before []metav1.ManagedFieldsEntry
	if exists {
		live = p.kind.presented(old).DeepCopyObject().(store.Object)
		before = old.GetManagedFields()
	}
	live.GetObjectKind().SetGroupVersionKind(p.kind.gvk)
	merged, err := fields.Apply(live, patch, p.options.fieldManager, p.force)
	if err != nil {
		return nil, err
	}
	obj := p.kind.accepted(merged.(store.Object))
	obj.SetManagedFields(p.server.managedFields.timed(obj.GetManagedFields(), before))
	return obj, p.settleName(obj)
}

// strictly rejects unknown and duplicate fields of a patch for an object of a kind.
func (p *patcher) strictly(gvk schema.GroupVersionKind, obj runtime.Object) error {
	if p.options.fieldValidation == metav1.FieldValidationIgnore {
		return nil
	}
	_, _, err := serializerOf(typeYAML).StrictSerializer.Decode(p.body, &gvk, obj)
	if _, strict := runtime.AsStrictDecodingError(err); !strict {
		return nil // other errors are reported when the fields are merged
	}
	if err := p.tolerate(p.options.fieldValidation, obj, err); err != nil {
		var twice error
		if twice = yaml.UnmarshalStrict(p.body, &map[string]any{}); twice == nil {
			twice = err
		}
		return badRequest("error strict decoding YAML: %v", twice)
	}
	return nil
}
