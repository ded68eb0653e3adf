package fakekubelet_test

import (
	"path"
	"slices"
	"strings"
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
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/fakekubelet/internal/csi"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

func attachRequired(s *storagev1.CSIDriverSpec) { s.AttachRequired = new(true) }

// conformance: unit-stage-request-ok, unit-stage-mount-options, unit-stage-empty-device-path
func TestNodeStageVolumeRequest(t *testing.T) { // K-STAGE-3, K-RPC-6
	n := start(t, setting{driver: mock.Options{VolumeMountGroup: true}, csiDriver: attachRequired})
	create(n, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "stage", Namespace: "kube-system"}, Data: map[string][]byte{"key": []byte("k1")}})
	n.volume("data", func(pv *corev1.PersistentVolume) {
		pv.Spec.MountOptions = []string{"noatime"}
		pv.Spec.CSI.FSType = "xfs"
		pv.Spec.CSI.VolumeAttributes = map[string]string{"pool": "fast"}
		pv.Spec.CSI.NodeStageSecretRef = &corev1.SecretReference{Namespace: "kube-system", Name: "stage"}
	})
	n.attached("data")
	n.pod("web", using("data"), fsGroup(2000))
	n.until(func() bool { return len(n.times("NodeStageVolume")) > 0 })

	want := &csispec.NodeStageVolumeRequest{
		VolumeId:          "h-data",
		PublishContext:    map[string]string{"lun": "7"},
		StagingTargetPath: csi.DefaultDir.StagingPath(driverName, "h-data"),
		VolumeCapability: &csispec.VolumeCapability{
			AccessMode: &csispec.VolumeCapability_AccessMode{Mode: csispec.VolumeCapability_AccessMode_SINGLE_NODE_MULTI_WRITER},
			AccessType: &csispec.VolumeCapability_Mount{Mount: &csispec.VolumeCapability_MountVolume{
				FsType: "xfs", MountFlags: []string{"noatime"}, VolumeMountGroup: "2000",
			}},
		},
		Secrets:       map[string]string{"key": "k1"},
		VolumeContext: map[string]string{"pool": "fast"},
	}
	assert.Empty(t, cmp.Diff(want, request[*csispec.NodeStageVolumeRequest](n), protocmp.Transform()))
}

// conformance: unit-publish-no-fstype
func TestAnEmptyFSTypeStaysEmpty(t *testing.T) { // K-STAGE-3, fact 10
	n := start(t, setting{})
	n.volume("data")
	n.pod("web", using("data"))
	n.settle()
	assert.Empty(t, request[*csispec.NodeStageVolumeRequest](n).VolumeCapability.GetMount().FsType)
	published := request[*csispec.NodePublishVolumeRequest](n).VolumeCapability.GetMount()
	assert.Empty(t, published.FsType)
	assert.Nil(t, published.MountFlags)
}

// K-STAGE-7, K-ERR-4, facts 26 and 56
//
// conformance: unit-stage-timeout, uncertain-stage-times-out, uncertain-stage-fails
func TestCleanUpAfterAFailedStageOfADeletedPod(t *testing.T) {
	final := []codes.Code{
		codes.Unknown, codes.Internal, codes.InvalidArgument, codes.NotFound, codes.AlreadyExists, codes.PermissionDenied,
		codes.FailedPrecondition, codes.OutOfRange, codes.Unimplemented, codes.DataLoss, codes.Unauthenticated,
	}
	uncertain := []codes.Code{codes.Canceled, codes.DeadlineExceeded, codes.ResourceExhausted, codes.Aborted, codes.Unavailable}
	for _, code := range append(final, uncertain...) {
		t.Run(code.String(), func(t *testing.T) {
			n := start(t, setting{})
			n.volume("data")
			n.fail("NodeStageVolume", code, 0)
			n.pod("web", using("data"))
			n.thirdRetry()
			n.forget()
			n.deletePod("web")
			n.settle()
			want := []string{}
			if slices.Contains(uncertain, code) {
				want = []string{"NodeUnstageVolume OK"}
			}
			assert.Equal(t, want, n.calls())
			assert.Empty(t, n.files(), "nothing is left on disk")
		})
	}
}

