package oracle

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/csisim/csisim/internal/input/partial"
)

// reasons are the differences that are meant, by patterns of their signatures.
type reasons []struct {
	// Because is why csisim is not to be as Kubernetes there.
	Because string `json:"because"`
	// Differences are signatures: kind, missed or invented, field, type. * stands for any text.
	Differences []string `json:"differences"`
}

func readReasons(t *testing.T) (all reasons) {
	t.Helper()
	text, err := os.ReadFile("testdata/differences.yaml")
	require.NoError(t, err)
	require.NoError(t, yaml.UnmarshalStrict(text, &all))
	for _, r := range all {
		require.NotEmpty(t, r.Because)
	}
	return all
}

func (all reasons) explain(signature string) bool {
	for _, r := range all {
		for _, pattern := range r.Differences {
			if partial.Wildcard(pattern, signature) {
				return true
			}
		}
	}
	return false
}
