package fakekubelet_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	csispec "github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/fakekubelet"
	"github.com/csisim/csisim/internal/world/store"
)

// shutDown shuts the node down and returns when its pods or their grace period have ended.
func (n *node) shutDown(grace fakekubelet.ShutdownGrace) (took time.Duration, left error) {
	n.t.Helper()
	over, begin := false, n.Kernel.Elapsed()
	n.kubelet.ShutDown(grace, func(err error) { left, over = err, true })
	n.until(func() bool { return over })
	return n.Kernel.Elapsed() - begin, left
}

func critical(s *corev1.PodSpec) { s.PriorityClassName = "system-node-critical" }

func TestAShutdownEndsPodsAndTheirVolumes(t *testing.T) { // K-POD-9
	n := start(t, setting{})
	n.volume("data")
	n.volume("more")
	n.pod("a-critical", using("more"), critical)
	n.pod("web", using("data"))
	n.settle()
	n.forget()
	took, left := n.shutDown(fakekubelet.ShutdownGrace{Total: 30 * time.Second, Critical: 10 * time.Second})
	require.NoError(t, left)
	assert.Less(t, took, 5*time.Second, "the shutdown waits no longer than the volumes take")

	var unpublished []string
	for _, e := range n.news() {
		if r, ok := e.Request.(*csispec.NodeUnpublishVolumeRequest); ok {
			unpublished = append(unpublished, r.VolumeId)
		}
	}
	assert.Equal(t, []string{"h-data", "h-more"}, unpublished, "the critical pod ends last")
	web, _ := store.Get[*corev1.Pod](n.Store, podKey("web"))
	assert.Equal(t, corev1.PodFailed, web.Status.Phase)
	assert.Equal(t, "Terminated: Pod was terminated in response to imminent node shutdown.", web.Status.Reason+": "+web.Status.Message)
	assert.Equal(t, "node is shutting down", ready(n.node()).Message)
	assert.Contains(t, n.events(), "Normal Shutdown: Shutdown manager detected shutdown event (1)")

	n.pod("late", using("data"))
	n.settle()
	late, _ := store.Get[*corev1.Pod](n.Store, podKey("late"))
	assert.Equal(t, "NodeShutdown: Pod was rejected: Pod was rejected as the node is shutting down.", late.Status.Reason+": "+late.Status.Message)
	assert.Empty(t, n.mounts())
}

// K-POD-9
//
// conformance: vm-wait-all-unmounted-one-timeout, vm-wait-all-unmounted-ten-timeout,
// vm-wait-all-unmounted-ten-no-volumes
func TestAShutdownWaitsNoLongerThanItsGrace(t *testing.T) {
	for _, c := range []struct {
		pods    int
		volumes bool
	}{{1, true}, {10, true}, {10, false}} {
		t.Run(fmt.Sprintf("%d pods, volumes %v", c.pods, c.volumes), func(t *testing.T) {
			n := start(t, setting{})
			for i := range c.pods {
				name := fmt.Sprintf("data-%d", i)
				var uses []func(*corev1.PodSpec)
				if c.volumes {
					n.volume(name, func(pv *corev1.PersistentVolume) { pv.Spec.CSI.VolumeHandle = "h-data" })
					uses = append(uses, using(name))
				}
				n.pod(fmt.Sprintf("web-%d", i), uses...)
			}
			n.settle()
			n.hold("NodeUnpublishVolume", time.Minute)
			for range c.pods {
				n.hold("NodeUnpublishVolume", time.Minute)
			}
			took, left := n.shutDown(fakekubelet.ShutdownGrace{Total: time.Second})
			if !c.volumes {
				require.NoError(t, left)
				return
			}
			assert.Equal(t, time.Second, took)
			got := strings.Split(left.Error(), "\n")
			require.Len(t, got, c.pods, "one error for each pod")
			assert.Contains(t, got, "pod default/web-0: mounted volumes=["+string(unique("data"))+"]: context deadline exceeded")
		})
	}
}

// After an unpublish that fails, a volume may remain mounted: the wait ends, like the wait for a
// deleted pod. K-POD-9, K-REC-10
func TestAShutdownDoesNotWaitForUncertainVolumes(t *testing.T) {
	n := mounted(t, setting{})
	n.fail("NodeUnpublishVolume", codes.Internal, 0)
	took, left := n.shutDown(fakekubelet.ShutdownGrace{Total: time.Minute})
	require.NoError(t, left)
	assert.Less(t, took, 5*time.Second)
	assert.NotEmpty(t, n.mounts())
}