func TestAFinalErrorAfterAnUncertainOneForgetsTheStage(t *testing.T) { // K-TRACE-9, K-ERR-1
	n := start(t, setting{})
	n.volume("data")
	n.fail("NodeStageVolume", codes.DeadlineExceeded, 1)
	n.fail("NodeStageVolume", codes.Internal, 0)
	n.pod("web", using("data"))
	n.thirdRetry()
	assert.Equal(t, []string{
		"NodeStageVolume DeadlineExceeded", "NodeStageVolume Internal", "NodeStageVolume Internal", "NodeStageVolume Internal",
	}, n.calls())
	assert.NotContains(t, n.files(), csi.DefaultDir.StagingPath(driverName, "h-data")+"/")

	n.forget()
	n.deletePod("web")
	n.settle()
	assert.Empty(t, n.calls())
}

func TestAnUncertainStageKeepsItsDirectoryAndData(t *testing.T) { // K-STAGE-6
	n := start(t, setting{})
	n.volume("data")
	n.fail("NodeStageVolume", codes.Aborted, 0)
	n.pod("web", using("data"))
	n.pass(300 * time.Millisecond)
	staging := csi.DefaultDir.StagingPath(driverName, "h-data")
	assert.Contains(t, n.files(), staging+"/")
	assert.Contains(t, n.files(), staging[:len(staging)-len("globalmount")]+`vol_data.json {"driverName":"disk.csi.example.com","volumeHandle":"h-data"}`)
}

// The test checks failures before NodeStageVolume, and whether NodeUnstageVolume follows.
func TestConditionsThatPreventAStage(t *testing.T) { // K-STAGE-6, K-PUB-12
	missing := func(pv *corev1.PersistentVolume) {
		pv.Spec.CSI.NodeStageSecretRef = &corev1.SecretReference{Namespace: "kube-system", Name: "stage"}
	}
	cases := []struct {
		name  string
		pv    func(*corev1.PersistentVolume)
		given func(*node)
		event string
	}{
		{
			name:  "the driver is not registered",
			given: func(n *node) { n.unregister() },
			event: "MountVolume.MountDevice failed for volume \"pv-data\" : kubernetes.io/csi: attacher.MountDevice failed to create newCsiDriverClient: " +
				"driver name disk.csi.example.com not found in the list of registered CSI drivers",
		},
		{
			name:  "its secret is missing",
			pv:    missing,
			event: "MountVolume.MountDevice failed for volume \"pv-data\" : fetching NodeStageSecretRef kube-system/stage failed: secrets \"stage\" not found",
		},
		{
			name:  "the driver is down",
			given: func(n *node) { n.killDriver() },
			event: "MountVolume.MountDevice failed for volume \"pv-data\" : rpc error: code = Unavailable desc = connection error: desc = \"transport: Error while dialing: " +
				"dial unix /var/lib/kubelet/plugins/disk.csi.example.com/csi.sock: connect: no such file or directory\"",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			n := start(t, setting{})
			if c.pv == nil {
				c.pv = func(*corev1.PersistentVolume) {}
			}
			n.volume("data", c.pv)
			if c.given != nil {
				c.given(n)
			}
			n.pod("web", using("data"))
			n.pass(2 * time.Second)
			assert.Equal(t, []string{
				"Warning FailedMount: " + c.event + " (1)", "Warning FailedMount: " + c.event + " (2)", "Warning FailedMount: " + c.event + " (3)",
			}, n.events())
			assert.Empty(t, n.files(machine.KubeletDir+"/plugins/kubernetes.io"), "nothing was made on disk")

			n.deletePod("web")
			n.settle()
			assert.Empty(t, n.times("NodeStageVolume"))
			assert.Empty(t, n.times("NodeUnstageVolume"), "K-RACE-25: false uncertainty ends without a call")
		})
	}
}

