package manifest_test

import (
	"encoding/json"
	"math/rand"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/csisim/csisim/internal/input/manifest"
	"github.com/csisim/csisim/internal/input/strict"
)

var stable = regexp.MustCompile(`^v[0-9]+$`)

// sameJSON ignores the order of keys in embedded JSON: reading YAML sorts them.
var sameJSON = cmp.Transformer("JSON", func(raw runtime.RawExtension) (value any) {
	if err := json.Unmarshal(raw.Raw, &value); err != nil {
		return string(raw.Raw)
	}
	return value
})

// Every field of every built-in kind, in its stable versions, is read as by client-go's decoder.
func TestEveryFieldOfEveryStableKindIsReadLikeClientGo(t *testing.T) {
	for kind := range scheme.Scheme.AllKnownTypes() {
		filled, err := scheme.Scheme.New(kind)
		require.NoError(t, err)
		if _, ok := filled.(metav1.Object); !ok || !stable.MatchString(kind.Version) {
			continue
		}
		t.Run(kind.String(), func(t *testing.T) {
			// NilChance 0: a field that stays empty would prove nothing.
			fuzzer.FuzzerFor(metafuzzer.Funcs, rand.NewSource(1), scheme.Codecs).NilChance(0).NumElements(1, 1).Fill(filled)
			filled.GetObjectKind().SetGroupVersionKind(kind)
			filled.(metav1.Object).SetName("a")
			data, err := runtime.Encode(scheme.Codecs.LegacyCodec(kind.GroupVersion()), filled)
			require.NoError(t, err)
			want, _, err := scheme.Codecs.UniversalDeserializer().Decode(data, nil, nil)
			require.NoError(t, err)

			objects, problems := manifest.DecodeText(strict.Source{File: "x.yaml", Text: data})
			require.NoError(t, problems.Err())
			require.Empty(t, cmp.Diff(want, objects[0].Object, sameJSON))
		})
	}
}
