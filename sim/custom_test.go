package sim_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/sim"
	"github.com/csisim/csisim/sim/expect"
)

// widgets defines a kind; its specs have a size, by default 1.
func widgets() *apiextensionsv1.CustomResourceDefinition {
	one := apiextensionsv1.JSON{Raw: []byte("1")}
	object := func(properties map[string]apiextensionsv1.JSONSchemaProps) apiextensionsv1.JSONSchemaProps {
		return apiextensionsv1.JSONSchemaProps{Type: "object", Properties: properties}
	}
	schema := object(map[string]apiextensionsv1.JSONSchemaProps{
		"spec":   object(map[string]apiextensionsv1.JSONSchemaProps{"size": {Type: "integer", Default: &one}, "color": {Type: "string"}}),
		"status": object(map[string]apiextensionsv1.JSONSchemaProps{"phase": {Type: "string"}}),
	})
	return &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: "widgets.example.com"},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "widgets", Kind: "Widget", ShortNames: []string{"wd"}},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &schema},
				Subresources: &apiextensionsv1.CustomResourceSubresources{Status: &apiextensionsv1.CustomResourceSubresourceStatus{}},
			}},
		},
	}
}

// Widget is a Go type that only a driver knows.
type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec struct {
		Size  int    `json:"size,omitempty"`
		Color string `json:"color,omitempty"`
	} `json:"spec"`
}

// DeepCopyObject implements runtime.Object.
func (w *Widget) DeepCopyObject() runtime.Object {
	out := *w
	out.ObjectMeta = *w.ObjectMeta.DeepCopy()
	return &out
}

const widgetW = "{apiVersion: example.com/v1, kind: Widget, metadata: {name: w}, spec: {color: red}}"

func TestCustomResourcesAreAppliedOnceTheyAreDefined(t *testing.T) {
	c := sim.New(t, withMock)
	own := &Widget{TypeMeta: metav1.TypeMeta{APIVersion: "example.com/v1", Kind: "Widget"}, ObjectMeta: metav1.ObjectMeta{Name: "own"}}
	own.Spec.Size = 7
	config := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "c"}}}
	c.Apply(widgets(), widgetW, own, config)
	c.Until(
		expect.Object{Ref: "crd/widgets.example.com", Condition: "Established"},
		expect.Object{Ref: "widget/w", Fields: map[string]any{"spec": map[string]any{"size": 1, "color": "red"}}},
		expect.Object{Ref: "wd/own", Fields: map[string]any{"spec": map[string]any{"size": 7}}},
		expect.Object{Ref: "cm/c"},
	)

	// Clients see the objects, and the cluster sees the changes of clients.
	client := c.DynamicClient().Resource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}).Namespace("default")
	seen, err := client.Get(t.Context(), "w", metav1.GetOptions{})
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"size": int64(1), "color": "red"}, seen.Object["spec"])
	_, err = client.Patch(t.Context(), "w", types.MergePatchType, []byte(`{"status": {"phase": "Good"}}`), metav1.PatchOptions{}, "status")
	require.NoError(t, err)
	_, err = client.Patch(t.Context(), "w", types.MergePatchType, []byte(`{"spec": {"size": 5}}`), metav1.PatchOptions{})
	require.NoError(t, err)
	c.Until(expect.Object{Ref: "widget/w", Phase: "Good"})

	// Apply removes fields that the last Apply set and this one omits. Fields of other writers
	// stay.
	c.Apply("{apiVersion: example.com/v1, kind: Widget, metadata: {name: w}, spec: {}}")
	c.Expect(expect.Object{Ref: "widget/w", Phase: "Good", Fields: map[string]any{"spec": map[string]any{"size": 5, "color": nil}}})
	c.Delete("widget/*", "crd/widgets.example.com")
	c.Expect(expect.Object{Ref: "crd/widgets.example.com", Gone: true})
}

func TestMistakesOfACustomResourceAreReported(t *testing.T) {
	for name, c := range map[string]struct {
		manifests []any
		got       string
	}{
		"an undefined kind": {[]any{"\n" + widgetW},
			`apply widget/w: manifest:2:36: kind: found kind "Widget", want a built-in kind (no kind "Widget" is registered for version "example.com/v1"), or one that a CustomResourceDefinition before this object defines`},
		"another version": {[]any{widgets(), "{apiVersion: example.com/v2, kind: Widget, metadata: {name: w}}"},
			`apply widget/w: manifest:1:14: apiVersion: found version "example.com/v2", want example.com/v1 for kind Widget; did you mean "example.com/v1"?`},
		"an unknown field": {[]any{widgets(), "{apiVersion: example.com/v1, kind: Widget, metadata: {name: w}, spec: {colour: red}}"},
			`apply widget/w: Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "spec.colour"`},
		"a value of another type": {[]any{widgets(), "{apiVersion: example.com/v1, kind: Widget, metadata: {name: w}, spec: {size: big}}"},
			`apply widget/w: Widget.example.com "w" is invalid: spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"`},
		"a change to a value of another type": {[]any{widgets(), widgetW, "{apiVersion: example.com/v1, kind: Widget, metadata: {name: w}, spec: {size: big}}"},
			`apply widget/w: Widget.example.com "w" is invalid: spec.size: Invalid value: "string": spec.size in body must be of type integer: "string"`},
		"a Go object without apiVersion and kind": {[]any{widgets(), &Widget{}},
			`apply manifests: a *sim_test.Widget has no type: set its apiVersion and kind`},
		"a reference to an undefined kind": {[]any{func(c *sim.Cluster) { c.Delete("widget/w") }},
			`delete: "widget/w" is no object: there is no kind "widget"`},
	} {
		t.Run(name, func(t *testing.T) {
			got := failing(t, func(f *testOf) {
				cluster := sim.New(f, withMock)
				for _, m := range c.manifests {
					if do, ok := m.(func(*sim.Cluster)); ok {
						do(cluster)
						continue
					}
					cluster.Apply(m)
				}
			})
			assert.Contains(t, got, c.got)
		})
	}
}

// A test may give a pod and other objects in each of these forms.
func TestAnUnstructuredPodIsAPod(t *testing.T) {
	c := sim.New(t, withMock)
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(pod("web", "node-a"))
	require.NoError(t, err)
	content["apiVersion"], content["kind"] = "v1", "Pod"
	c.Apply(storage, &unstructured.Unstructured{Object: content})
	c.Until(expect.Object{Ref: "pod/web", Phase: string(corev1.PodRunning)})
}
