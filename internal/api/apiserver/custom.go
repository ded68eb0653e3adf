package apiserver

import (
	"fmt"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apimachinery/pkg/version"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/definition"
	"github.com/csisim/csisim/internal/world/store"
)

// customKind is one version of a kind that a definition adds.
type customKind struct {
	version     *definition.Version
	definition  *definition.Definition
	gvk         schema.GroupVersionKind
	listKind    string
	established bool
	terminating bool
	shown       []kind.Column
	managers    *sync.Map
	typed       func() (typeConverter, error)
}

var definitionsKind = schema.GroupVersionKind{Group: apiextensionsv1.GroupName, Version: "v1", Kind: "CustomResourceDefinition"}

func isDefinition(res *store.Resource) bool { return res.GVK == definitionsKind }

var (
	verbsOfOwn     = []string{"delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"}
	verbsOfLeaving = []string{"delete", "deletecollection", "get", "list", "watch"}
)

// customKinds returns the served versions of a definition's kind.
func (c *catalog) customKinds(res *store.Resource, d *definition.Definition) []*servedKind {
	var kinds []*servedKind
	for _, v := range d.Versions {
		if v.Spec.Served {
			kinds = append(kinds, c.customKind(res, d, v))
		}
	}
	return kinds
}

func (c *catalog) customKind(res *store.Resource, d *definition.Definition, v *definition.Version) *servedKind {
	names := d.Object.Status.AcceptedNames
	gv := schema.GroupVersion{Group: d.Object.Spec.Group, Version: v.Spec.Name}
	k := &servedKind{
		res: res, gvr: gv.WithResource(names.Plural), gvk: gv.WithKind(names.Kind),
		singular: names.Singular, shortNames: names.ShortNames, categories: names.Categories,
		verbs: verbsOfOwn, hasStatus: v.HasStatus(), warning: deprecation(d.Object, v.Spec),
	}
	k.custom = c.known(k, v)
	if k.custom == nil {
		k.custom = newCustomKind(k, d, v)
	} else {
		same := *k.custom
		k.custom = &same
	}
	k.custom.established, k.custom.terminating = definition.IsEstablished(d.Object), definition.IsTerminating(d.Object)
	if k.custom.terminating {
		k.verbs = verbsOfLeaving
	}
	if v.HasStatus() {
		k.subresources = append(k.subresources, kind.Subresource{Name: "status", Verbs: kind.PartVerbs})
	}
	if v.Scale() != nil {
		k.subresources = append(k.subresources, kind.Subresource{Name: "scale", Verbs: kind.PartVerbs, GVK: kind.ScaleKind})
	}
	if v != d.StorageVersion || d.Object.Generation > 1 {
		k.form = k.custom.form(d.StorageVersion)
	}
	return k
}

// known returns the customKind of an unchanged version, nil if the version is new.
func (c *catalog) known(of *servedKind, v *definition.Version) *customKind {
	for _, k := range c.kinds {
		if k.custom != nil && k.custom.version == v && k.gvk == of.gvk {
			return k.custom
		}
	}
	return nil
}

func newCustomKind(k *servedKind, d *definition.Definition, v *definition.Version) *customKind {
	custom := &customKind{
		version: v, definition: d, gvk: k.gvk, listKind: d.Object.Status.AcceptedNames.ListKind,
		shown: kind.ColumnsOfVersion(v.Spec), managers: &sync.Map{},
	}
	custom.typed = sync.OnceValues(func() (typeConverter, error) { return typesOf(k) })
	return custom
}

func (o *customKind) new() store.Object {
	obj := &unstructured.Unstructured{Object: map[string]any{}}
	obj.SetGroupVersionKind(o.gvk)
	return obj
}

// form returns the conversion of the kind. Objects are stored in one version, and shown in each
// version with its current defaults.
func (o *customKind) form(stored *definition.Version) *kind.Form {
	return &kind.Form{
		New: o.new,
		Present: func(obj store.Object) store.Object {
			shown := obj.DeepCopyObject().(*unstructured.Unstructured)
			shown.SetGroupVersionKind(o.gvk)
			_, _ = o.version.Read(shown.Object) // the object was valid before
			return shown
		},
		Accept: func(obj store.Object) store.Object {
			obj.GetObjectKind().SetGroupVersionKind(o.gvk.GroupKind().WithVersion(stored.Spec.Name))
			return obj
		},
	}
}

// decode reads a body. An error of strict decoding comes with the object.
func (k *servedKind) read(serializer runtime.Serializer, body []byte, into store.Object) (runtime.Object, *schema.GroupVersionKind, error) {
	obj, gvk, err := serializer.Decode(body, &k.gvk, into)
	custom, ok := obj.(*unstructured.Unstructured)
	if k.custom == nil || !ok {
		return obj, gvk, err
	}
	strict, tolerable := runtime.AsStrictDecodingError(err)
	if err != nil && !tolerable {
		return obj, gvk, err
	}
	var mistakes []error
	if tolerable {
		mistakes = strict.Errors()
	}
	unknown, err := k.custom.version.Read(custom.Object)
	if err != nil {
		return nil, gvk, err
	}
	for _, path := range unknown {
		mistakes = append(mistakes, fmt.Errorf("unknown field %q", path))
	}
	if len(mistakes) > 0 {
		return obj, gvk, runtime.NewStrictDecodingError(mistakes)
	}
	return obj, gvk, nil
}

// deprecation returns the warning of a deprecated version.
func deprecation(d *apiextensionsv1.CustomResourceDefinition, v *apiextensionsv1.CustomResourceDefinitionVersion) string {
	switch {
	case !v.Deprecated:
		return ""
	case v.DeprecationWarning != nil:
		return *v.DeprecationWarning
	}
	newest := ""
	for _, other := range d.Spec.Versions {
		newer := version.CompareKubeAwareVersionStrings(v.Name, other.Name) < 0
		if other.Served && !other.Deprecated && newer && (newest == "" || version.CompareKubeAwareVersionStrings(newest, other.Name) < 0) {
			newest = other.Name
		}
	}
	text := []string{fmt.Sprintf("%s/%s %s is deprecated", d.Spec.Group, v.Name, d.Spec.Names.Kind)}
	if newest != "" {
		text = append(text, fmt.Sprintf("use %s/%s %s", d.Spec.Group, newest, d.Spec.Names.Kind))
	}
	return strings.Join(text, "; ")
}

// checkKind rejects an object of another kind. The message depends on whether the kind has a Go
// type or a definition.
func (k *servedKind) checkKind(obj store.Object, gvk *schema.GroupVersionKind) error {
	if gvk.Kind == k.gvk.Kind || gvk.GroupVersion() != k.gvk.GroupVersion() {
		return nil
	}
	return apierrors.NewInvalid(k.gvk.GroupKind(), obj.GetName(), field.ErrorList{
		field.Invalid(field.NewPath("kind"), gvk.Kind, "must be "+k.gvk.Kind),
	})
}
