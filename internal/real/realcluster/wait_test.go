package realcluster

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/real/deploy"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

func waiting(name, reason string) corev1.ContainerStatus {
	return corev1.ContainerStatus{Name: name, Image: name, State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason}}}
}

// Problems of another run's pods do not count; problems of init containers do.
func TestTroublesOfPodsOfARun(t *testing.T) {
	other, this := podOf("other", "a"), podOf("this", "b")
	other.Status.ContainerStatuses = []corev1.ContainerStatus{waiting("foreign", "ImagePullBackOff")}
	c, _ := withPods(t, other, this)
	assert.NoError(t, c.cannotPull())
	assert.Empty(t, c.troubles())

	this.Spec.InitContainers = []corev1.Container{{Name: "modprobe"}, {Name: "format"}}
	ended := corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{Reason: "Completed"}}
	this.Status.InitContainerStatuses = []corev1.ContainerStatus{{Name: "modprobe", State: ended}, waiting("format", "ImagePullBackOff")}
	c, _ = withPods(t, other, this)
	assert.ErrorContains(t, c.cannotPull(), "does not get image format: ImagePullBackOff")
	assert.Equal(t, []string{"pod b, container format: ImagePullBackOff "}, c.troubles())
}

// A driver with manifests that deploy it only on nodes outside the scenario is registered there,
// and the wait for it times out.
func TestADriverOnOtherNodesThanTheScenarios(t *testing.T) {
	on := func(node, driver string) *storagev1.CSINode {
		return &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: node}, Spec: storagev1.CSINodeSpec{Drivers: []storagev1.CSINodeDriver{{Name: driver}}}}
	}
	c, _ := withPods(t, on("gpu-1", "disk.example.com"), on("gpu-2", "disk.example.com"), on("gpu-3", "file.example.com"), on("node-a", "file.example.com"))
	c.options.Nodes = []string{"node-a", "node-b"}
	c.options.Drivers = []deploy.Driver{{Name: "disk.example.com"}, {Name: "file.example.com"}, {Name: "nowhere.example.com"}}
	assert.Equal(t, []string{"driver disk.example.com is registered on gpu-1, gpu-2, which the scenario does not have: its nodes are node-a, node-b"}, c.troubles())
}

// A run waits for kubelets to drop a driver of an earlier run, but only for a limited time, because
// the driver's socket may have been left behind.
func TestARunWaitsForTheEndOfAnEarlierDriver(t *testing.T) {
	c, _ := withPods(t)
	c.options.Nodes = []string{"node-a"}
	has := func(names ...string) {
		info := &storagev1.CSINode{ObjectMeta: metav1.ObjectMeta{Name: "node-a"}}
		for _, name := range names {
			info.Spec.Drivers = append(info.Spec.Drivers, storagev1.CSINodeDriver{Name: name})
		}
		seen(t, c, "csinodes", info)
	}
	has("disk", "other.example.com")
	waited := time.Now()
	require.NoError(t, c.awaitUnregistered(50*time.Millisecond))
	assert.GreaterOrEqual(t, time.Since(waited), 50*time.Millisecond)

	c.queue.put(time.Now(), func() { has("other.example.com") })
	require.NoError(t, c.awaitUnregistered(time.Hour))
}

// A livenessProbe never stops probing the driver, and a cluster settles nevertheless.
func TestProbesOfADriverAreNoProgress(t *testing.T) {
	c := &Cluster{world: component.NewWorld(kernel.New(kernel.Options{}), store.New(store.Options{}), trace.NewRecorder(newClock()))}
	c.world.Trace.Add(trace.Entry{Kind: trace.Call, Method: "Node/NodeGetInfo"})
	last := c.world.Trace.Last()
	c.world.Trace.Add(trace.Entry{Kind: trace.Call, Method: "Identity/Probe"})
	assert.False(t, c.newsSince(last))
	assert.True(t, c.newsSince(last-1))
	c.world.Trace.Add(trace.Entry{Kind: trace.Call, Method: "Node/NodeUnpublishVolume"})
	assert.True(t, c.newsSince(last))
}

// If a node has no pods with claims, a volume that is still attached to it will soon be detached.
// The pods of a driver on the node do not count.
func TestAClusterIsBusyUntilVolumesAreDetached(t *testing.T) {
	c, _ := withPods(t)
	c.calls = &callLog{}
	pod := func(name string, volume corev1.VolumeSource) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: corev1.PodSpec{NodeName: "node-a", Volumes: []corev1.Volume{{Name: "v", VolumeSource: volume}}}}
	}
	seen(t, c, "pods", pod("plugin", corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/dev"}}))
	assert.False(t, c.busy())
	seen(t, c, "volumeattachments", &storagev1.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: "csi-1"}, Spec: storagev1.VolumeAttachmentSpec{NodeName: "node-a"}})
	assert.True(t, c.busy())
	seen(t, c, "pods", pod("web", corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}))
	assert.False(t, c.busy())
}
