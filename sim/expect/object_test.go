package expect

import (
	"testing"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/csisim/csisim/internal/world/store"
)

// Decoding parts of an object gives the same values as decoding the whole object.
func TestPartsAreThoseOfTheWhole(t *testing.T) {
	named := metav1.ObjectMeta{Name: "o", Labels: map[string]string{"a": "b"}}
	for name, obj := range map[string]store.Object{
		"a status with numbers":       &corev1.Pod{TypeMeta: metav1.TypeMeta{Kind: "Pod"}, ObjectMeta: named, Status: corev1.PodStatus{ObservedGeneration: 3}},
		"an empty status":             &storagev1.VolumeAttachment{ObjectMeta: named},
		"no status":                   &snapshotv1.VolumeSnapshot{ObjectMeta: named},
		"parts that are no structs":   &corev1.ConfigMap{ObjectMeta: named, Data: map[string]string{"k": "v"}},
		"one of a kind without types": &unstructured.Unstructured{Object: map[string]any{"kind": "K", "status": map[string]any{"n": int64(1)}}},
	} {
		t.Run(name, func(t *testing.T) {
			whole, err := Decoded(obj)
			require.NoError(t, err)
			for _, part := range []string{"metadata", "spec", "status", "data", "kind", "misspelt"} {
				shown, err := Decoded(obj, part)
				require.NoError(t, err)
				assert.Equal(t, whole[part], shown[part], part)
			}
		})
	}
}
