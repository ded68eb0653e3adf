package attachdetach

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/operation"
)

// Attaching and detaching a volume have the same key. C-OP-7
//
// conformance: ops-attach-multi-same-node, ops-attach-multi-two-nodes, ops-detach-rwo-same-node,
// ops-detach-multi-same-node, ops-detach-multi-two-nodes
func TestOperationsThatMayRunConcurrently(t *testing.T) {
	for _, c := range []struct {
		name        string
		mode        corev1.PersistentVolumeAccessMode
		runs, wants pair
		may         bool
	}{
		{"many nodes, the same node", corev1.ReadWriteMany, pair{"v", "a"}, pair{"v", "a"}, false},
		{"many nodes, another node", corev1.ReadWriteMany, pair{"v", "a"}, pair{"v", "b"}, true},
		{"read-only, the same node", corev1.ReadOnlyMany, pair{"v", "a"}, pair{"v", "a"}, false},
		{"read-only, another node", corev1.ReadOnlyMany, pair{"v", "a"}, pair{"v", "b"}, true},
		{"one node, the same node", corev1.ReadWriteOnce, pair{"v", "a"}, pair{"v", "a"}, false},
		{"one node, another node", corev1.ReadWriteOnce, pair{"v", "a"}, pair{"v", "b"}, false},
		{"one node, another volume", corev1.ReadWriteOnce, pair{"v", "a"}, pair{"w", "a"}, true},
	} {
		s := &spec{pv: &corev1.PersistentVolume{Spec: corev1.PersistentVolumeSpec{AccessModes: []corev1.PersistentVolumeAccessMode{c.mode}}}}
		k := kernel.New(kernel.Options{})
		ops := operation.New(k, func(name string, body func(*kernel.Process)) *kernel.Process { return k.Spawn(nil, name, body) }, nil)
		hang := func(p *kernel.Process) error { p.Park("ever"); return nil }
		assert.NoError(t, ops.Run(s.operationKey(c.runs), "attach", hang))
		if err := ops.Run(s.operationKey(c.wants), "detach", hang); c.may {
			assert.NoError(t, err, c.name)
		} else {
			assert.ErrorIs(t, err, operation.ErrPending, c.name)
		}
		k.Close()
	}
}