func TestRetriesOfAStage(t *testing.T) { // K-OP-3, fact 22
	n := start(t, setting{})
	n.volume("data")
	n.fail("NodeStageVolume", codes.Internal, 9)
	n.pod("web", using("data"))
	n.settle()
	assert.InDeltaSlice(t, []float64{0.5, 1, 2, 4, 8, 16, 32, 64, 122}, n.gaps("NodeStageVolume"), 0.2)
	assert.Equal(t, corev1.PodRunning, n.phase("web"))
}

// K-STAGE-4, K-UNSTAGE-5.
func TestTheFirstPodDecidesAndTheVolumeIsRestagedForTheNext(t *testing.T) {
	n := start(t, setting{})
	n.volume("data")
	n.pod("web", using("data"))
	n.run("web")
	n.deletePod("web")
	n.settle()
	n.pod("web", using("data"))
	n.settle()
	assert.Equal(t, []string{
		"NodeUnpublishVolume OK", "NodeUnstageVolume OK", "NodeStageVolume OK", "NodePublishVolume OK",
	}, n.calls())
}

// conformance: unit-stage-capability-missing
func TestADriverThatDoesNotStageLeavesADirectory(t *testing.T) { // K-STAGE-2, fact 8
	n := start(t, setting{driver: mock.Options{Stage: new(false)}})
	n.volume("data")
	n.pod("web", using("data"))
	n.run("web")
	n.deletePod("web")
	n.settle()
	assert.Equal(t, []string{csi.DefaultDir.StagingPath(driverName, "h-data") + "/"}, n.files())
}

// Fact 38: registration does not trigger the next try.
func TestAVolumeOfADriverThatRegistersLate(t *testing.T) {
	n := start(t, setting{})
	n.unregister()
	n.volume("data")
	n.pod("web", using("data"))
	n.pass(4500 * time.Millisecond)
	n.registrar.Start()
	n.until(func() bool { return len(n.kubelet.Registered()) > 0 })
	n.forget()
	n.settle()
	assert.Greater(t, n.times("NodeStageVolume")[0], time.Second)
	assert.Equal(t, corev1.PodRunning, n.phase("web"))
}

// Fact 26: a retry that is due before the pod's deletion is still made.
func TestOneMoreTryForADeletedPod(t *testing.T) {
	n := start(t, setting{})
	n.volume("data")
	n.fail("NodeStageVolume", codes.Unavailable, 0)
	n.pod("web", using("data"))
	n.pass(time.Second)
	n.forget()
	n.deletePod("web")
	n.settle()
	assert.Equal(t, []string{"NodeStageVolume Unavailable", "NodeUnstageVolume OK"}, n.calls())
}

func (n *node) loseSecret() {
	n.t.Helper()
	_, err := store.Delete[*corev1.Secret](n.Store, podKey("key"))
	require.NoError(n.t, err)
}

// failLater makes all capability probes but the next few end with a code.
func (n *node) failLater(after int, code codes.Code) {
	n.wire.Faults.Inject(&fault.Fault{Name: "later", Call: "NodeGetCapabilities", After: after, Effect: fault.Answer, Code: code, Message: "injected"})
}

// stageSteps returns the changes of files and the calls up to NodeStageVolume.
func (n *node) stageSteps() []string {
	var steps []string
	for _, e := range n.news() {
		switch {
		case e.Kind == trace.FileChange:
			steps = append(steps, strings.TrimSpace(e.Method+" "+path.Base(e.Name)+" "+e.Code))
		case e.Kind == trace.Call:
			steps = append(steps, outcome(e))
			if path.Base(e.Method) == "NodeStageVolume" {
				return steps
			}
		}
	}
	return steps
}

