package apiserver_test

import (
	"testing"

	openapiv2 "github.com/google/gnostic-models/openapiv2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/discovery"

	"github.com/csisim/csisim/internal/api/apiserver"
	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/store"
)

// kubectl reads the OpenAPI v2 document before it reports that a kind does not exist.
func TestTheOpenAPIV2DocumentHasAllKinds(t *testing.T) {
	server := apiserver.New(kind.NewStore(store.Options{}), apiserver.Options{})
	ask(server, "POST", definitionsPath, "application/yaml", []byte(widgets))
	client, err := discovery.NewDiscoveryClientForConfig(server.Config())
	require.NoError(t, err)
	document, err := client.OpenAPISchema()
	require.NoError(t, err)
	models := map[string]*openapiv2.Schema{}
	for _, named := range document.GetDefinitions().GetAdditionalProperties() {
		models[named.GetName()] = named.GetValue()
	}
	property := func(model, name string) *openapiv2.Schema {
		for _, p := range models[model].GetProperties().GetAdditionalProperties() {
			if p.GetName() == name {
				return p.GetValue()
			}
		}
		return nil
	}
	assert.Equal(t, "#/definitions/io.k8s.api.core.v1.PodSpec", property("io.k8s.api.core.v1.Pod", "spec").GetXRef())
	assert.Equal(t, []string{"object"}, property("com.example.v1.Widget", "spec").GetType().GetValue())
	for _, path := range document.GetPaths().GetPath() {
		if path.GetName() == "/api/v1/namespaces/{namespace}/pods/{name}" {
			parameters := path.GetValue().GetPatch().GetParameters()
			assert.Equal(t, "dryRun", parameters[0].GetParameter().GetNonBodyParameter().GetQueryParameterSubSchema().GetName())
			assert.Equal(t, "body", parameters[len(parameters)-1].GetParameter().GetBodyParameter().GetName())
			return
		}
	}
	assert.Fail(t, "pods have no path")
}
