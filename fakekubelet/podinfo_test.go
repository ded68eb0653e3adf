package fakekubelet_test

import (
	"testing"

	csispec "github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/internal/world/store"
)

// K-PUB-4, K-PATH-12
//
// conformance: unit-podinfo-on, csimock-podinfo-on, unit-podinfo-off, csimock-podinfo-off,
// unit-podinfo-nil, unit-podinfo-no-csidriver, csimock-podinfo-no-csidriver,
// unit-podinfo-off-attributes-kept
func TestPodInfoInTheVolumeContext(t *testing.T) {
	info := map[string]string{
		"csi.storage.k8s.io/pod.name": "web", "csi.storage.k8s.io/pod.namespace": "default",
		"csi.storage.k8s.io/serviceAccount.name": "default", "csi.storage.k8s.io/ephemeral": "false",
	}
	for _, c := range []struct {
		name       string
		setting    setting
		attributes map[string]string
		want       map[string]string // without the pod's uid
	}{
		{"asked for", setting{csiDriver: podInfo}, nil, info},
		{"not asked for", setting{csiDriver: func(s *storagev1.CSIDriverSpec) { s.PodInfoOnMount = new(bool) }}, nil, nil},
		{"unset", setting{}, nil, nil},
		{"no CSIDriver", setting{noCSIDriver: true}, nil, nil},
		{"not asked for, the volume's own attributes", setting{}, map[string]string{"foo": "bar"}, map[string]string{"foo": "bar"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := start(t, c.setting)
			n.volume("data", func(pv *corev1.PersistentVolume) { pv.Spec.CSI.VolumeAttributes = c.attributes })
			n.attached("data")
			uid := n.pod("web", using("data"))
			n.until(func() bool { return n.phase("web") == corev1.PodRunning })
			got := request[*csispec.NodePublishVolumeRequest](n).VolumeContext
			if c.want["csi.storage.k8s.io/pod.name"] != "" {
				assert.Equal(t, string(uid), got["csi.storage.k8s.io/pod.uid"])
				delete(got, "csi.storage.k8s.io/pod.uid")
			}
			assert.Equal(t, c.want, got)
			assert.Equal(t, c.attributes, request[*csispec.NodeStageVolumeRequest](n).VolumeContext, "fact 11: NodePublishVolume only")
		})
	}
}

// K-RACE-37: the field may change, and the change applies to the next pod.
//
// conformance: csimock-podinfo-switched-off
func TestPodInfoIsSwitchedOff(t *testing.T) {
	n := start(t, setting{csiDriver: podInfo})
	n.volume("data")
	n.pod("web", using("data"))
	n.run("web")
	require.NotEmpty(t, request[*csispec.NodePublishVolumeRequest](n).VolumeContext)

	_, err := store.Modify(n.Store, store.Key{Name: driverName}, func(d *storagev1.CSIDriver) { d.Spec.PodInfoOnMount = new(bool) })
	require.NoError(t, err)
	n.pod("log", using("data"))
	n.run("log")
	assert.Empty(t, request[*csispec.NodePublishVolumeRequest](n).VolumeContext)
}