// K-STAGE-1: the order of the steps of a stage before its call to the driver. In each row one step
// fails, and the later steps have not happened.
func TestTheOrderOfAStage(t *testing.T) {
	withSecret := func(pv *corev1.PersistentVolume) {
		pv.Spec.CSI.NodeStageSecretRef = &corev1.SecretReference{Namespace: "default", Name: "key"}
	}
	for _, c := range []struct {
		name   string
		broken func(*node)
		steps  []string
		event  string
	}{
		{"the driver", func(n *node) { n.unregister() }, nil, "failed to create newCsiDriverClient"},
		{"the first capability", func(n *node) { n.fail("NodeGetCapabilities", codes.Internal, 0) }, []string{"cap Internal"}, "Internal"},
		{"the attachment", func(n *node) {
			n.hold("NodeGetCapabilities", time.Second)
			n.until(func() bool { return len(n.times("NodeGetCapabilities")) == 1 })
			n.detached()
			n.loseSecret()
		}, []string{"cap"}, "volumeattachments.storage.k8s.io"},
		{"the secret", func(n *node) { n.loseSecret() }, []string{"cap"}, "fetching NodeStageSecretRef default/key failed"},
		{"the directory", func(n *node) {
			dir := path.Dir(path.Dir(csi.DefaultDir.StagingPath(driverName, "h-data")))
			require.NoError(n.t, n.machine.MkdirAll(path.Dir(dir), 0o750))
			require.NoError(n.t, n.machine.WriteFile(dir, nil, 0o644))
		}, []string{"cap", "mkdir globalmount Failed"}, "failed to create dir"},
		{"the second capability", func(n *node) { n.failLater(1, codes.Internal) },
			[]string{"cap", "mkdir globalmount", "cap Internal"}, "VOLUME_MOUNT_GROUP"},
		{"the third capability", func(n *node) { n.failLater(2, codes.Aborted) },
			[]string{"cap", "mkdir globalmount", "cap", "write vol_data.json", "cap Aborted"}, "Aborted"},
		{"nothing", func(*node) {},
			[]string{"cap", "mkdir globalmount", "cap", "write vol_data.json", "cap", "NodeStageVolume OK"}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := start(t, attaching)
			create(n, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "key", Namespace: "default"}})
			n.volume("data", withSecret)
			n.attached("data")
			n.pod("web", using("data"))
			n.pass(8 * time.Second) // the volume is not reported in use before the tenth second
			n.forget()
			c.broken(n)
			n.until(func() bool { return len(n.kubeEvents("FailedMount"))+len(n.times("NodePublishVolume")) > 0 })
			assert.Equal(t, c.steps, n.stageSteps())
			if c.event != "" {
				assert.Contains(t, n.events()[0], "MountVolume.MountDevice failed")
				assert.Contains(t, n.events()[0], c.event)
			}
		})
	}
}

// K-MNT-2: the kubelet counts a persistent volume as staged even if the driver does not stage, and
// never an inline volume.
func TestVolumesWithADevice(t *testing.T) {
	for _, c := range []struct {
		name    string
		driver  mock.Options
		pod     func(*corev1.PodSpec)
		device  bool // a staging directory, and an operation that removes it
		staging string
	}{
		{"staging", mock.Options{}, using("data"), true, csi.DefaultDir.StagingPath(driverName, "h-data")},
		{"not staging", mock.Options{Stage: new(false)}, using("data"), true, ""},
		{"inline", mock.Options{Ephemeral: true}, inline("scratch"), false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := start(t, setting{driver: c.driver, csiDriver: podInfo})
			n.volume("data")
			n.pod("web", c.pod)
			n.run("web")
			assert.Equal(t, c.staging, request[*csispec.NodePublishVolumeRequest](n).StagingTargetPath)
			assert.Equal(t, c.device, n.exists(csi.DefaultDir.StagingPath(driverName, "h-data")))
			assert.Empty(t, n.inUse())
			n.deletePod("web")
			n.settle()
			assert.Equal(t, c.device, n.operations("unmount_device", "success") == 1)
		})
	}
}
