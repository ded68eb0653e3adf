package definition_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/definition"
)

const tooDear = "(try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)"

// A rule is rejected if it may cost too much with the largest values that its schema allows.
func TestExpensiveRulesAreRejected(t *testing.T) {
	const at = "spec.validation.openAPIV3Schema.properties[spec]"
	for name, try := range map[string]struct {
		schema string
		says   []string
	}{
		"a bounded loop": {schema: "{type: array, maxItems: 100, items: {type: string, maxLength: 10}, x-kubernetes-validations: [{rule: 'self.all(a, self.all(b, a != b || true))'}]}"},
		"two loops over a list without bounds": {
			schema: "{type: array, items: {type: string}, x-kubernetes-validations: [{rule: 'self.all(a, self.all(b, a == b))'}]}",
			says: []string{
				at + ".x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x " + tooDear,
				at + ".x-kubernetes-validations[0].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema",
				"spec.validation.openAPIV3Schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x " + tooDear,
			},
		},
		"a cheap rule for many values": {
			schema: "{type: array, items: {type: string, x-kubernetes-validations: [{rule: 'self.contains(\"a text that is looked for\")'}]}}",
			says: []string{
				at + ".items.x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x " + tooDear,
				at + ".items.x-kubernetes-validations[0].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema",
				"spec.validation.openAPIV3Schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x " + tooDear,
			},
		},
		"a text that grows ten times at each step": {
			schema: "{type: string, maxLength: 10, x-kubernetes-validations: [{rule: \"self" + strings.Repeat(".replace('a', 'aaaaaaaaaa')", 10) + ".size() > 0\"}]}",
			says: []string{
				at + ".x-kubernetes-validations[0].rule: Forbidden: estimated rule cost exceeds budget by factor of more than 100x " + tooDear,
				at + ".x-kubernetes-validations[0].rule: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema",
				"spec.validation.openAPIV3Schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of 88.9x " + tooDear,
			},
		},
		"a message": {
			schema: "{type: array, maxItems: 1000, items: {type: string, maxLength: 1000}, x-kubernetes-validations: [{rule: self.size() > 0, messageExpression: 'self.map(a, self.join(a)).join(\"\")'}]}",
			says: []string{
				at + ".x-kubernetes-validations[0].messageExpression: Forbidden: estimated messageExpression cost exceeds budget by factor of more than 100x " + tooDear,
				at + ".x-kubernetes-validations[0].messageExpression: Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema",
				"spec.validation.openAPIV3Schema: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget by factor of more than 100x " + tooDear,
			},
		},
		"a message that is no text": {
			schema: "{type: string, x-kubernetes-validations: [{rule: self.size() > 0, messageExpression: self.size()}]}",
			says:   []string{at + ".x-kubernetes-validations[0].messageExpression: Invalid value: {\"Rule\":\"self.size() \\u003e 0\",\"Message\":\"\",\"MessageExpression\":\"self.size()\",\"Reason\":null,\"FieldPath\":\"\",\"OptionalOldSelf\":null}: messageExpression must evaluate to a string"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			text := valid[:strings.Index(valid, "    subresources")] + "    schema:\n      openAPIV3Schema: {type: object, properties: {spec: " + try.schema + "}}\n"
			var says []string
			for _, err := range definition.Check(read(t, text)) {
				says = append(says, err.Error())
			}
			assert.Equal(t, try.says, says)
		})
	}
}

// If versions have different schemas, the paths of their errors contain the version.
func TestErrorsOfSchemasHaveTheirPath(t *testing.T) {
	const schema = "    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: whole}}}}\n"
	one := valid[:strings.Index(valid, "    subresources")] + schema
	two := one + "  - name: v2\n    served: true\n    storage: false\n"
	for text, at := range map[string]string{
		one:          "spec.validation.openAPIV3Schema.properties[spec].type",
		two + schema: "spec.validation.openAPIV3Schema.properties[spec].type",
		two + "    schema: {openAPIV3Schema: {type: object}}\n": "spec.versions[0].schema.openAPIV3Schema.properties[spec].type",
	} {
		errs := definition.Check(read(t, text))
		require.Len(t, errs, 1)
		assert.Equal(t, at, errs[0].Field)
	}
}
