package fakekubelet_test

import (
	"path"
	"slices"
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

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/fakekubelet/internal/csi"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/internal/world/volume"
)

func podInfo(s *storagev1.CSIDriverSpec) { s.PodInfoOnMount = new(true) }

func mountCapability(mode csispec.VolumeCapability_AccessMode_Mode, group string) *csispec.VolumeCapability {
	return &csispec.VolumeCapability{
		AccessMode: &csispec.VolumeCapability_AccessMode{Mode: mode},
		AccessType: &csispec.VolumeCapability_Mount{Mount: &csispec.VolumeCapability_MountVolume{VolumeMountGroup: group}},
	}
}

// conformance: unit-publish-persistent
func TestNodePublishVolumeRequest(t *testing.T) { // K-PUB-1..4, K-DSW-9, K-PATH-4
	n := start(t, setting{
		driver:    mock.Options{VolumeMountGroup: true},
		csiDriver: func(s *storagev1.CSIDriverSpec) { attachRequired(s); podInfo(s) },
	})
	create(n, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "publish", Namespace: "kube-system"}, Data: map[string][]byte{"key": []byte("k2")}})
	n.volume("data", func(pv *corev1.PersistentVolume) {
		pv.Spec.CSI.VolumeAttributes = map[string]string{"pool": "fast", "csi.storage.k8s.io/pod.name": "overwritten"}
		pv.Spec.CSI.NodePublishSecretRef = &corev1.SecretReference{Namespace: "kube-system", Name: "publish"}
		pv.Spec.CSI.ReadOnly = true // K-DSW-9: ignored on the node
	})
	n.attached("data")
	uid := n.pod("web", using("data"), fsGroup(2000))
	n.until(func() bool { return len(n.times("NodePublishVolume")) > 0 })

	want := &csispec.NodePublishVolumeRequest{
		VolumeId:          "h-data",
		PublishContext:    map[string]string{"lun": "7"},
		StagingTargetPath: csi.DefaultDir.StagingPath(driverName, "h-data"),
		TargetPath:        "/var/lib/kubelet/pods/" + string(uid) + "/volumes/kubernetes.io~csi/pv-data/mount",
		VolumeCapability:  mountCapability(csispec.VolumeCapability_AccessMode_SINGLE_NODE_MULTI_WRITER, "2000"),
		Secrets:           map[string]string{"key": "k2"},
		VolumeContext: map[string]string{
			"pool":                                   "fast",
			"csi.storage.k8s.io/pod.name":            "web",
			"csi.storage.k8s.io/pod.namespace":       "default",
			"csi.storage.k8s.io/pod.uid":             string(uid),
			"csi.storage.k8s.io/serviceAccount.name": "default",
			"csi.storage.k8s.io/ephemeral":           "false",
		},
	}
	assert.Empty(t, cmp.Diff(want, request[*csispec.NodePublishVolumeRequest](n), protocmp.Transform()))
}

// K-PATH-7, K-PUB-3, K-PUB-4, K-TRACE-6.
func TestNodePublishVolumeRequestOfAnInlineVolume(t *testing.T) {
	n := start(t, setting{driver: mock.Options{VolumeMountGroup: true, Ephemeral: true}, csiDriver: podInfo})
	create(n, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "publish", Namespace: "default"}, Data: map[string][]byte{"key": []byte("k3")}})
	uid := n.pod("web", fsGroup(2000), mounting("scratch", corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{
		Driver: driverName, ReadOnly: new(true), VolumeAttributes: map[string]string{"size": "1"},
		NodePublishSecretRef: &corev1.LocalObjectReference{Name: "publish"},
	}}))
	n.settle()

	want := &csispec.NodePublishVolumeRequest{
		VolumeId:         volume.InlineHandle(uid, "scratch"),
		TargetPath:       csi.DefaultDir.TargetPath(uid, "scratch"),
		VolumeCapability: mountCapability(csispec.VolumeCapability_AccessMode_SINGLE_NODE_MULTI_WRITER, "2000"),
		Readonly:         true,
		Secrets:          map[string]string{"key": "k3"},
		VolumeContext: map[string]string{
			"size":                                   "1",
			"csi.storage.k8s.io/pod.name":            "web",
			"csi.storage.k8s.io/pod.namespace":       "default",
			"csi.storage.k8s.io/pod.uid":             string(uid),
			"csi.storage.k8s.io/serviceAccount.name": "default",
			"csi.storage.k8s.io/ephemeral":           "true",
		},
	}
	assert.Empty(t, cmp.Diff(want, request[*csispec.NodePublishVolumeRequest](n), protocmp.Transform()))
}

