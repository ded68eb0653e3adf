package load

import (
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"google.golang.org/protobuf/proto"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/trace"
)

// Given a pod with an inline volume, which no object names, then the driver's calls take the time
// of the pod's stages.
func TestStagesOfAnInlineVolume(t *testing.T) {
	pod := func(phase corev1.PodPhase) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: NameOfLife(1), UID: "u1"}, Status: corev1.PodStatus{Phase: phase}}
	}
	change := func(at time.Duration, now *corev1.Pod) *trace.Event {
		return &trace.Event{Site: &trace.Site{Kind: trace.API}, Diff: &trace.Diff{New: now}, At: at}
	}
	call := func(at, took time.Duration, method string, request proto.Message) *trace.Event {
		return &trace.Event{Site: &trace.Site{Kind: trace.Call, Method: method}, Exchange: &trace.Exchange{Took: took, Request: request}, At: at}
	}
	const target = "/var/lib/kubelet/pods/u1/volumes/kubernetes.io~csi/data/mount"
	r := NewRecord()
	r.Begins(NameOfLife(1), 0, false)
	for _, e := range []*trace.Event{
		change(time.Second, pod(corev1.PodPending)),
		call(2*time.Second, 3*time.Second, "Node/NodePublishVolume", &csi.NodePublishVolumeRequest{VolumeId: "csi-1", TargetPath: target}),
		change(6*time.Second, pod(corev1.PodRunning)),
	} {
		r.Sink(e)
	}
	r.Begins(NameOfLife(1), 10*time.Second, true)
	r.Sink(call(11*time.Second, time.Second, "Node/NodeUnpublishVolume", &csi.NodeUnpublishVolumeRequest{VolumeId: "csi-1", TargetPath: target}))
	var run Run
	r.Into(&run)
	assert.Equal(t, []Stage{
		{Name: published, Took: []int64{5e6}, Driver: []int64{3e6}, Ended: []int64{5e6}},
		{Name: running, Took: []int64{1e6}, Driver: []int64{0}, Ended: []int64{6e6}},
		{Name: unpublished, Took: []int64{2e6}, Driver: []int64{1e6}, Ended: []int64{12e6}},
	}, run.Stages)
}
