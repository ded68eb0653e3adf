package trace_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/csisim/csisim/internal/world/trace"
)

var update = flag.Bool("update", false, "write the golden files anew")

const (
	driver  = "mock.csi.csisim.dev"
	pvName  = "pvc-37ba1c4e-0d54-4f0a-9a53-6f2f6a4f8f01"
	podUID  = "0852c698-614f-4cdd-b142-37a0e32f85cd"
	vaName  = "csi-aa2b93f78295c200d3921491f9e83b54c6eae7d29a4a686465813055cc5ee1a1"
	staging = "/var/lib/kubelet/plugins/kubernetes.io/csi/" + driver + "/37d4b1c5f527dece9d59bc6dad2396c1ec65928bd73cc7ee786ac13127fe0f1b/globalmount"
	target  = "/var/lib/kubelet/pods/" + podUID + "/volumes/kubernetes.io~csi/" + pvName + "/mount"
)

// The life of a volume, from its claim to a failure caused by a fault, is a readable timeline.
func TestTimelineShowsTheLifeOfAVolume(t *testing.T) {
	for name, options := range map[string]trace.TimelineOptions{
		"plain":    {},
		"terminal": {Color: true, Width: 100},
		"verbose":  {Verbose: true},
	} {
		t.Run(name, func(t *testing.T) {
			got := render(t, options, life()...)
			golden := filepath.Join("testdata", "timeline-"+name+".txt")
			if *update {
				require.NoError(t, os.MkdirAll("testdata", 0o755))
				require.NoError(t, os.WriteFile(golden, []byte(got), 0o644))
			}
			want, err := os.ReadFile(golden)
			require.NoError(t, err)
			assert.Empty(t, cmp.Diff(string(want), got), "run with -update if this is right")
		})
	}
}

func render(t *testing.T, options trace.TimelineOptions, events ...*trace.Event) string {
	t.Helper()
	var out bytes.Buffer
	timeline := trace.NewTimeline(&out, options)
	for i, e := range events {
		e.Seq = uint64(i + 1)
		timeline.Add(e)
	}
	require.NoError(t, timeline.Close())
	return out.String()
}

