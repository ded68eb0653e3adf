package fields_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/internal/incident/fields"
)

var pod = map[string]any{
	"metadata": map[string]any{"name": "web"},
	"spec":     map[string]any{"volumes": []any{map[string]any{"name": "data"}, "no object"}},
}

func TestValuesAreReadByTheirPath(t *testing.T) {
	assert.Equal(t, "web", fields.Text(pod, "metadata", "name"))
	assert.Empty(t, fields.Text(pod, "metadata", "name", "first"))
	assert.Empty(t, fields.Text(pod, "spec", "volumes"))
	assert.Nil(t, fields.At(nil, "spec"))
	assert.Equal(t, []map[string]any{{"name": "data"}}, fields.List(pod, "spec", "volumes"))
	assert.Empty(t, fields.List(pod, "status"))
}

func TestAMergePatchSetsAndDeletesFields(t *testing.T) {
	object := map[string]any{"a": map[string]any{"b": "1", "c": "2"}, "d": "3"}
	fields.Patch(object, map[string]any{"a": map[string]any{"b": nil, "e": "4"}, "d": "5"})
	assert.Equal(t, map[string]any{"a": map[string]any{"c": "2", "e": "4"}, "d": "5"}, object)
}
