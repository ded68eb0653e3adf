package definition_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/csisim/csisim/internal/world/definition"

	_ "github.com/csisim/csisim/internal/world/definition/rule"
)

const valid = `
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: things, kind: Thing, shortNames: [th]}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {scale: {specReplicasPath: .spec.count, statusReplicasPath: .status.count}}
    additionalPrinterColumns: [{name: Count, type: integer, jsonPath: .spec.count}]
    selectableFields: [{jsonPath: .spec.s}]
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              count: {type: integer, default: 1}
              s: {type: string, pattern: ^a}
              l: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, required: [k], properties: {k: {type: string}}}}
          status: {type: object, properties: {count: {type: integer}}}
`

func read(t *testing.T, text string) *apiextensionsv1.CustomResourceDefinition {
	var d apiextensionsv1.CustomResourceDefinition
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), &d))
	apiextensionsv1.SetDefaults_CustomResourceDefinition(&d)
	return &d
}

// Mistakes of a definition and their errors.
func TestInvalidDefinitionsAreRejected(t *testing.T) {
	assert.Empty(t, definition.Check(read(t, valid)))
	for name, try := range map[string]struct{ instead, of, says string }{
		"group without a dot":     {"group: example", "group: example.com", "spec.group: Invalid value: \"example\": should be a domain with at least one dot"},
		"scope":                   {"scope: Some", "scope: Namespaced", "spec.scope: Unsupported value: \"Some\": supported values: \"Cluster\", \"Namespaced\""},
		"kind":                    {"kind: a_b", "kind: Thing", "spec.names.kind: Invalid value: \"a_b\": may have mixed case, but should otherwise match"},
		"short name":              {"[T]", "[th]", "spec.names.shortNames[0]: Invalid value: \"T\""},
		"nothing stored":          {"storage: false", "storage: true", "must have exactly one version marked as storage version"},
		"type":                    {"count: {type: whole", "count: {type: integer", "properties[count].type: Unsupported value: \"whole\""},
		"no type":                 {"s: {pattern: ^a}", "s: {type: string, pattern: ^a}", "properties[s].type: Required value: must not be empty for specified object fields"},
		"default of another":      {"default: x", "default: 1", "properties[count].default: Invalid value: \"string\":  in body must be of type integer"},
		"pattern":                 {"pattern: '('", "pattern: ^a", "properties[s].pattern: Invalid value: \"(\": must be a valid regular expression"},
		"key that is no field":    {"keys: [j]", "keys: [k]", "entries must all be names of item properties"},
		"key that may be missing": {"items: {type: object, properties", "items: {type: object, required: [k], properties", "it must have a default or be a required property"},
		"column type":             {"type: whole, jsonPath", "type: integer, jsonPath", "additionalPrinterColumns[0].type: Invalid value: \"whole\": must be one of boolean,date,integer,number,string"},
		"column path":             {"jsonPath: spec.n", "jsonPath: .spec.count", "must be a simple json path starting with ."},
		"replicas elsewhere":      {"specReplicasPath: .count", "specReplicasPath: .spec.count", "should be a json path under .spec"},
		"selectable object":       {"selectableFields: [{jsonPath: .spec}]", "selectableFields: [{jsonPath: .spec.s}]", "must point to a field of type string, boolean or integer"},
		"rule":                    {"count: {type: integer, x-kubernetes-validations: [{rule: self +}]", "count: {type: integer", "x-kubernetes-validations[0].rule: Invalid value"},
		"unique items":            {"s: {type: array, uniqueItems: true, items: {type: string}}", "s: {type: string, pattern: ^a}", "uniqueItems cannot be set to true"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, valid, try.of)
			var says []string
			for _, err := range definition.Check(read(t, strings.Replace(valid, try.of, try.instead, 1))) {
				says = append(says, err.Error())
			}
			assert.Contains(t, strings.Join(says, "\n"), try.says)
		})
	}
}

// Changes that are forbidden once objects may exist.
func TestForbiddenChangesOfDefinitionsAreRejected(t *testing.T) {
	old := read(t, valid)
	old.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue}}
	for _, try := range []struct{ instead, of, says string }{
		{"scope: Cluster", "scope: Namespaced", "spec.scope: Invalid value: \"Cluster\": field is immutable"},
		{"kind: Other", "kind: Thing", "spec.names.kind: Invalid value: \"Other\": field is immutable"},
		{"name: v2", "name: v1", "v1 was previously a storage version, and must remain in spec.versions"},
	} {
		changed := read(t, strings.Replace(valid, try.of, try.instead, 1))
		changed.Status = old.Status
		changed.Status.StoredVersions = []string{"v1"}
		assert.ErrorContains(t, definition.CheckUpdate(changed, old).ToAggregate(), try.says)
	}
}

// Objects are pruned, completed and validated.
func TestObjectsArePrunedCompletedAndValidated(t *testing.T) {
	d, err := definition.New(read(t, valid))
	require.NoError(t, err)
	object := map[string]any{
		"metadata": map[string]any{"name": "x", "unknown": "y"},
		"spec":     map[string]any{"s": nil, "more": int64(1), "l": []any{map[string]any{"k": "a", "v": "b"}}},
	}
	unknown, err := d.StorageVersion.Read(object)
	require.NoError(t, err)
	assert.Equal(t, []string{"metadata.unknown", "spec.l[0].v", "spec.more"}, unknown)
	assert.Equal(t, map[string]any{"count": int64(1), "l": []any{map[string]any{"k": "a"}}}, object["spec"])
	assert.Empty(t, d.StorageVersion.Validate(object))

	wrong := map[string]any{"spec": map[string]any{"count": int64(-1), "s": "b", "l": []any{map[string]any{"k": "a"}, map[string]any{"k": "a"}}}}
	assert.Equal(t, `[spec.s: Invalid value: "b": spec.s in body should match '^a', `+
		`.spec.count: Invalid value: -1: should be a non-negative integer, spec.l[1]: Duplicate value: {"k":"a"}]`,
		d.StorageVersion.Validate(wrong).ToAggregate().Error())
	assert.NotContains(t, d.StorageVersion.ValidateUpdate(wrong, wrong).ToAggregate().Error(), "spec.s", "an unchanged error may stay")
}
