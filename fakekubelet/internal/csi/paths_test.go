package csi

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/volume"
)

// conformance: unit-target-path, unit-block-paths, unit-staging-path
func TestPaths(t *testing.T) { // K-PATH-1
	// Sha256 of "hello".
	const hash = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
	for _, d := range []Dir{"/var/lib/kubelet", "/var/lib/k0s/kubelet"} {
		root := string(d)
		for _, c := range []struct{ rule, is, want string }{
			{"K-PATH-3", d.StagingPath("d.example.com", "hello"), root + "/plugins/kubernetes.io/csi/d.example.com/" + hash + "/globalmount"},
			{"K-PATH-4", d.TargetPath("u1", "pv-1"), root + "/pods/u1/volumes/kubernetes.io~csi/pv-1/mount"},
			{"K-PATH-4 escaped", d.TargetPath("u1", "a/b"), root + "/pods/u1/volumes/kubernetes.io~csi/a~b/mount"},
			{"K-PATH-5 staging", d.BlockStagingPath("a/b"), root + "/plugins/kubernetes.io/csi/volumeDevices/staging/a/b"},
			{"K-PATH-5 publish", d.BlockPublishPath("u1", "a/b"), root + "/plugins/kubernetes.io/csi/volumeDevices/publish/a/b/u1"},
			{"K-PATH-5 map", d.BlockMapDir("a/b"), root + "/plugins/kubernetes.io/csi/volumeDevices/a~b/dev"},
			{"K-PATH-5 data", d.blockDataDir("a/b"), root + "/plugins/kubernetes.io/csi/volumeDevices/a~b/data"},
			{"K-PATH-5 link", d.PodDevicePath("u1", "a/b"), root + "/pods/u1/volumeDevices/kubernetes.io~csi/a~b"},
		} {
			assert.Equal(t, c.want, c.is, c.rule)
		}
	}
	assert.Equal(t, "csi-"+hash, volume.AttachmentName("hel", "l", "o"), "K-PATH-6")
	assert.Equal(t, "csi-"+hash, volume.InlineHandle("hel", "lo"), "K-PATH-7")
}

func persistentSpec(handle string) *Spec {
	return &Spec{Name: "pv-" + handle, PV: &corev1.PersistentVolume{Spec: corev1.PersistentVolumeSpec{
		PersistentVolumeSource: corev1.PersistentVolumeSource{
			CSI: &corev1.CSIPersistentVolumeSource{Driver: "d.example.com", VolumeHandle: handle},
		},
	}}}
}

// conformance: vm-nonattachable-volume-names, unit-unique-volume-name
func TestUniqueNames(t *testing.T) { // K-PATH-8, K-PATH-9
	pv := persistentSpec("h1")
	assert.Equal(t, "kubernetes.io/csi/d.example.com^h1", pv.UniqueName("u1"))
	assert.Equal(t, pv.UniqueName("u1"), pv.UniqueName("u2"), "pods share a persistent volume")
	inline := &Spec{Name: "scratch", Inline: &corev1.CSIVolumeSource{Driver: "d.example.com"}}
	assert.Equal(t, "kubernetes.io/csi/u1-scratch", inline.UniqueName("u1"))
}
