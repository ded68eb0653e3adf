package deploy

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// Names of a scenario are the same after a round trip, and names made by Kubernetes are not
// changed.
func TestNamesOfAScopeRoundTrip(t *testing.T) {
	s := NewScope("0a1b2c", 17)
	assert.Equal(t, Scope("-z0a1bhh"), s)
	fields := map[string]any{
		"metadata": map[string]any{"namespace": "default", "labels": map[string]any{"driver": "mock"}},
		"spec": map[string]any{
			"storageClassName": "standard", "volumeName": "pvc-1",
			"claimRef":                       map[string]any{"namespace": "kube-system"},
			"volumeClaimTemplates":           []any{map[string]any{"spec": map[string]any{"storageClassName": "fast"}}},
			"csi":                            map[string]any{"driver": "mock"},
			"provisioner":                    "other",
			"x/provisioner-secret-namespace": "secrets", "x/node-secret-namespace": "${pvc.namespace}",
		},
	}
	s.Fields(fields, []string{"mock"})
	assert.Equal(t, map[string]any{
		"metadata": map[string]any{"namespace": "default-z0a1bhh", "labels": map[string]any{"driver": "mock"}},
		"spec": map[string]any{
			"storageClassName": "standard-z0a1bhh", "volumeName": "pvc-1",
			"claimRef":                       map[string]any{"namespace": "kube-system"},
			"volumeClaimTemplates":           []any{map[string]any{"spec": map[string]any{"storageClassName": "fast-z0a1bhh"}}},
			"csi":                            map[string]any{"driver": "mock-z0a1bhh"},
			"provisioner":                    "other",
			"x/provisioner-secret-namespace": "secrets-z0a1bhh", "x/node-secret-namespace": "${pvc.namespace}",
		},
	}, fields)

	plain := s.PlainFields(map[string]any{"volumesInUse": []any{"kubernetes.io/csi/mock-z0a1bhh^1"}, "limits-mock-z0a1bhh": int64(3)})
	assert.Equal(t, map[string]any{"volumesInUse": []any{"kubernetes.io/csi/mock^1"}, "limits-mock": int64(3)}, plain)
	assert.Equal(t, "standard-z0a1bhh", s.Name(s.Name("standard")), "once is enough")

	none := Scope("")
	assert.Equal(t, "default", none.Namespace("default"))
	assert.Equal(t, "a-z0a1bhh", none.Plain("a-z0a1bhh"))
}
