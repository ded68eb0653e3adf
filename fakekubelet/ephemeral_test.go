package fakekubelet_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/fakekubelet/internal/csi"
)

func lifecycleModes(modes ...storagev1.VolumeLifecycleMode) func(*storagev1.CSIDriverSpec) {
	return func(s *storagev1.CSIDriverSpec) { s.VolumeLifecycleModes, s.PodInfoOnMount = modes, new(true) }
}

const (
	persistent = storagev1.VolumeLifecyclePersistent
	ephemeral  = storagev1.VolumeLifecycleEphemeral
)

// A volume has its whole lifecycle, with a kubelet restart in the middle. The files on disk are
// sufficient to publish it again and to unpublish it. K-PUB-7, K-RECON-2, K-TRACE-6
//
// conformance: unit-lifecycle-inline, unit-lifecycle-inline-both-modes,
// unit-lifecycle-pv-csidriver, unit-lifecycle-pv, suite-ephemeral-read-write,
// unit-rebuild-inline-spec, unit-rebuild-pv-spec
func TestTheLifeOfAVolumeInEitherLifecycleMode(t *testing.T) {
	for _, c := range []struct {
		name     string
		setting  setting
		attached bool
		pod      func(*corev1.PodSpec)
		up, down []string
	}{
		{
			name: "inline", setting: setting{csiDriver: lifecycleModes(ephemeral)}, pod: inline("scratch"),
			up: []string{"NodePublishVolume OK"}, down: []string{"NodeUnpublishVolume OK"},
		},
		{
			name: "inline, the driver takes both", setting: setting{csiDriver: lifecycleModes(persistent, ephemeral)}, pod: inline("scratch"),
			up: []string{"NodePublishVolume OK"}, down: []string{"NodeUnpublishVolume OK"},
		},
		{
			name: "persistent", setting: setting{csiDriver: func(s *storagev1.CSIDriverSpec) { attachRequired(s); lifecycleModes(persistent)(s) }},
			attached: true, pod: using("data"),
			up: []string{"NodeStageVolume OK", "NodePublishVolume OK"}, down: []string{"NodeUnpublishVolume OK", "NodeUnstageVolume OK"},
		},
		{
			name: "persistent, without a CSIDriver", setting: setting{noCSIDriver: true}, attached: true, pod: using("data"),
			up: []string{"NodeStageVolume OK", "NodePublishVolume OK"}, down: []string{"NodeUnpublishVolume OK", "NodeUnstageVolume OK"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.setting.driver.Ephemeral = true
			n := start(t, c.setting)
			if c.attached {
				n.volume("data")
				n.attached("data")
			}
			n.pod("web", c.pod)
			n.until(func() bool { return n.phase("web") == corev1.PodRunning })
			assert.Equal(t, c.up, n.calls())

			n.restart(nothing)
			n.pass(20 * time.Second)
			assert.Equal(t, c.up, n.calls(), "after the restart all is done again")

			n.forget()
			n.deletePod("web")
			n.settle()
			assert.Equal(t, c.down, n.calls())
			assert.Equal(t, corev1.PodPhase("gone"), n.phase("web"))
			assert.Empty(t, n.mounts())
			assert.Empty(t, n.files())
		})
	}
}

// K-PUB-7: the mode is checked when publishing, not before.
//
// conformance: unit-lifecycle-inline-wrong-mode, unit-mounter-lifecycle-mode
func TestALifecycleModeThatTheDriverDoesNotSupport(t *testing.T) {
	for _, c := range []struct {
		name, event string
		setting     setting
		pod         func(*corev1.PodSpec)
		calls       []string
	}{
		{
			name: "inline", setting: setting{csiDriver: lifecycleModes(persistent)}, pod: inline("scratch"), calls: []string{},
			event: `volume "scratch" : kubernetes.io/csi: mounter.SetupAt failed to check volume lifecycle mode: volume mode "Ephemeral" not supported by driver disk.csi.example.com (only supports ["Persistent"]) (1)`,
		},
		{
			name: "inline, without a CSIDriver", setting: setting{noCSIDriver: true}, pod: inline("scratch"), calls: []string{},
			event: `volume "scratch" : kubernetes.io/csi: mounter.SetupAt failed to check volume lifecycle mode: volume mode "Ephemeral" not supported by driver disk.csi.example.com (no CSIDriver object) (1)`,
		},
		{
			name: "persistent", setting: setting{csiDriver: lifecycleModes(ephemeral)}, pod: using("data"), calls: []string{"NodeStageVolume OK"},
			event: `volume "pv-data" : kubernetes.io/csi: mounter.SetupAt failed to check volume lifecycle mode: volume mode "Persistent" not supported by driver disk.csi.example.com (only supports ["Ephemeral"]) (1)`,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.setting.driver.Ephemeral = true
			n := start(t, c.setting)
			n.volume("data")
			n.pod("web", c.pod)
			n.pass(500 * time.Millisecond)
			assert.Equal(t, c.calls, n.calls())
			assert.Equal(t, []string{"Warning FailedMount: MountVolume.SetUp failed for " + c.event}, n.events())
		})
	}
}

// conformance: suite-ephemeral-two-volumes, suite-ephemeral-read-only
func TestAPodWithTwoInlineVolumes(t *testing.T) {
	n := start(t, setting{driver: mock.Options{Ephemeral: true}, csiDriver: podInfo})
	uid := n.pod("web", inline("scratch"), func(spec *corev1.PodSpec) {
		inline("fixed")(spec)
		spec.Volumes[1].CSI.ReadOnly = new(true)
	})
	n.settle()
	assert.Equal(t, corev1.PodRunning, n.phase("web"))
	assert.Equal(t, []string{"NodePublishVolume OK", "NodePublishVolume OK"}, n.calls())
	assert.Equal(t, map[string]bool{csi.DefaultDir.TargetPath(uid, "scratch"): false, csi.DefaultDir.TargetPath(uid, "fixed"): true}, n.readOnly())

	n.forget()
	n.deletePod("web")
	n.settle()
	assert.Equal(t, []string{"NodeUnpublishVolume OK", "NodeUnpublishVolume OK"}, n.calls())
	assert.Empty(t, n.mounts())
	assert.Empty(t, n.files())
}
