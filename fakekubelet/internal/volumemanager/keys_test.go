package volumemanager

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/fakekubelet/internal/csi"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/operation"
)

func wantedOf(uid types.UID, spec *csi.Spec) *wantedBy {
	return &wantedBy{pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: uid}}, spec: spec}
}

// conformance: ops-mount-plain-many-pods, ops-unstage-same-volume, ops-verify-controller-attached,
// ops-map-attachable-many-pods, ops-unmap-many-pods, ops-unmap-device-same-volume
func TestOperationsThatMayRunConcurrently(t *testing.T) { // K-OP-1, K-OP-2
	persistent := &csi.Spec{PV: &corev1.PersistentVolume{}}
	inline := &csi.Spec{Inline: &corev1.CSIVolumeSource{}}
	mount := mountKey("v", wantedOf("u1", persistent))
	unmount, unmountOther, unstage := unmountKey("v", "u1"), unmountKey("v", "u2"), deviceKey("v")
	for _, c := range []struct {
		name        string
		runs, wants operation.Key
		may         bool
	}{
		{"unmount of two pods", unmount, unmountOther, true},
		{"unmount twice", unmount, unmount, false},
		{"unmount during a mount for any pod", mount, unmountOther, false},
		{"mount during an unmount of any pod", unmountOther, mount, false},
		{"mount for two pods", mount, mountKey("v", wantedOf("u2", persistent)), false},
		{"mount during an unstage", unstage, mount, false},
		{"unstage twice", unstage, unstage, false},
		{"verify during anything about the volume as a whole", deviceKey("v"), deviceKey("v"), false},
		{"unstage during an unmount", unmount, unstage, false},
		{"different volumes", mount, mountKey("w", wantedOf("u1", persistent)), true},
		{"inline volumes of a pod", mountKey("u1-a", wantedOf("u1", inline)), mountKey("u1-b", wantedOf("u1", inline)), true},
		{"unmount of an inline volume during its mount", mountKey("u1-a", wantedOf("u1", inline)), unmountKey("u1-a", "u1"), false},
	} {
		k := kernel.New(kernel.Options{})
		ops := operation.New(k, func(name string, body func(*kernel.Process)) *kernel.Process { return k.Spawn(nil, name, body) }, nil)
		hang := func(p *kernel.Process) error { p.Park("ever"); return nil }
		assert.NoError(t, ops.Run(c.runs, "a", hang))
		if err := ops.Run(c.wants, "b", hang); c.may {
			assert.NoError(t, err, c.name)
		} else {
			assert.ErrorIs(t, err, operation.ErrPending, c.name)
		}
		k.Close()
	}
}
