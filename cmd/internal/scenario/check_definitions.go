package scenario

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/input/manifest"
	"github.com/csisim/csisim/internal/input/strict"
	"github.com/csisim/csisim/internal/world/lazyregexp"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/sim/expect"
)

// definitions are the CustomResourceDefinitions of the steps so far, in a store without other
// objects.
type definitions struct {
	store *store.Store
	// The step that first defines a kind; -1 if an object at the start defines it.
	from map[schema.GroupKind]int
	at   map[schema.GroupKind]manifest.Object // and the manifest that does
	made map[custom]bool
}

// custom names a custom resource.
type custom struct {
	kind schema.GroupKind
	key  store.Key
}

// checkDefinitions applies the definitions in manifests and steps in order, and checks each custom
// resource against the definitions at its step.
func (c *checker) checkDefinitions() {
	c.definitions = definitions{
		store: kind.NewStore(store.Options{}),
		from:  map[schema.GroupKind]int{}, at: map[schema.GroupKind]manifest.Object{}, made: map[custom]bool{},
	}
	if c.scenario.csiAddons {
		c.definitions.store = withCSIAddons()
		for _, res := range c.definitions.store.Defined() {
			c.definitions.from[res.GVK.GroupKind()] = -1
		}
	}
	c.findDefinitions(-1, c.scenario.objects)
	for i, step := range c.scenario.Steps {
		if apply, ok := step.action.(*applyStep); ok {
			c.findDefinitions(i, apply.objects)
		}
	}
	c.followAll(c.scenario.objects)
	for _, step := range c.scenario.Steps {
		switch action := step.action.(type) {
		case *applyStep:
			c.followAll(action.objects)
		case *deleteStep:
			c.definitions.change(action.Reference, func(res *store.Resource, key store.Key) error {
				_, err := c.definitions.store.DeleteObject(res, key)
				return err
			})
		case *patchStep:
			c.definitions.change(action.Reference, func(res *store.Resource, key store.Key) error {
				return modify(c.definitions.store, res, key, action.Subresource, action.change)
			})
		}
	}
}

// findDefinitions records the kinds that manifests define.
func (c *checker) findDefinitions(step int, objects []manifest.Object) {
	for _, o := range objects {
		d, ok := o.Object.(*apiextensionsv1.CustomResourceDefinition)
		if !ok {
			continue
		}
		kind := schema.GroupKind{Group: d.Spec.Group, Kind: d.Spec.Names.Kind}
		if _, known := c.definitions.at[kind]; !known {
			c.definitions.from[kind], c.definitions.at[kind] = step, o
		}
	}
}

// change applies the change of a step to the definitions. An error is ignored here and reported
// when the step runs.
func (d *definitions) change(ref expect.Reference, do func(*store.Resource, store.Key) error) {
	if ref.Resource == nil || ref.Resource.GVK.Kind != "CustomResourceDefinition" {
		return
	}
	for _, obj := range ref.Find(d.store) {
		_ = do(ref.Resource, store.KeyOf(obj))
	}
}

func (c *checker) followAll(objects []manifest.Object) {
	for _, o := range objects {
		switch obj := o.Object.(type) {
		case *apiextensionsv1.CustomResourceDefinition:
			if err := c.definitions.apply(obj.DeepCopy()); err != nil {
				c.refused(o, err, "a definition that the API server takes")
			}
		case *unstructured.Unstructured:
			c.checkCustom(o, obj.DeepCopy())
		}
	}
}

func (d *definitions) apply(definition *apiextensionsv1.CustomResourceDefinition) error {
	_, err := store.Create(d.store, definition)
	if !apierrors.IsAlreadyExists(err) {
		return err
	}
	_, err = store.Modify(d.store, store.KeyOf(definition), func(old *apiextensionsv1.CustomResourceDefinition) {
		old.Labels, old.Annotations, old.Spec = definition.Labels, definition.Annotations, definition.Spec
	})
	return err
}

