package fakekubelet_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/container-storage-interface/spec/lib/go/csi"

	"github.com/csisim/csisim/drivers/mock"
)

// lifecycle lists the kubelet's calls to the driver for one pod with one volume.
type lifecycle struct {
	name     string
	setting  setting
	pv       []func(*corev1.PersistentVolume)
	pod      []func(*corev1.PodSpec)
	up, down []string
}

var lifecycles = []lifecycle{
	{
		name: "K-TRACE-2, K-TRACE-4: staged, then published; unpublished, then unstaged",
		pod:  []func(*corev1.PodSpec){using("data")},
		up:   []string{"cap", "cap", "cap", "NodeStageVolume OK", "cap", "cap", "cap", "NodePublishVolume OK"},
		down: []string{"NodeUnpublishVolume OK", "cap", "NodeUnstageVolume OK"},
	},
	{
		name:    "K-TRACE-5: a driver that does not stage",
		setting: setting{driver: mock.Options{Stage: new(false)}},
		pod:     []func(*corev1.PodSpec){using("data")},
		up:      []string{"cap", "cap", "cap", "cap", "NodePublishVolume OK"},
		down:    []string{"NodeUnpublishVolume OK"},
	},
	{
		name:    "K-TRACE-6: inline volumes are only published",
		setting: setting{driver: mock.Options{Ephemeral: true}, csiDriver: func(s *storagev1.CSIDriverSpec) { s.PodInfoOnMount = new(true) }},
		pod:     []func(*corev1.PodSpec){inline("scratch")},
		up:      []string{"cap", "cap", "NodePublishVolume OK"},
		down:    []string{"NodeUnpublishVolume OK"},
	},
	{
		name: "K-TRACE-7: raw block",
		pv:   []func(*corev1.PersistentVolume){block},
		pod:  []func(*corev1.PodSpec){usingDevice("data")},
		up:   []string{"cap", "cap", "NodeStageVolume OK", "cap", "NodePublishVolume OK"},
		down: []string{"NodeUnpublishVolume OK", "cap", "NodeUnstageVolume OK"},
	},
	{
		name:    "K-BLK-12: raw block without staging",
		setting: setting{driver: mock.Options{Stage: new(false)}},
		pv:      []func(*corev1.PersistentVolume){block},
		pod:     []func(*corev1.PodSpec){usingDevice("data")},
		up:      []string{"cap", "cap", "NodePublishVolume OK"},
		down:    []string{"NodeUnpublishVolume OK"},
	},
}

// conformance: unit-stage-ok, unit-publish-request-ok, unit-unstage-request-ok,
// unit-block-publish-no-attach, vm-mode-check-fs-mounts, vm-mode-check-block-devices,
// vm-mode-check-nil-mode-mounts, vm-unmount-order, unit-stage-inline,
// unit-populate-after-start-later-active, unit-can-stage-inline, unit-can-stage-pv
func TestTheCallsOfAVolumesLife(t *testing.T) { // K-RPC-5
	for _, l := range lifecycles {
		t.Run(l.name, func(t *testing.T) {
			n := start(t, l.setting)
			n.volume("data", l.pv...)
			n.pod("web", l.pod...)
			n.settle()
			assert.Equal(t, corev1.PodRunning, n.phase("web"))
			assert.Equal(t, l.up, n.probes())

			n.forget()
			n.deletePod("web")
			n.settle()
			assert.Equal(t, l.down, n.probes())
			assert.Equal(t, corev1.PodPhase("gone"), n.phase("web"))
			assert.Empty(t, n.mounts())
			assert.Empty(t, n.wire.Violations())
		})
	}
}

func TestAPodStartsAndEndsWithinAFewPasses(t *testing.T) {
	n := start(t, setting{})
	n.volume("data")
	n.pod("web", using("data"))
	n.settle()
	assert.Less(t, n.times("NodePublishVolume")[0], 350*time.Millisecond) // K-TRACE-2

	n.forget()
	n.deletePod("web")
	n.settle()
	unpublished, unstaged := n.times("NodeUnpublishVolume")[0], n.times("NodeUnstageVolume")[0]
	assert.LessOrEqual(t, unpublished, 200*time.Millisecond)
	assert.LessOrEqual(t, unstaged-unpublished, 100*time.Millisecond) // K-UNSTAGE-6
}

// conformance: vm-two-pods-one-volume
func TestTwoPodsOnOneVolume(t *testing.T) {
	n := start(t, setting{})
	n.volume("data")
	n.pod("web", using("data"))
	n.settle()

	n.forget()
	n.pod("log", using("data"))
	n.settle()
	assert.Equal(t, []string{"cap", "cap", "cap", "NodePublishVolume OK"}, n.probes(), "K-TRACE-3, K-MNT-4")

	n.forget()
	n.deletePod("web")
	n.settle()
	assert.Equal(t, []string{"NodeUnpublishVolume OK"}, n.calls(), "K-TRACE-4: the other pod keeps it staged")

	n.forget()
	n.deletePod("log")
	n.settle()
	assert.Equal(t, []string{"NodeUnpublishVolume OK", "NodeUnstageVolume OK"}, n.calls())
}

// Fact 33: the new pod exists before the old one is unmounted.
func TestAPodReplacedAtOnceKeepsTheVolumeStaged(t *testing.T) {
	n := start(t, setting{})
	n.volume("data")
	n.pod("web", using("data"))
	n.run("web")

	n.deletePod("web")
	n.pod("web-2", using("data"))
	n.settle()
	assert.ElementsMatch(t, []string{"NodePublishVolume OK", "NodeUnpublishVolume OK"}, n.calls())
	assert.Equal(t, corev1.PodRunning, n.phase("web-2"))
}

// Fact 72: one claim under two names in one pod.
func TestOneClaimUnderTwoNames(t *testing.T) {
	n := start(t, setting{})
	n.volume("data")
	claim := corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}
	n.pod("web", mounting("a", claim), mounting("b", claim))
	n.settle()
	assert.Equal(t, corev1.PodRunning, n.phase("web"))
	assert.Equal(t, []string{"NodeStageVolume OK", "NodePublishVolume OK"}, n.calls())
}

func TestVolumesThatNoContainerUsesAreNotMounted(t *testing.T) { // K-DSW-5
	n := start(t, setting{})
	n.volume("data")
	n.pod("web", using("data"), func(s *corev1.PodSpec) { s.Containers[0].VolumeMounts = nil })
	n.settle()
	assert.Equal(t, corev1.PodRunning, n.phase("web"))
	assert.Empty(t, n.calls())
}

func TestTwoPersistentVolumesWithOneHandleAreOneVolume(t *testing.T) { // K-PATH-9
	n := start(t, setting{})
	n.volume("data")
	n.volume("more", func(pv *corev1.PersistentVolume) { pv.Spec.CSI.VolumeHandle = "h-data" })
	n.pod("web", using("data"))
	n.pod("log", using("more"))
	n.settle()
	assert.ElementsMatch(t, []string{"NodeStageVolume OK", "NodePublishVolume OK", "NodePublishVolume OK"}, n.calls())
	assert.Contains(t, request[*csi.NodePublishVolumeRequest](n).StagingTargetPath, "/globalmount")
}
