package kind_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/api/kind/kindtest"
	"github.com/csisim/csisim/internal/world/store"
)

func gadgets() *apiextensionsv1.CustomResourceDefinition {
	return definitionFrom(`
metadata: {name: gadgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: gadgets, kind: Gadget, shortNames: [gg]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer, minimum: 1}
              color: {type: string, default: red}
          status: {type: object, properties: {ready: {type: boolean}}}
`)
}

func definitionFrom(text string) *apiextensionsv1.CustomResourceDefinition {
	var d apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict([]byte(text), &d); err != nil {
		panic(err)
	}
	return &d
}

func gadget(name string, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.com/v1", "kind": "Gadget",
		"metadata": map[string]any{"name": name, "namespace": "default"},
		"spec":     spec, "status": map[string]any{"ready": true},
	}}
}

func kindOf(t *testing.T, s *store.Store, kind string) *store.Resource {
	t.Helper()
	res, ok := s.ResourceFor(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: kind})
	require.True(t, ok, "%s is not served", kind)
	return res
}

func TestADefinitionIsEstablishedStepByStep(t *testing.T) {
	s := kind.NewStore(store.Options{})
	created := kindtest.Create(t, s, gadgets())
	assert.Empty(t, created.Status.Conditions, "the answer is the state before")
	assert.Equal(t, []string{"v1"}, created.Status.StoredVersions)
	assert.Equal(t, "GadgetList", created.Spec.Names.ListKind)
	now, _ := store.Get[*apiextensionsv1.CustomResourceDefinition](s, kindtest.OfCluster("gadgets.example.com"))
	assert.Equal(t, []string{"NamesAccepted=True NoConflicts", "Established=True InitialNamesAccepted"}, conditions(now))
	assert.Equal(t, "gadgets", now.Status.AcceptedNames.Plural)
	kindOf(t, s, "Gadget")
}

func conditions(d *apiextensionsv1.CustomResourceDefinition) (all []string) {
	for _, c := range d.Status.Conditions {
		all = append(all, string(c.Type)+"="+string(c.Status)+" "+c.Reason)
	}
	return all
}

func TestCustomObjectsHaveTheSemanticsOfTheAPIServer(t *testing.T) {
	s := kind.NewStore(store.Options{Guard: true})
	kindtest.Create(t, s, gadgets())
	res := kindOf(t, s, "Gadget")
	stored, err := s.CreateObject(res, gadget("g", map[string]any{"size": int64(2), "unknown": "x"}))
	require.NoError(t, err)
	content := stored.(*unstructured.Unstructured).Object
	assert.Equal(t, map[string]any{"size": int64(2), "color": "red"}, content["spec"], "pruned and completed")
	assert.NotContains(t, content, "status", "create does not set it")
	assert.EqualValues(t, 1, stored.GetGeneration())

	grow := func(obj store.Object) {
		spec := obj.(*unstructured.Unstructured).Object
		spec["spec"].(map[string]any)["size"] = int64(3)
		spec["status"] = map[string]any{"ready": true}
	}
	stored, err = s.ModifyObject(res, kindtest.InDefault("g"), grow)
	require.NoError(t, err)
	assert.EqualValues(t, 2, stored.GetGeneration())
	assert.NotContains(t, stored.(*unstructured.Unstructured).Object, "status")
	stored, err = s.ModifyStatusObject(res, kindtest.InDefault("g"), func(obj store.Object) {
		grow(obj)
		obj.SetLabels(map[string]string{"a": "b"})
	})
	require.NoError(t, err)
	assert.EqualValues(t, 2, stored.GetGeneration())
	assert.Empty(t, stored.GetLabels(), "a status is no metadata")
	assert.Equal(t, map[string]any{"ready": true}, stored.(*unstructured.Unstructured).Object["status"])
	again, err := s.ModifyObject(res, kindtest.InDefault("g"), grow)
	require.NoError(t, err)
	assert.Same(t, stored, again, "an update without changes is no write")

	_, err = s.CreateObject(res, gadget("h", map[string]any{"size": int64(0)}))
	assert.EqualError(t, err, `Gadget.example.com "h" is invalid: spec.size: Invalid value: 0: spec.size in body should be greater than or equal to 1`)
	_, err = s.UpdateObject(res, gadget("g", map[string]any{}))
	assert.EqualError(t, err, `gadgets.example.com "g" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update`)
	assert.NoError(t, s.VerifyImmutable())
}

