package apiserver

import (
	"encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
)

type typeConverter = managedfields.TypeConverter

// manager records the owners of fields of a kind that a definition adds.
func (o *customKind) manager(k *servedKind, what part) (*managedfields.FieldManager, error) {
	if known, ok := o.managers.Load(what); ok {
		return known.(*managedfields.FieldManager), nil
	}
	types, err := o.typed()
	if err != nil {
		return nil, err
	}
	made, err := managedfields.NewDefaultCRDFieldManager(types, sameContent{}, noDefaults{}, emptyObjects{}, k.gvk, k.gvk.GroupVersion(),
		string(what), resetFields(k, what))
	if err != nil {
		return nil, fmt.Errorf("field ownership of %s: %w", k.gvk.Kind, err)
	}
	o.managers.Store(what, made)
	return made, nil
}

// typesOf converts the schema of a kind's versions to the form in which fields are merged.
func typesOf(versions ...*servedKind) (typeConverter, error) {
	k := versions[0]
	text, err := json.Marshal(modelsOf(versions...).made)
	if err != nil {
		return nil, fmt.Errorf("encoding the schema of %s: %w", k.gvk.Kind, err)
	}
	var schemas map[string]*spec.Schema
	if err := json.Unmarshal(text, &schemas); err != nil {
		return nil, fmt.Errorf("reading the schema of %s: %w", k.gvk.Kind, err)
	}
	types, err := managedfields.NewTypeConverter(schemas, false)
	if err != nil {
		return nil, fmt.Errorf("types of %s: %w", k.gvk.Kind, err)
	}
	return types, nil
}

// resetOwn returns the fields that a write to a part of a custom resource cannot set.
func resetOwn(k *servedKind, what part) map[fieldpath.APIVersion]fieldpath.Filter {
	reset := fieldpath.NewSet(fieldpath.MakePathOrDie("status"))
	if what == statusPart {
		reset = fieldpath.NewSet(fieldpath.MakePathOrDie("metadata"), fieldpath.MakePathOrDie("spec"))
	}
	return map[fieldpath.APIVersion]fieldpath.Filter{
		fieldpath.APIVersion(k.gvk.GroupVersion().String()): fieldpath.NewExcludeSetFilter(reset),
	}
}

// emptyObjects creates objects of any kind.
type emptyObjects struct{}

func (emptyObjects) New(kind schema.GroupVersionKind) (runtime.Object, error) {
	obj := &unstructured.Unstructured{Object: map[string]any{}}
	obj.SetGroupVersionKind(kind)
	return obj, nil
}

// sameContent converts between the versions of a definition: only the name of the
// version differs.
type sameContent struct{}

func (sameContent) Convert(in, out, _ any) error {
	from, ok := in.(*unstructured.Unstructured)
	to, ok2 := out.(*unstructured.Unstructured)
	if !ok || !ok2 {
		return fmt.Errorf("converting a %T into a %T", in, out)
	}
	to.Object = from.Object
	return nil
}

func (sameContent) ConvertToVersion(in runtime.Object, target runtime.GroupVersioner) (runtime.Object, error) {
	gvk := in.GetObjectKind().GroupVersionKind()
	wanted, ok := target.KindForGroupVersionKinds([]schema.GroupVersionKind{gvk})
	if !ok || wanted == gvk {
		return in, nil
	}
	out := in.DeepCopyObject()
	out.GetObjectKind().SetGroupVersionKind(wanted)
	return out, nil
}

func (sameContent) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}