func life() []*trace.Event {
	meta := metav1.ObjectMeta{Name: "data", Namespace: "default"}
	class := "fast"
	claim := &corev1.PersistentVolumeClaim{
		ObjectMeta: meta,
		Spec: corev1.PersistentVolumeClaimSpec{
			AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}, StorageClassName: &class,
			Resources: corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}},
		},
		Status: corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending},
	}
	annotated := claim.DeepCopy()
	annotated.Annotations = map[string]string{
		"volume.kubernetes.io/storage-provisioner":      driver,
		"volume.beta.kubernetes.io/storage-provisioner": driver,
	}
	bound := annotated.DeepCopy()
	bound.Annotations["pv.kubernetes.io/bind-completed"] = "yes"
	bound.Annotations["pv.kubernetes.io/bound-by-controller"] = "yes"
	bound.Spec.VolumeName = pvName
	leaving := bound.DeepCopy()
	leaving.DeletionTimestamp = &metav1.Time{Time: time.Unix(0, 0)}
	leaving.DeletionGracePeriodSeconds = new(int64)

	volume := &corev1.PersistentVolume{
		ObjectMeta: metav1.ObjectMeta{Name: pvName},
		Spec: corev1.PersistentVolumeSpec{
			Capacity:               corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")},
			PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: driver, VolumeHandle: "vol-0001"}},
			ClaimRef:               &corev1.ObjectReference{Namespace: "default", Name: "data"},
		},
	}
	protected := volume.DeepCopy()
	protected.Finalizers = []string{"external-attacher/mock-csi-csisim-dev"}

	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default", UID: podUID},
		Spec: corev1.PodSpec{Volumes: []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"},
		}}}},
	}
	scheduled := pod.DeepCopy()
	scheduled.Spec.NodeName = "node-a"

	name := pvName
	attachment := &storagev1.VolumeAttachment{
		ObjectMeta: metav1.ObjectMeta{Name: vaName},
		Spec:       storagev1.VolumeAttachmentSpec{NodeName: "node-a", Source: storagev1.VolumeAttachmentSource{PersistentVolumeName: &name}},
	}
	attached := attachment.DeepCopy()
	attached.Status = storagev1.VolumeAttachmentStatus{Attached: true, AttachmentMetadata: map[string]string{"device": "/dev/sdb"}}

	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-a"}}
	beat := node.DeepCopy()
	beat.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeDiskPressure, Status: corev1.ConditionFalse}}
	inUse := node.DeepCopy()
	inUse.Status.VolumesInUse = []corev1.UniqueVolumeName{"kubernetes.io/csi/" + driver + "^vol-0001"}

	mode := &csi.VolumeCapability{AccessMode: &csi.VolumeCapability_AccessMode{Mode: csi.VolumeCapability_AccessMode_SINGLE_NODE_MULTI_WRITER}}
	probe := func(cause uint64) *trace.Event {
		return call(7400*time.Millisecond, cause, "kubelet", "node-a", "Node/NodeGetCapabilities", &csi.NodeGetCapabilitiesRequest{}, &csi.NodeGetCapabilitiesResponse{})
	}
	publish := &csi.NodePublishVolumeRequest{VolumeId: "vol-0001", StagingTargetPath: staging, TargetPath: target}
	lost := call(7400*time.Millisecond, 18, "kubelet", "node-a", "Node/NodePublishVolume", publish, nil)
	lost.Code, lost.Message, lost.Injected = "DeadlineExceeded", "context deadline exceeded", "driver did it, answer lost, code DeadlineExceeded"
	lost.Took = 2 * time.Minute
	refused := call(128*time.Second, 20, "kubelet", "node-a", "Node/NodePublishVolume", publish, nil)
	refused.Code, refused.Message = "Internal", target+" is mounted already"

	return []*trace.Event{
		trace.Entry{Kind: trace.Step, Message: "apply PersistentVolumeClaim data"}.Event(),
		change(0, 1, "", "persistentvolumeclaims", nil, claim),
		change(0, 2, "persistentvolume-controller/claims", "persistentvolumeclaims", claim, annotated),
		call(0, 3, "csi-provisioner", "", "Controller/CreateVolume",
			&csi.CreateVolumeRequest{Name: pvName, CapacityRange: &csi.CapacityRange{RequiredBytes: 1 << 30}, VolumeCapabilities: []*csi.VolumeCapability{mode}},
			&csi.CreateVolumeResponse{Volume: &csi.Volume{VolumeId: "vol-0001"}}),
		change(0, 4, "csi-provisioner/"+driver+"/claims", "persistentvolumes", nil, volume),
		change(0, 5, "persistentvolume-controller/volumes", "persistentvolumeclaims", annotated, bound),
		trace.Entry{Kind: trace.Step, Message: "apply Pod web"}.Event(),
		change(0, 7, "", "pods", nil, pod),
		change(0, 8, "scheduler", "pods", pod, scheduled),
		change(100*time.Millisecond, 9, "attachdetach-controller/reconciler", "volumeattachments", nil, attachment),
		change(100*time.Millisecond, 10, "csi-attacher/"+driver+"/attachments", "persistentvolumes", volume, protected),
		call(100*time.Millisecond, 11, "csi-attacher", "", "Controller/ControllerPublishVolume",
			&csi.ControllerPublishVolumeRequest{VolumeId: "vol-0001", NodeId: "node-a", VolumeCapability: mode}, &csi.ControllerPublishVolumeResponse{}),
		change(100*time.Millisecond, 12, "csi-attacher/"+driver+"/attachments", "volumeattachments", attachment, attached),
		trace.Entry{Kind: trace.ChoiceMade, At: 7300 * time.Millisecond, Message: "run next: kubelet/node-a/status"}.Event(),
		change(7300*time.Millisecond, 0, "kubelet/node-a/status", "nodes", node, beat),
		change(7300*time.Millisecond, 9, "kubelet/node-a/status", "nodes", node, inUse),
		probe(16), probe(17),
		call(7400*time.Millisecond, 18, "kubelet", "node-a", "Node/NodeStageVolume",
			&csi.NodeStageVolumeRequest{VolumeId: "vol-0001", StagingTargetPath: staging}, &csi.NodeStageVolumeResponse{}),
		lost,
		trace.Entry{Kind: trace.FileChange, At: 7400 * time.Millisecond, Cause: 19, Actor: "kubelet", Node: "node-a", Method: "mkdir", Name: filepath.Dir(target)}.Event(),
		refused,
		trace.Entry{Kind: trace.Violation, At: 128 * time.Second, Cause: 22, Actor: "kubelet", Node: "node-a", Driver: driver, Message: "NodePublishVolume must be idempotent"}.Event(),
		trace.Entry{
			Kind: trace.KubeEvent, At: 128 * time.Second, Cause: 22, Actor: "kubelet", Node: "node-a", Method: "FailedMount", Resource: "Warning",
			Name: "Pod/web", Message: "MountVolume.SetUp failed for volume \"" + pvName + "\"", Detail: int32(2),
		}.Event(),
		trace.Entry{Kind: trace.FaultFired, At: 129 * time.Second, Node: "node-a", Message: "driver " + driver + " is killed"}.Event(),
		change(129*time.Second, 1, "", "persistentvolumeclaims", bound, leaving),
		trace.Entry{Kind: trace.API, At: 130 * time.Second, Actor: "protection-controller", Change: "DELETED", Resource: "persistentvolumeclaims", Name: "default/data", Old: leaving}.Event(),
	}
}