func TestWithoutPodInfoThereIsNotEvenTheEphemeralKey(t *testing.T) { // K-PUB-4
	n := start(t, setting{})
	n.volume("data")
	n.pod("web", using("data"))
	n.settle()
	assert.Empty(t, request[*csispec.NodePublishVolumeRequest](n).VolumeContext)
}

func TestReadOnlyFollowsThePod(t *testing.T) { // K-DSW-9, fact 13
	n := start(t, setting{})
	n.volume("data")
	n.pod("web", mounting("data", corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data", ReadOnly: true},
	}))
	n.settle()
	assert.True(t, request[*csispec.NodePublishVolumeRequest](n).Readonly)
}

// K-PUB-10, K-PUB-11, K-ERR-2, K-ERR-4, facts 26 and 56
//
// conformance: unit-publish-timeout, unit-publish-timeout-keeps-metadata,
// unit-publish-final-error-new-volume, uncertain-publish-times-out, uncertain-publish-fails
func TestCleanUpAfterAFailedPublishOfADeletedPod(t *testing.T) {
	cases := map[codes.Code][]string{
		codes.Internal:           {"NodeUnstageVolume OK"},
		codes.InvalidArgument:    {"NodeUnstageVolume OK"},
		codes.FailedPrecondition: {"NodeUnstageVolume OK"},
		codes.DeadlineExceeded:   {"NodeUnpublishVolume OK", "NodeUnstageVolume OK"},
		codes.Unavailable:        {"NodeUnpublishVolume OK", "NodeUnstageVolume OK"},
		codes.ResourceExhausted:  {"NodeUnpublishVolume OK", "NodeUnstageVolume OK"},
		codes.Aborted:            {"NodeUnpublishVolume OK", "NodeUnstageVolume OK"},
		codes.Canceled:           {"NodeUnpublishVolume OK", "NodeUnstageVolume OK"},
	}
	for code, want := range cases {
		t.Run(code.String(), func(t *testing.T) {
			n := start(t, setting{driver: mock.Options{}})
			n.volume("data")
			n.fail("NodePublishVolume", code, 0)
			uid := n.pod("web", using("data"))
			n.thirdRetry()
			dataFile := csi.DefaultDir.PodDir(uid) + "/volumes/kubernetes.io~csi/pv-data/vol_data.json"
			assert.Equal(t, slices.Contains(want, "NodeUnpublishVolume OK"), n.exists(dataFile), "K-PUB-10: a final error tidies up")

			n.forget()
			n.heal()
			n.deletePod("web")
			n.settle()
			assert.Equal(t, want, n.calls())
			assert.Empty(t, n.files())
			assert.Empty(t, n.mounts())
		})
	}
}

func TestThePodVolumesDataFile(t *testing.T) { // K-PATH-10, fact 7
	n := start(t, setting{driver: mock.Options{Ephemeral: true}, csiDriver: podInfo})
	n.volume("data")
	web, log := n.pod("web", using("data")), n.pod("log", inline("scratch"))
	n.settle()
	content := func(name string) string {
		text, err := n.machine.ReadFile(path.Join(path.Dir(name), "vol_data.json"))
		assert.NoError(t, err)
		return string(text)
	}
	id := volume.AttachmentName("h-data", driverName, nodeName)
	assert.Equal(t, `{"attachmentID":"`+id+`","driverName":"disk.csi.example.com","nodeName":"node-a","specVolID":"pv-data",`+
		`"volumeHandle":"h-data","volumeLifecycleMode":"Persistent"}`+"\n", content(csi.DefaultDir.TargetPath(web, "pv-data")))
	handle := volume.InlineHandle(log, "scratch")
	id = volume.AttachmentName(handle, driverName, nodeName)
	assert.Equal(t, `{"attachmentID":"`+id+`","driverName":"disk.csi.example.com","nodeName":"node-a","specVolID":"scratch",`+
		`"volumeHandle":"`+handle+`","volumeLifecycleMode":"Ephemeral"}`+"\n", content(csi.DefaultDir.TargetPath(log, "scratch")))
}

