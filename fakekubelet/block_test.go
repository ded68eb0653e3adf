package fakekubelet_test

import (
	"syscall"
	"testing"
	"time"

	csispec "github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/testing/protocmp"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/fakekubelet/internal/csi"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/internal/world/volume"
)

const devices = "/var/lib/kubelet/plugins/kubernetes.io/csi/volumeDevices"

// mapped returns a node on which pod web uses volume data as a device.
func mapped(t *testing.T, s setting) (*node, types.UID) {
	n := start(t, s)
	n.volume("data", block)
	uid := n.pod("web", usingDevice("data"))
	n.run("web")
	return n, uid
}

func blockCapability() *csispec.VolumeCapability {
	return &csispec.VolumeCapability{
		AccessMode: &csispec.VolumeCapability_AccessMode{Mode: csispec.VolumeCapability_AccessMode_SINGLE_NODE_MULTI_WRITER},
		AccessType: &csispec.VolumeCapability_Block{Block: &csispec.VolumeCapability_BlockVolume{}},
	}
}

// conformance: unit-block-stage, unit-block-publish, unit-block-mapper
func TestRequestsForARawBlockVolume(t *testing.T) { // K-BLK-2, K-BLK-3, K-PATH-5
	n := start(t, setting{csiDriver: func(s *storagev1.CSIDriverSpec) { attachRequired(s); podInfo(s) }})
	n.volume("data", block, func(pv *corev1.PersistentVolume) {
		pv.Spec.CSI.VolumeAttributes = map[string]string{"pool": "fast"}
		pv.Spec.MountOptions = []string{"noatime"}
	})
	n.attached("data")
	uid := n.pod("web", usingDevice("data"))
	n.run("web")

	staging := devices + "/staging/pv-data"
	assert.Empty(t, cmp.Diff(&csispec.NodeStageVolumeRequest{
		VolumeId: "h-data", PublishContext: map[string]string{"lun": "7"}, StagingTargetPath: staging,
		VolumeCapability: blockCapability(), VolumeContext: map[string]string{"pool": "fast"},
	}, request[*csispec.NodeStageVolumeRequest](n), protocmp.Transform()))
	publish := request[*csispec.NodePublishVolumeRequest](n)
	assert.Equal(t, staging, publish.StagingTargetPath)
	assert.Equal(t, devices+"/publish/pv-data/"+string(uid), publish.TargetPath)
	assert.Equal(t, map[string]string{"lun": "7"}, publish.PublishContext)
	assert.Empty(t, cmp.Diff(blockCapability(), publish.VolumeCapability, protocmp.Transform()))
	assert.Equal(t, "false", publish.VolumeContext["csi.storage.k8s.io/ephemeral"])
}

func TestTheStagingPathIsSentEvenToADriverThatDoesNotStage(t *testing.T) { // K-BLK-3
	n, _ := mapped(t, setting{driver: mock.Options{Stage: new(false)}})
	assert.Equal(t, devices+"/staging/pv-data", request[*csispec.NodePublishVolumeRequest](n).StagingTargetPath)
	assert.False(t, n.exists(devices+"/staging/pv-data"))
}

func TestWhereAMappedDeviceIsFound(t *testing.T) { // K-BLK-6, K-BLK-7, fact 9
	n, uid := mapped(t, setting{})
	published := devices + "/publish/pv-data/" + string(uid)
	mappedAt := devices + "/pv-data/dev/" + string(uid)
	id := volume.AttachmentName("h-data", driverName, nodeName)
	assert.Equal(t, []string{
		devices + "/publish/pv-data/" + string(uid),
		devices + "/pv-data/data/vol_data.json " + `{"attachmentID":"` + id + `","driverName":"disk.csi.example.com","nodeName":"node-a","specVolID":"pv-data","volumeHandle":"h-data"}`,
		devices + "/pv-data/dev/" + string(uid),
		devices + "/staging/pv-data/",
		csi.DefaultDir.PodDir(uid) + "/containers/c/" + n.terminationLogs(uid)[0],
		csi.DefaultDir.PodDir(uid) + "/plugins/",
		csi.DefaultDir.PodDir(uid) + "/volumeDevices/kubernetes.io~csi/pv-data -> " + published,
		csi.DefaultDir.PodDir(uid) + "/volumes/",
	}, n.files())
	assert.Equal(t, []string{published, mappedAt}, n.mounts())
}

