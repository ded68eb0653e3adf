package fakekubelet_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/volume"
)

const cinderDriver = "cinder.csi.openstack.org"

// C-MIG-6, K-REC-8: a pod waits for its own inline volume as for any other volume.
func TestAPodWaitsForAMigratedVolumeThatItDescribesItself(t *testing.T) {
	n := start(t, setting{})
	n.pod("web", mounting("data", corev1.VolumeSource{Cinder: &corev1.CinderVolumeSource{VolumeID: "disk-1"}}))
	n.pass(10 * time.Second)
	assert.Equal(t, corev1.PodPending, n.phase("web"))
	assert.Contains(t, n.inUse(), corev1.UniqueVolumeName(volume.UniqueName(cinderDriver, "disk-1")))
}

// A volume without a CSI driver belongs to another plugin: the pod does not wait for it here.
func TestAPodDoesNotWaitForVolumesOfOtherPlugins(t *testing.T) {
	for name, source := range map[string]corev1.PersistentVolumeSource{
		"nfs": {NFS: &corev1.NFSVolumeSource{Server: "s", Path: "/"}},
	} {
		t.Run(name, func(t *testing.T) {
			n := start(t, setting{})
			n.volume("data", func(pv *corev1.PersistentVolume) { pv.Spec.PersistentVolumeSource = source })
			n.pod("web", using("data"))
			n.waitRunning("web")
			assert.Empty(t, n.calls())
		})
	}
}