// conformance: unit-publish-missing-secret
func TestConditionsThatPreventAPublish(t *testing.T) { // K-PUB-7, K-PUB-9, K-PUB-12, K-PUB-13
	persistentOnly := func(s *storagev1.CSIDriverSpec) {
		s.VolumeLifecycleModes = []storagev1.VolumeLifecycleMode{storagev1.VolumeLifecyclePersistent}
	}
	secret := func(spec *corev1.PodSpec) {
		inline("scratch")(spec)
		spec.Volumes[0].CSI.NodePublishSecretRef = &corev1.LocalObjectReference{Name: "publish"}
	}
	cases := []struct {
		name      string
		csiDriver func(*storagev1.CSIDriverSpec)
		pod       func(*corev1.PodSpec)
		event     string
	}{
		{
			name: "the lifecycle mode is not supported", csiDriver: persistentOnly, pod: inline("scratch"),
			event: "kubernetes.io/csi: mounter.SetupAt failed to check volume lifecycle mode: volume mode \"Ephemeral\" not supported by driver disk.csi.example.com (only supports [\"Persistent\"])",
		},
		{
			name: "the secret is missing", pod: secret,
			event: "fetching NodePublishSecretRef default/publish failed: secrets \"publish\" not found",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			n := start(t, setting{csiDriver: c.csiDriver})
			n.pod("web", c.pod)
			n.pass(500 * time.Millisecond)
			assert.Equal(t, []string{"Warning FailedMount: MountVolume.SetUp failed for volume \"scratch\" : " + c.event + " (1)"}, n.events())
			assert.Empty(t, n.calls())

			n.deletePod("web")
			n.settle()
			assert.Empty(t, n.calls())
		})
	}
}

// K-TRACE-8, K-RACE-23: the probe's error is wrapped, so it counts as final, and the kubelet
// forgets a publish that may have happened.
func TestAForgottenPublish(t *testing.T) {
	n := start(t, setting{})
	n.volume("data")
	n.fail("NodePublishVolume", codes.DeadlineExceeded, 1)
	uid := n.pod("web", using("data"))
	n.until(func() bool { return len(n.times("NodePublishVolume")) == 1 })
	n.fail("NodeGetCapabilities", codes.Unavailable, 0)
	n.thirdRetry()
	n.heal()
	n.forget()
	n.deletePod("web")
	n.settle()
	assert.Equal(t, []string{"NodeUnstageVolume OK"}, n.calls(), "no NodeUnpublishVolume")
	dataFile := csi.DefaultDir.PodDir(uid) + "/volumes/kubernetes.io~csi/pv-data/vol_data.json"
	assert.True(t, n.exists(dataFile), "K-ORPH-2: the pod's directory stays for the sake of its data file")
}

// Fact 52, cc4: a remaining mount keeps the pod from ending, and the kubelet continues to publish
// for it.
func TestADriverThatDiesAfterItHasPublished(t *testing.T) {
	n := start(t, setting{})
	n.volume("data")
	n.loseAnswer("NodePublishVolume", codes.Unavailable)
	n.pod("web", using("data"))
	n.until(func() bool { return len(n.times("NodePublishVolume")) == 1 })
	n.killDriver()
	n.pass(2 * time.Second)
	n.deletePod("web")
	n.pass(8 * time.Second)
	assert.Equal(t, corev1.PodPending, n.phase("web"), "it is not gone")

	n.startDriver()
	n.forget()
	n.settle()
	assert.Equal(t, []string{"NodePublishVolume OK", "NodeUnpublishVolume OK", "NodeUnstageVolume OK"}, n.calls())
	assert.Equal(t, corev1.PodPhase("gone"), n.phase("web"))
	assert.Empty(t, n.mounts())
}

func TestAReadWriteOncePodVolumeHasOnePod(t *testing.T) { // K-MNT-3, K-RACE-40, fact 34
	for _, c := range []struct {
		name, event string
		pv          []func(*corev1.PersistentVolume)
		pod         func(string) func(*corev1.PodSpec)
	}{
		{"filesystem", "FailedMount: MountVolume.SetUp", nil, using},
		{"block", "FailedMapVolume: MapVolume.SetUpDevice", []func(*corev1.PersistentVolume){block}, usingDevice},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := start(t, setting{})
			n.volume("data", append(c.pv, accessMode(corev1.ReadWriteOncePod))...)
			n.pod("web", c.pod("data"))
			n.run("web")
			n.pod("log", c.pod("data"))
			n.pass(time.Second)
			assert.Empty(t, n.calls())
			assert.Equal(t, "Warning "+c.event+" failed for volume \"pv-data\" : volume uses the ReadWriteOncePod access mode and is already in use by another pod (1)", n.events()[0])

			n.deletePod("web")
			n.settle()
			assert.Equal(t, []string{"NodeUnpublishVolume OK", "NodePublishVolume OK"}, n.calls())
			assert.Equal(t, corev1.PodRunning, n.phase("log"))
		})
	}
}

// K-PUB-16, K-DSW-10, K-MNT-5, fact 43.
func TestVolumesAreRepublishedAtEachRegularSync(t *testing.T) {
	n := start(t, setting{csiDriver: func(s *storagev1.CSIDriverSpec) { s.RequiresRepublish = new(true) }})
	n.volume("data")
	n.pod("web", using("data"))
	n.run("web")
	n.pass(125 * time.Second)
	assert.Equal(t, []time.Duration{100 * time.Millisecond, time.Minute, 2 * time.Minute}, n.times("NodePublishVolume"), "at the runtime's news of the containers, then every minute")
	assert.Len(t, n.calls(), 3, "without staging anew")

	n.forget()
	n.fail("NodePublishVolume", codes.InvalidArgument, 3)
	n.pass(60 * time.Second)
	assert.InDeltaSlice(t, []float64{0.5, 1, 2}, n.gaps("NodePublishVolume"), 0.15, "a remount that fails is tried again")
	assert.Equal(t, corev1.PodRunning, n.phase("web"))
	assert.Len(t, n.mounts(), 2, "K-PUB-10: a remount that fails leaves everything in place")
}