func TestEventsOfAMappedDevice(t *testing.T) { // K-BLK-8
	n := start(t, setting{})
	n.volume("data", block)
	uid := n.pod("web", usingDevice("data"))
	n.settle()
	assert.Equal(t, []string{
		`Normal SuccessfulMountVolume: MapVolume.MapPodDevice succeeded for volume "pv-data" globalMapPath "` + devices + `/pv-data/dev" (1)`,
		`Normal SuccessfulMountVolume: MapVolume.MapPodDevice succeeded for volume "pv-data" volumeMapPath "` + csi.DefaultDir.PodDir(uid) + `/volumeDevices/kubernetes.io~csi" (1)`,
	}, n.events()[:2])
}

// conformance: vm-block-unmap-order
func TestTheKubeletsOwnBindsGoBeforeTheUnpublish(t *testing.T) { // K-BLK-9, K-BLK-10, K-TRACE-7
	n, uid := mapped(t, setting{})
	n.deletePod("web")
	n.settle()
	var steps []string
	for _, e := range n.news() {
		switch {
		case e.Kind == trace.FileChange:
			steps = append(steps, e.Method+" "+e.Name)
		case e.Kind == trace.Call:
			steps = append(steps, outcome(e))
		}
	}
	assert.Equal(t, []string{
		"remove loop device of " + devices + "/pv-data/dev/" + string(uid),
		"remove " + csi.DefaultDir.PodDir(uid) + "/volumeDevices/kubernetes.io~csi/pv-data",
		"unmount " + devices + "/pv-data/dev/" + string(uid),
		"remove " + devices + "/pv-data/dev/" + string(uid),
		"NodeUnpublishVolume OK",
		"cap",
		"NodeUnstageVolume OK",
		"remove all " + devices + "/staging/pv-data",
		"remove " + devices + "/publish/pv-data",
		"remove all " + devices + "/pv-data",
	}, steps)
	assert.Empty(t, n.files())
	assert.Empty(t, n.mounts())
}

// K-BLK-4, K-BLK-5, K-ERR-4
func TestCleanUpAfterAFailedRawBlockVolumeOfADeletedPod(t *testing.T) {
	unpublish, unstage := "NodeUnpublishVolume OK", "NodeUnstageVolume OK"
	for _, c := range []struct {
		method string
		code   codes.Code
		step   string
		want   []string
		left   int
	}{
		// K-OP-9: each pass writes the data file again, and nothing removes it.
		{"NodeStageVolume", codes.Internal, "SetUpDevice", []string{}, 1},
		{"NodeStageVolume", codes.Aborted, "SetUpDevice", []string{unstage}, 0},
		{"NodePublishVolume", codes.Internal, "MapPodDevice", []string{unstage}, 0},
		{"NodePublishVolume", codes.DeadlineExceeded, "MapPodDevice", []string{unpublish, unstage}, 0},
	} {
		t.Run(c.method+" "+c.code.String(), func(t *testing.T) {
			n := start(t, setting{})
			n.volume("data", block)
			n.fail(c.method, c.code, 0)
			n.pod("web", usingDevice("data"))
			n.thirdRetry()
			assert.Contains(t, n.events(), "Warning FailedMapVolume: MapVolume."+c.step+" failed for volume \"pv-data\" : rpc error: code = "+
				c.code.String()+" desc = injected (4)")
			n.forget()
			n.heal()
			n.deletePod("web")
			n.settle()
			assert.Equal(t, c.want, n.calls())
			assert.Empty(t, n.mounts())
			assert.Len(t, n.files(), c.left)
		})
	}
}

