package oracle

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"

	"github.com/csisim/csisim/internal/input/partial"
)

// reasons are intended differences, by patterns of their signatures.
type reasons []struct {
	// Because is the reason why csisim deviates from Kubernetes there.
	Because string `json:"because"`
	// Saying is a text that each of these differences contains. Default: any text.
	Saying string `json:"saying"`
	// Differences are signatures: kind, missed or invented, field, type. * matches any text.
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

// explain reports whether a difference with that signature and text is intended.
func (all reasons) explain(signature, text string) bool {
	for _, r := range all {
		if !strings.Contains(text, r.Saying) {
			continue
		}
		for _, pattern := range r.Differences {
			if partial.Wildcard(pattern, signature) {
				return true
			}
		}
	}
	return false
}

// A reason for one message about a field does not explain another message about it.
func TestReasonsForAMessage(t *testing.T) {
	all := readReasons(t)
	const signature = "Endpoints missed subsets[].addresses[].ip FieldValueInvalid"
	at := field.NewPath("subsets").Index(0).Child("addresses").Index(0).Child("ip")
	loopback := field.Invalid(at, "127.0.0.1", "may not be in the loopback range (127.0.0.0/8, ::1/128)")
	linkLocal := field.Invalid(at, "169.254.0.1", "may not be in the link-local range (169.254.0.0/16, fe80::/10)")
	require.True(t, all.explain(signature, loopback.Error()))
	require.False(t, all.explain(signature, linkLocal.Error()))
}