type apiObject interface {
	metav1.Object
	runtime.Object
}

func call(at time.Duration, cause uint64, actor, node, method string, request, response proto.Message) *trace.Event {
	e := trace.Entry{Kind: trace.Call, At: at, Cause: cause, Actor: actor, Node: node, Driver: driver, Method: method, Request: request}.Event()
	if response != nil {
		e.Response = response
	}
	return e
}

func change(at time.Duration, cause uint64, actor, resource string, before, after apiObject) *trace.Event {
	e := trace.Entry{Kind: trace.API, At: at, Cause: cause, Actor: actor, Resource: resource, New: after, Change: "ADDED"}.Event()
	e.Name = strings.TrimPrefix(after.GetNamespace()+"/"+after.GetName(), "/")
	if before != nil {
		e.Old, e.Change = before, "MODIFIED"
	}
	return e
}

// Two ids with the same beginning keep different short forms.
func TestTimelineNeverShortensTwoIdsToOneText(t *testing.T) {
	got := render(t, trace.TimelineOptions{},
		trace.Entry{Kind: trace.Step, Message: "pvc-37ba1c4e-0d54-4f0a-9a53-6f2f6a4f8f01"}.Event(),
		trace.Entry{Kind: trace.Step, Message: "pvc-37ba2222-0d54-4f0a-9a53-6f2f6a4f8f01"}.Event(),
		trace.Entry{Kind: trace.Step, Message: "pvc-37ba1c4e-0d54-4f0a-9a53-6f2f6a4f8f01"}.Event())
	lines := strings.Split(strings.TrimSpace(got), "\n")
	require.Len(t, lines, 3)
	assert.Contains(t, lines[0], "pvc-37ba…")
	assert.Contains(t, lines[1], "pvc-37ba22…")
	assert.Contains(t, lines[2], "pvc-37ba…")
}

// Equal calls over minutes take one line.
func TestTimelineFoldsProbesAcrossTime(t *testing.T) {
	stats := func(at time.Duration) *trace.Event {
		return call(at, 0, "kubelet", "node-a", "Node/NodeGetVolumeStats", &csi.NodeGetVolumeStatsRequest{VolumeId: "vol-0001"}, &csi.NodeGetVolumeStatsResponse{})
	}
	got := render(t, trace.TimelineOptions{}, stats(0), stats(time.Minute), stats(2*time.Minute),
		trace.Entry{Kind: trace.Step, At: 3 * time.Minute, Message: "delete Pod web"}.Event())
	assert.Contains(t, got, "3× NodeGetVolumeStats, the last at 120.000s")
	assert.Contains(t, got, "… 1 min …")
	assert.Equal(t, 3, strings.Count(got, "\n"))
}

func TestSpanFormatsDurationsForPeople(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                                     "0 ms",
		15 * time.Millisecond:                 "15 ms",
		9900 * time.Millisecond:               "9.9 s",
		2 * time.Second:                       "2 s",
		6 * time.Minute:                       "6 min",
		61 * time.Second:                      "1 min 1 s",
		59*time.Second + 960*time.Millisecond: "1 min",
		65 * time.Minute:                      "1 h 5 min",
		26 * time.Hour:                        "26 h",
	} {
		assert.Equal(t, want, trace.Span(d))
	}
}

// A driver's text cannot add lines, colours, or workflow commands to a timeline.
func TestTextOfDriversStaysInItsLine(t *testing.T) {
	call := trace.Entry{
		Kind: trace.Call, Seq: 1, Actor: "kubelet", Node: "node-a", Driver: driver, Method: "Node/NodeStageVolume",
		Request: &csi.NodeStageVolumeRequest{VolumeId: "v\n::error::a\x1b[31m"}, Code: "Internal", Message: "no\n::error::b\x1b[31m\tc",
	}.Event()
	got := render(t, trace.TimelineOptions{Color: true}, call)
	assert.Equal(t, 1, strings.Count(got, "\n"), got)
	assert.NotContains(t, got, "\x1b[31m")
	assert.Contains(t, got, `no\x0a::error::b\x1b[31m\x09c`)
}