// K-BLK-4, K-RACE-24: the probe's error is wrapped, so it counts as final, and the kubelet forgets
// a stage that may have happened.
func TestAForgottenStageOfARawBlockVolume(t *testing.T) {
	n := start(t, setting{})
	n.volume("data", block)
	n.fail("NodeStageVolume", codes.DeadlineExceeded, 1)
	n.pod("web", usingDevice("data"))
	n.until(func() bool { return len(n.times("NodeStageVolume")) == 1 })
	n.fail("NodeGetCapabilities", codes.Unavailable, 0)
	n.thirdRetry()
	n.heal()
	n.forget()
	n.deletePod("web")
	n.settle()
	assert.Empty(t, n.calls())
}

func TestTwoPodsOnOneRawBlockVolume(t *testing.T) { // K-BLK-10
	n, _ := mapped(t, setting{})
	n.pod("log", usingDevice("data"))
	n.settle()
	n.deletePod("web")
	n.settle()
	n.deletePod("log")
	n.settle()
	assert.Equal(t, []string{
		"NodePublishVolume OK", "NodeUnpublishVolume OK", "NodeUnpublishVolume OK", "NodeUnstageVolume OK",
	}, n.calls())
	assert.Empty(t, n.files())
}

func TestWithoutItsStagingDirectoryADeviceIsNotUnstaged(t *testing.T) { // K-BLK-10
	n, _ := mapped(t, setting{})
	require.NoError(t, n.machine.Remove(devices+"/staging/pv-data"))
	n.deletePod("web")
	n.settle()
	assert.Equal(t, []string{"NodeUnpublishVolume OK"}, n.calls())
	assert.Empty(t, n.inUse())
	assert.Empty(t, n.files())
}

func TestABlockVolumeWaitsForItsNodesLabels(t *testing.T) { // K-OP-9, K-MNT-1
	for name, use := range map[string]func(string) func(*corev1.PodSpec){"MountVolume": using, "MapVolume": usingDevice} {
		t.Run(name, func(t *testing.T) {
			n := start(t, setting{})
			n.volume("data", func(pv *corev1.PersistentVolume) {
				if name == "MapVolume" {
					block(pv)
				}
				pv.Spec.NodeAffinity = &corev1.VolumeNodeAffinity{Required: &corev1.NodeSelector{NodeSelectorTerms: []corev1.NodeSelectorTerm{{
					MatchExpressions: []corev1.NodeSelectorRequirement{{Key: "zone", Operator: corev1.NodeSelectorOpIn, Values: []string{"z1"}}},
				}}}}
			})
			n.pod("web", use("data"))
			n.pass(time.Second)
			assert.Contains(t, n.events()[0], "Warning FailedMount: "+name+".NodeAffinity check failed for volume \"pv-data\" : no matching NodeSelectorTerms")
			assert.Empty(t, n.calls())

			_, err := store.Modify(n.Store, store.Key{Name: nodeName}, func(node *corev1.Node) { node.Labels["zone"] = "z1" })
			require.NoError(t, err)
			n.settle()
			assert.Equal(t, corev1.PodRunning, n.phase("web"))
		})
	}
}

// conformance: vm-mode-check-block-mounts, vm-volumes-in-use-mismatch
func TestAVolumeIsUsedInItsMode(t *testing.T) { // K-DSW-8, K-POD-2
	for _, c := range []struct {
		pv   []func(*corev1.PersistentVolume)
		pod  func(*corev1.PodSpec)
		text string
	}{
		{[]func(*corev1.PersistentVolume){block}, using("data"), "volume data has volumeMode Block, but is specified in volumeMounts"},
		{nil, usingDevice("data"), "volume data has volumeMode Filesystem, but is specified in volumeDevices"},
	} {
		n := start(t, setting{})
		n.volume("data", c.pv...)
		n.pod("web", c.pod)
		n.pass(time.Second)
		assert.Equal(t, []string{
			"Warning FailedMount: Unable to attach or mount volumes: unmounted volumes=[data], unattached volumes=[], failed to process volumes=[data]: " + c.text + " (1)",
		}, n.events())
	}
}