// checkCustom reports a custom resource that is not defined, is not defined yet, or violates its
// definition. If an object is applied again, the step itself checks the rules for creation when it
// runs.
func (c *checker) checkCustom(o manifest.Object, obj *unstructured.Unstructured) {
	gvk := obj.GroupVersionKind()
	res, err := kind.ResourceOf(c.definitions.store, obj)
	if err != nil {
		c.problems = append(c.problems, c.undefined(o, gvk))
		return
	}
	definition := kind.DefinitionOf(res)
	version, _ := definition.Served(gvk.Version)
	unknown, err := version.Read(obj.Object)
	for _, path := range unknown {
		name := path[strings.LastIndex(path, ".")+1:]
		c.wrong(o, pathInFile(path), fmt.Sprintf("unknown field %q", name), "a field that "+definition.Object.Name+" defines", version.Fields(path))
	}
	if err != nil || len(unknown) > 0 {
		c.refused(o, err, "metadata as Kubernetes has it")
		return
	}
	if obj.GetNamespace() != "" {
		obj.SetNamespace(metav1.NamespaceDefault) // the only namespace in the definitions' store
	}
	if name := (custom{gvk.GroupKind(), keyIn(res, o)}); !c.definitions.made[name] {
		_, err = c.definitions.store.CreateObject(res, obj, store.DryRun())
		c.refused(o, err, "what definition "+definition.Object.Name+" allows")
		c.definitions.made[name] = o.Meta().GetName() != ""
	}
}

// undefined returns the mistake of an object with a kind that is not defined at its step.
func (c *checker) undefined(o manifest.Object, gvk schema.GroupVersionKind) strict.Problem {
	versions := kind.VersionsOf(c.definitions.store, gvk.GroupKind())
	if at, ok := c.definitions.at[gvk.GroupKind()]; ok && len(versions) == 0 {
		return o.Problem("kind", fmt.Sprintf("kind %q, which %s:%d defines only later or not at this time", gvk.Kind, at.File, at.At.Line),
			"an object that is applied after its CustomResourceDefinition", "")
	}
	return o.NoKind(versions...)
}

// refused reports the API server's error for an object.
func (c *checker) refused(o manifest.Object, err error, want string) {
	var status *apierrors.StatusError
	switch {
	case err == nil:
	case errors.As(err, &status) && status.ErrStatus.Details != nil && len(status.ErrStatus.Details.Causes) > 0:
		for _, cause := range status.ErrStatus.Details.Causes {
			if cause.Field == "<nil>" {
				continue // a message that rules were skipped because of another mistake
			}
			c.problems = append(c.problems, o.Problem(pathInFile(inVersion(o, cause.Field)), cause.Message, want, ""))
		}
	default:
		c.problems = append(c.problems, o.Problem("", err.Error(), want, ""))
	}
}

// inVersion converts a path. The API server reports fields that all versions of a definition share
// under spec, but files have them in each version.
func inVersion(o manifest.Object, path string) string {
	if _, ok := o.Object.(*apiextensionsv1.CustomResourceDefinition); !ok {
		return path
	}
	if rest, ok := strings.CutPrefix(path, "spec.validation."); ok {
		return "spec.versions[0].schema." + rest
	}
	for _, part := range []string{"subresources", "additionalPrinterColumns", "selectableFields"} {
		if rest, ok := strings.CutPrefix(path, "spec."+part); ok {
			return "spec.versions[0]." + part + rest
		}
	}
	return path
}

var keyInPath = lazyregexp.New(`\[[^\]]+\]`)

// pathInFile converts a path of the API server to the syntax of paths in files: spec.sizes["a.b"]
// for spec.sizes[a.b].
func pathInFile(path string) string {
	return keyInPath().ReplaceAllStringFunc(path, func(key string) string {
		name := key[1 : len(key)-1]
		if _, err := strconv.Atoi(name); err == nil {
			return key
		}
		return strict.Key("_", name)[1:]
	})
}
