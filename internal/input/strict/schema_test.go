package strict_test

import (
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/csisim/csisim/internal/input/strict"
)

func TestTheSchemaFollowsTheTags(t *testing.T) {
	const golden = "testdata/schema.json"
	got, err := json.MarshalIndent(strict.Schema(typeOf[scenario](), "https://csisim.dev/zoo.json"), "", "  ")
	require.NoError(t, err)
	got = append(got, '\n')
	if flag.Lookup("update").Value.String() == "true" {
		require.NoError(t, os.WriteFile(golden, got, 0o644))
	}
	want, err := os.ReadFile(golden)
	require.NoError(t, err)
	assert.Equal(t, string(want), string(got))
}

func TestSchemaIsTheSameEachTime(t *testing.T) {
	once := strict.Schema(typeOf[scenario](), "id")
	assert.Equal(t, once, strict.Schema(typeOf[scenario](), "id"))
}

func TestKubernetesScalarsDescribeThemselves(t *testing.T) {
	schema := strict.Schema(typeOf[struct {
		Size resource.Quantity `json:"size"`
	}](), "id")
	size := schema["properties"].(map[string]any)["size"].(map[string]any)
	assert.Equal(t, []string{"string", "number"}, size["type"])
}

func TestARegisteredNameCannotBeRegisteredAgain(t *testing.T) {
	variants := strict.NewVariants[action]("step")
	variants.Register("wait", "Waits.", &wait{})
	assert.Panics(t, func() { variants.Register("wait", "Waits again.", &wait{}) })
}

func TestVariantsAreListedByName(t *testing.T) {
	var names []string
	for _, variant := range steps.All() {
		names = append(names, variant.Name)
	}
	assert.Equal(t, []string{"reboot", "together", "wait"}, names)
}