func TestWithoutItsDataFileADeviceIsNeverUnstaged(t *testing.T) { // K-BLK-11
	n, _ := mapped(t, setting{})
	n.deletePod("web")
	n.until(func() bool { return len(n.times("NodeUnpublishVolume")) == 1 })
	require.NoError(t, n.machine.Remove(devices+"/pv-data/data/vol_data.json"))
	n.pass(5 * time.Minute)
	assert.Equal(t, []string{"NodeUnpublishVolume OK"}, n.calls())
	assert.Equal(t, corev1.PodPhase("gone"), n.phase("web"))
}

// K-BLK-6, K-BLK-9: the loop device that keeps a mapped device open outlives the kubelet, but not
// the power of its node. The kubelet closes the device before it unmaps it from the pod.
func TestAMappedDeviceIsKeptOpen(t *testing.T) {
	n, uid := mapped(t, setting{})
	mappedAt := devices + "/pv-data/dev/" + string(uid)
	assert.ErrorIs(t, n.machine.Unmount(mappedAt), syscall.EBUSY)
	n.killKubelet()
	assert.ErrorIs(t, n.machine.Unmount(mappedAt), syscall.EBUSY)
	n.startKubelet()
	n.settle()
	assert.ErrorIs(t, n.machine.Unmount(mappedAt), syscall.EBUSY)
	n.deletePod("web")
	n.settle()
	assert.Empty(t, n.mounts())
	assert.Empty(t, n.files())
}

// K-UNSTAGE-4, K-BLK-7, K-BLK-10, K-BLK-11: given a device that the driver has published by a link,
// when the driver has unstaged it, then the kubelet checks the device once more. The volume does
// not count as unstaged if a process still holds the device. There is no second attempt, because
// the data file has been removed. The device stays in use until the kubelet restarts. By then, the
// published device itself no longer exists. The kubelet knows no device for a file system.
func TestADeviceThatIsHeld(t *testing.T) {
	const device = "/mock/dev-h-data"
	for _, c := range []struct {
		name         string
		links, block bool
		stuck        bool
	}{
		{"published by a link", true, true, true},
		{"published itself", false, true, false},
		{"file system", false, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := start(t, setting{csiDriver: attachRequired, deviceLinks: c.links})
			use := using
			if c.block {
				n.volume("data", block)
				use = usingDevice
			} else {
				n.volume("data")
				require.NoError(t, n.machine.MkdirAll("/mock", 0o755))
				require.NoError(t, n.machine.WriteFile(device, nil, 0o600))
			}
			n.attached("data")
			n.pod("web", use("data"))
			n.run("web")
			release, err := n.machine.Hold(device)
			require.NoError(t, err)
			n.deletePod("web")
			n.pass(30 * time.Second)
			assert.Equal(t, corev1.PodPhase("gone"), n.phase("web"))
			assert.Equal(t, []string{"NodeUnpublishVolume OK", "NodeUnstageVolume OK"}, n.calls(), "the staging directory does not exist")
			operation := "unmap_device"
			if !c.block {
				operation = "unmount_device"
			}
			assert.Equal(t, c.stuck, n.operations(operation, "fail-unknown") == 1)
			assert.Equal(t, !c.stuck, n.operations(operation, "success") == 1)
			release()
			n.pass(10 * time.Minute)
			assert.Equal(t, c.stuck, len(n.inUse()) == 1)
			n.restart(nothing)
			n.pass(time.Minute)
			assert.Empty(t, n.inUse())
			assert.Empty(t, n.calls())
		})
	}
}
