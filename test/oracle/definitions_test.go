package oracle

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/csisim/csisim/internal/world/definition"

	_ "github.com/csisim/csisim/internal/world/definition/rule"
)

// Rules of definitions have the same mistakes and the same costs, because the messages contain the
// excess.
func TestRulesHaveTheSameMistakesAsInKubernetes(t *testing.T) {
	text, err := os.ReadFile("testdata/rules.yaml")
	require.NoError(t, err)
	var schemas map[string]apiextensionsv1.JSONSchemaProps
	require.NoError(t, yaml.UnmarshalStrict(text, &schemas))
	refused := 0
	for name, spec := range schemas {
		d := &apiextensionsv1.CustomResourceDefinition{Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "example.com", Scope: apiextensionsv1.NamespaceScoped,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: "things", Kind: "Thing"},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: "v1", Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": spec},
				}},
			}},
		}}
		d.Name = "things.example.com"
		apiextensionsv1.SetDefaults_CustomResourceDefinition(d)
		d.Status.StoredVersions = []string{"v1"}
		var internal apiextensions.CustomResourceDefinition
		require.NoError(t, apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(d.DeepCopy(), &internal, nil))
		theirs := sentences(validation.ValidateCustomResourceDefinition(context.Background(), &internal))
		assert.Equal(t, theirs, sentences(definition.Check(d)), name)
		if len(theirs) > 0 {
			refused++
			t.Logf("%s\n  %s", name, strings.Join(theirs, "\n  "))
		}
	}
	assert.Positive(t, refused)
	assert.Less(t, refused, len(schemas))
}

// sentences returns the mistakes, sorted. Generated type names are replaced by the same text. The
// position of a mistake in an expression counts, but not the picture of it.
func sentences(errs field.ErrorList) (all []string) {
	for _, err := range errs {
		text, _, _ := strings.Cut(err.Error(), "\n")
		all = append(all, text)
	}
	slices.Sort(all)
	return all
}
