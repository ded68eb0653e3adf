package kind

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/csisim/csisim/internal/world/definition"
	"github.com/csisim/csisim/internal/world/store"
)

// custom marks the kind of a definition. The kind stays the same when its definition changes.
type custom struct{ definition *definition.Definition }

// customResource makes the kind of a definition. Its objects are JSON, in the stored version.
func customResource(d *apiextensionsv1.CustomResourceDefinition) *store.Resource {
	c := &custom{}
	r := &store.Resource{Namespaced: d.Spec.Scope == apiextensionsv1.NamespaceScoped}
	k := &Kind{traits: ofDefinition, custom: c, rules: rules[*unstructured.Unstructured]{
		statusOnly: true,
		fill:       c.read,
		admit:      func(_ admission, obj *unstructured.Unstructured) error { return c.admit(r, obj) },
		validate: func(obj *unstructured.Unstructured) field.ErrorList {
			return c.definition.StorageVersion.Validate(obj.Object)
		},
		validateUpdate: func(obj, old *unstructured.Unstructured) field.ErrorList {
			return c.definition.StorageVersion.ValidateUpdate(obj.Object, old.Object)
		},
		validateStatus: func(obj, old *unstructured.Unstructured) field.ErrorList {
			return c.definition.StorageVersion.ValidateStatus(obj.Object, old.Object)
		},
		observe: func(in *cluster, obj, _ *unstructured.Unstructured) {
			if obj == nil {
				in.definitions.unsettle(r)
			}
		},
	}}
	r.New = func() store.Object {
		obj := &unstructured.Unstructured{}
		obj.SetGroupVersionKind(r.GVK)
		return obj
	}
	k.complete(r)
	return r
}

// redefine updates the kind from its definition.
func redefine(r *store.Resource, d *definition.Definition) {
	names := d.Object.Status.AcceptedNames
	gv := schema.GroupVersion{Group: d.Object.Spec.Group, Version: d.StorageVersion.Spec.Name}
	r.GVK, r.GVR = gv.WithKind(names.Kind), gv.WithResource(names.Plural)
	r.Status = d.StorageVersion.HasStatus()
	k := Of(r)
	k.Group, k.Version, k.Name, k.Plural = gv.Group, gv.Version, names.Kind, names.Plural
	k.ShortNames, k.Categories = names.ShortNames, names.Categories
	k.custom.definition = d
}

// ResourceOf finds the resource of a client's object: by its Go type or, for an unstructured one,
// by its kind in a served version.
func ResourceOf(s *store.Store, obj store.Object) (*store.Resource, error) {
	if _, ok := obj.(*unstructured.Unstructured); !ok {
		return store.ResourceOf(obj)
	}
	gvk := obj.GetObjectKind().GroupVersionKind()
	res, ok := s.ResourceFor(gvk)
	if ok && Of(res).custom != nil {
		_, ok = Of(res).custom.definition.Served(gvk.Version)
	}
	if !ok {
		return nil, fmt.Errorf("%w; it takes a CustomResourceDefinition before", &meta.NoKindMatchError{
			GroupKind: gvk.GroupKind(), SearchedVersions: []string{gvk.Version},
		})
	}
	return res, nil
}

// VersionsOf returns the served versions of a custom kind, in the form of apiVersion, in the order
// of the definition; none for other kinds.
func VersionsOf(s *store.Store, kind schema.GroupKind) []string {
	res, ok := s.ResourceFor(kind.WithVersion(""))
	if !ok || Of(res).custom == nil {
		return nil
	}
	var versions []string
	for _, v := range Of(res).custom.definition.Versions {
		if v.Spec.Served {
			versions = append(versions, kind.Group+"/"+v.Spec.Name)
		}
	}
	return versions
}

// Accept converts a client's object in any served version to the stored one. It rejects fields that
// the version does not have, as kubectl requests. It does not change objects of built-in kinds.
func Accept(r *store.Resource, obj store.Object) error {
	if Of(r).custom == nil {
		return nil
	}
	gvk := obj.GetObjectKind().GroupVersionKind()
	v, ok := Of(r).custom.definition.Served(gvk.Version)
	if !ok {
		return &meta.NoKindMatchError{GroupKind: gvk.GroupKind(), SearchedVersions: []string{gvk.Version}}
	}
	unknown, err := v.Read(typed[*unstructured.Unstructured](obj).Object)
	if err == nil && len(unknown) > 0 {
		errs := make([]error, len(unknown))
		for i, path := range unknown {
			errs[i] = fmt.Errorf("unknown field %q", path)
		}
		err = runtime.NewStrictDecodingError(errs)
	}
	if err != nil {
		return apierrors.NewBadRequest(fmt.Sprintf("%s in version %q cannot be handled as a %s: %v", gvk.Kind, gvk.Version, r.GVK.Kind, err))
	}
	obj.GetObjectKind().SetGroupVersionKind(r.GVK)
	return nil
}

// read prunes and completes an object. The decoder rejects invalid metadata.
func (c *custom) read(obj *unstructured.Unstructured) {
	_, _ = c.definition.StorageVersion.Read(obj.Object)
}

// admit rejects new objects of a definition that is being deleted.
func (c *custom) admit(r *store.Resource, obj *unstructured.Unstructured) error {
	if !definition.IsTerminating(c.definition.Object) {
		return nil
	}
	return apierrors.NewForbidden(r.GVR.GroupResource(), obj.GetName(), fmt.Errorf("create not allowed while custom resource definition is terminating"))
}
