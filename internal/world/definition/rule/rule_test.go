package rule

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"
)

const shape = `
type: object
properties:
  size: {type: string}
  ratio: {type: number}
  at: {type: string, format: date-time}
  length: {type: string, format: duration}
  a-b: {type: integer}
  namespace: {type: string}
  list: {type: array, items: {type: integer}}
  labels: {type: object, additionalProperties: {type: string}}
`

func structural(t *testing.T) *schema.Structural {
	var props apiextensionsv1.JSONSchemaProps
	require.NoError(t, yaml.Unmarshal([]byte(shape), &props))
	var internal apiextensions.JSONSchemaProps
	require.NoError(t, apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&props, &internal, nil))
	s, err := schema.NewStructural(&internal)
	require.NoError(t, err)
	return s
}

// Values have the types of the schema, and names that are valid in CEL.
func TestValuesInRulesHaveTheTypesOfTheSchema(t *testing.T) {
	self := map[string]any{
		"size": "2Gi", "ratio": int64(2), "at": "2026-01-02T00:00:00Z", "length": "90s", "a-b": int64(1), "namespace": "x",
		"list": []any{int64(1), int64(3)}, "labels": map[string]any{"a-b": "c"},
	}
	s := structural(t)
	for text, want := range map[string]bool{
		"quantity(self.size).isGreaterThan(quantity('1Gi'))": true,
		"isQuantity('x')":                  false,
		"self.ratio == 2.0":                true,
		"self.at.getFullYear() == 2026":    true,
		"self.length > duration('1m')":     true,
		"self.a__dash__b == 1":             true,
		"self.__namespace__ == 'x'":        true,
		"self.labels['a-b'] == 'c'":        true,
		"self.list.isSorted()":             true,
		"self.list.sum() == 4":             true,
		"self.list.max() == 3":             true,
		"self.list.min() == 3":             false,
		"self.list.indexOf(3) == 1":        true,
		"[1, 1, 2].lastIndexOf(1) == 1":    true,
		"[1].lastIndexOf(2) == -1":         true,
		"self.size.find('[0-9]+') == '2'":  true,
		"isURL('https://example.com/x')":   true,
		"isURL('x')":                       false,
		"self.list.all(i, i > 1)":          false,
		"oldSelf.size == self.size":        true,
		"self.size.startsWith('2')":        true,
		"self.labels.all(k, v, k != v)":    true,
		"[3, 1].isSorted()":                false,
		"self.list.exists(i, i == int(3))": true,

		"url('https://example.com:8080/x').getPort() == '8080'": true,
		"isIP('10.0.0.1') && ip('10.0.0.1').family() == 4":      true,
		"cidr('10.0.0.0/8').containsIP('10.1.2.3')":             true,
		"isCIDR('10.0.0.0')":                                    false,
		"!format.dns1123Label().validate('my-name').hasValue()": true,
		"format.dns1123Label().validate('My_Name').hasValue()":  true,
		"semver('1.2.3').isLessThan(semver('1.10.0'))":          true,
		"isSemver('one')": false,
		"self.size.findAll('[0-9A-Z]') == ['2', 'G']":                   true,
		"quantity(self.size).add(quantity('1Gi')) == quantity('3Gi')":   true,
		"quantity(self.size).asApproximateFloat() > 2000000000.0":       true,
		"quantity(self.size).isInteger() && sign(quantity('2Gi')) == 1": true,
	} {
		r, err := compile(s, false, apiextensionsv1.ValidationRule{Rule: text})
		require.NoError(t, err, text)
		holds, err := r.Holds(self, self)
		require.NoError(t, err, text)
		assert.Equal(t, want, holds, text)
	}
}

func TestRulesAboutChanges(t *testing.T) {
	s := structural(t)
	r, err := compile(s, false, apiextensionsv1.ValidationRule{Rule: "self.size == oldSelf.size", MessageExpression: "'it was ' + oldSelf.size"})
	require.NoError(t, err)
	assert.True(t, r.ComparesOld())
	old := map[string]any{"size": "a"}
	holds, err := r.Holds(map[string]any{"size": "b"}, old)
	require.NoError(t, err)
	assert.False(t, holds)
	assert.Equal(t, "it was a", r.Message(map[string]any{"size": "b"}, old))

	r, err = compile(s, false, apiextensionsv1.ValidationRule{Rule: "!oldSelf.hasValue() || oldSelf.value().size == self.size", OptionalOldSelf: ptr.To(true)})
	require.NoError(t, err)
	holds, err = r.Holds(old, nil)
	require.NoError(t, err)
	assert.True(t, holds)
}

func TestInvalidRulesAreRejected(t *testing.T) {
	for _, text := range []string{"self ==", "1 + 1", "unknown(self)", "has(self.other)", "self.list == 'a'", "self.size", "self.size.matches('[')", "self.length > duration('soon')"} {
		_, err := compile(structural(t), false, apiextensionsv1.ValidationRule{Rule: text})
		assert.Error(t, err, text)
	}
}

// Short expressions that would run for years or use all memory are aborted.
func TestExpensiveExpressionsAreAborted(t *testing.T) {
	chain := "'aaaaaaaaaa'"
	for range 10 {
		chain += ".replace('a', 'aaaaaaaaaa')"
	}
	s := structural(t)
	for text, says := range map[string]string{
		chain + ".size() > 0":                                   "replace: a text has at most 4194304 bytes",
		"lists.range(100000000000).size() > 0":                  "lists.range(100000000000): a list has at most 10000 items",
		"sets.contains(lists.range(10000), lists.range(10000))": "it looks at more than 2000000 items",
	} {
		r, err := compile(s, false, apiextensionsv1.ValidationRule{Rule: text})
		require.NoError(t, err, text)
		_, err = r.Holds(map[string]any{}, nil)
		assert.ErrorContains(t, err, says, text)
	}
}