func TestADefinitionIsRemovedAfterItsObjects(t *testing.T) {
	s := kind.NewStore(store.Options{})
	kindtest.Create(t, s, gadgets())
	res := kindOf(t, s, "Gadget")
	for _, name := range []string{"free", "held"} {
		obj := gadget(name, map[string]any{})
		if name == "held" {
			obj.SetFinalizers([]string{"wait"})
		}
		_, err := s.CreateObject(res, obj)
		require.NoError(t, err)
	}
	last := kindtest.Remove[*apiextensionsv1.CustomResourceDefinition](t, s, kindtest.OfCluster("gadgets.example.com"))
	assert.Contains(t, conditions(last), "Terminating=True InstanceDeletionPending")
	now, _ := store.Get[*apiextensionsv1.CustomResourceDefinition](s, kindtest.OfCluster("gadgets.example.com"))
	assert.Contains(t, conditions(now), "Terminating=True InstanceDeletionInProgress")
	_, ok := s.GetObject(res, kindtest.InDefault("free"))
	assert.False(t, ok)
	_, err := s.CreateObject(res, gadget("new", map[string]any{}))
	assert.ErrorContains(t, err, "create not allowed while custom resource definition is terminating")
	_, err = s.ModifyObject(res, kindtest.InDefault("held"), func(obj store.Object) { obj.SetFinalizers(nil) })
	require.NoError(t, err)
	_, ok = store.Get[*apiextensionsv1.CustomResourceDefinition](s, kindtest.OfCluster("gadgets.example.com"))
	assert.False(t, ok, "gone with the last object")
	_, ok = s.ResourceFor(res.GVK)
	assert.False(t, ok)
}

func TestTwoDefinitionsCannotHaveTheSameName(t *testing.T) {
	s := kind.NewStore(store.Options{})
	kindtest.Create(t, s, gadgets())
	second := gadgets()
	second.Name, second.Spec.Names.Plural, second.Spec.Names.Singular = "gizmos.example.com", "gizmos", "gizmo"
	kindtest.Create(t, s, second)
	now, _ := store.Get[*apiextensionsv1.CustomResourceDefinition](s, kindtest.OfCluster("gizmos.example.com"))
	assert.Equal(t, []string{"NamesAccepted=False ListKindConflict", "Established=False NotAccepted"}, conditions(now))
	kindtest.Remove[*apiextensionsv1.CustomResourceDefinition](t, s, kindtest.OfCluster("gadgets.example.com"))
	now, _ = store.Get[*apiextensionsv1.CustomResourceDefinition](s, kindtest.OfCluster("gizmos.example.com"))
	assert.Equal(t, []string{"NamesAccepted=True NoConflicts", "Established=True InitialNamesAccepted"}, conditions(now))
}

func TestADefinitionOfABuiltInKindChangesNothing(t *testing.T) {
	s := kind.NewStore(store.Options{})
	d := gadgets()
	d.Name, d.Spec.Group = "volumesnapshots.snapshot.storage.k8s.io", "snapshot.storage.k8s.io"
	d.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{Plural: "volumesnapshots", Kind: "VolumeSnapshot"}
	d.Annotations = map[string]string{apiextensionsv1.KubeAPIApprovedAnnotation: "https://example.com/1"}
	kindtest.Create(t, s, d)
	now, _ := store.Get[*apiextensionsv1.CustomResourceDefinition](s, store.KeyOf(d))
	assert.Equal(t, []string{
		"KubernetesAPIApprovalPolicyConformant=True ApprovedAnnotation", "NamesAccepted=True NoConflicts", "Established=True InitialNamesAccepted",
	}, conditions(now))
	res, ok := s.ResourceFor(schema.GroupVersionKind{Group: "snapshot.storage.k8s.io", Version: "v1", Kind: "VolumeSnapshot"})
	require.True(t, ok)
	assert.Nil(t, kind.DefinitionOf(res))
}
