package oracle

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/csisim/csisim/internal/world/store"
)

// Each kind of Kubernetes is either compared, or stored without checks for a reason that is given
// here and in docs/reference/api.md.
func TestEveryKindIsComparedOrKept(t *testing.T) {
	page, err := os.ReadFile("../../docs/reference/api.md")
	require.NoError(t, err)
	begins := map[string]bool{}
	for _, obj := range objects(t) {
		a, err := apiOf(obj)
		require.NoError(t, err)
		begins[a.GVK.Kind] = true
	}
	seen := map[string]bool{}
	for _, res := range store.Resources() {
		name := res.GVK.Kind
		if !scheme.Scheme.Recognizes(res.GVK) {
			continue // from other projects, or from old releases
		}
		_, isCompared := kinds[name]
		why, isKept := kept[name]
		assert.NotEqual(t, isCompared, isKept, "%s is either compared or kept", name)
		assert.Equal(t, isCompared, begins[name] || *only != "" && isCompared, "%s in testdata/objects.yaml", name)
		if isKept {
			assert.NotEmpty(t, why)
			assert.Contains(t, string(page), "`"+res.GVR.Resource+"`")
		}
		seen[name] = true
	}
	for name := range kept {
		assert.True(t, seen[name], "%s is not served", name)
	}
}