// Given a pod that runs before the first housekeeping, when its volume is republished, then the
// trace shows the previous publish as a cause of that call.
func TestARepublishNamesThePublishBeforeItAsItsCause(t *testing.T) { // K-PUB-16
	n := start(t, setting{csiDriver: republish})
	n.volume("data")
	n.pod("web", using("data"))
	n.pass(125 * time.Second)

	events := n.Trace.Events()
	var before *trace.Event
	for _, e := range events {
		if path.Base(e.Method) != "NodePublishVolume" {
			continue
		}
		for cause := e.Cause; before != nil && cause != before.Seq; cause = events[cause-1].Cause {
			require.NotZero(t, cause, "the causes of call %d do not lead to call %d", e.Seq, before.Seq)
		}
		before = e
	}
	assert.Len(t, n.times("NodePublishVolume"), 4)
}

func TestRepublishingBeginsWhenTheCSIDriverRequestsIt(t *testing.T) { // K-RACE-37
	n := start(t, setting{})
	n.volume("data")
	n.pod("web", using("data"))
	n.run("web")
	n.pass(5 * time.Minute)
	assert.Empty(t, n.calls())

	_, err := store.Modify(n.Store, store.Key{Name: driverName}, func(d *storagev1.CSIDriver) { d.Spec.RequiresRepublish = new(true) })
	assert.NoError(t, err)
	n.pass(2 * time.Minute)
	assert.NotEmpty(t, n.calls())
}

// K-OP-4, K-OP-5, K-RACE-21: an operation with another name reuses the entry of a failed one, and
// erases its backoff.
func TestAnUnmountErasesTheBackoffOfAMount(t *testing.T) {
	n := start(t, setting{})
	n.volume("data")
	n.pod("web", using("data"))
	n.run("web")
	n.fail("NodePublishVolume", codes.Internal, 0)
	n.pod("log", using("data"))
	n.pass(10 * time.Second) // the next try is six seconds away
	n.heal()
	n.forget()
	n.deletePod("web")
	n.pass(time.Second)
	assert.Equal(t, []string{"NodeUnpublishVolume OK", "NodePublishVolume OK"}, n.calls())
}

func TestThereIsNoSuccessEventForFilesystems(t *testing.T) { // K-PUB-14
	n := start(t, setting{})
	n.volume("data")
	n.pod("web", using("data"))
	n.settle()
	for _, e := range n.events() {
		assert.NotContains(t, e, "Mount")
	}
}

// K-PUB-8: when a publish fails, its additions to a volume's attributes stay until the volume is
// looked up again, even if the CSIDriver no longer requires them. A volume without attributes
// cannot store additions.
func TestAdditionsToTheVolumeAttributesStayForAWhile(t *testing.T) {
	for _, c := range []struct {
		name       string
		attributes map[string]string
		stays      bool
	}{
		{"some attributes", map[string]string{"pool": "fast"}, true},
		{"no attributes", nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := start(t, setting{csiDriver: podInfo})
			n.volume("data", func(pv *corev1.PersistentVolume) { pv.Spec.CSI.VolumeAttributes = c.attributes })
			n.fail("NodePublishVolume", codes.Internal, 0)
			n.pod("web", using("data"))
			n.until(func() bool { return len(n.times("NodePublishVolume")) == 1 })
			_, err := store.Modify(n.Store, store.Key{Name: driverName}, func(d *storagev1.CSIDriver) { d.Spec.PodInfoOnMount = new(false) })
			require.NoError(t, err)
			n.thirdRetry()
			context := request[*csispec.NodePublishVolumeRequest](n).VolumeContext
			assert.Equal(t, c.stays, context["csi.storage.k8s.io/pod.name"] == "web")
			assert.Equal(t, c.attributes["pool"], context["pool"])

			n.pass(10 * time.Minute) // the pod's next sync, and the end of a long backoff
			assert.Equal(t, c.attributes, request[*csispec.NodePublishVolumeRequest](n).VolumeContext)
			pv, _ := store.Get[*corev1.PersistentVolume](n.Store, store.Key{Name: "pv-data"})
			assert.Equal(t, c.attributes, pv.Spec.CSI.VolumeAttributes)
		})
	}
}
