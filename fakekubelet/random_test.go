package fakekubelet_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/kernel"
)

// A run is a function of its seed. In any order of events, two pods that are created and deleted
// leave nothing behind.
func TestTwoPodsOnOneVolumeInAnyOrder(t *testing.T) {
	for _, scenario := range []struct {
		name string
		play func(*node)
	}{
		{"with a faultless driver", twoPods},
		{"with a driver that fails now and then", func(n *node) {
			for _, method := range []string{"NodeStageVolume", "NodePublishVolume", "NodeUnpublishVolume", "NodeUnstageVolume"} {
				n.fail(method, codes.Aborted, 1)
				n.loseAnswer(method, codes.Unavailable)
			}
			twoPods(n)
		}},
		{"with a kubelet that is killed", func(n *node) {
			n.volume("data")
			n.pod("web", using("data"))
			n.until(func() bool { return n.phase("web") == corev1.PodRunning })
			n.pod("log", using("data"))
			n.pass(150 * time.Millisecond)
			n.killKubelet()
			n.deletePod("web")
			n.startKubelet()
			n.until(func() bool { return n.phase("log") == corev1.PodRunning })
			n.deletePod("log")
		}},
	} {
		t.Run(scenario.name, func(t *testing.T) {
			for seed := range uint64(20) {
				t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
					first := played(t, seed, scenario.play)
					assert.Equal(t, first, played(t, seed, scenario.play), "the same seed is the same run")
				})
			}
		})
	}
}

func twoPods(n *node) {
	n.volume("data")
	n.pod("web", using("data"))
	n.pod("log", using("data"))
	n.pass(400 * time.Millisecond)
	n.deletePod("web")
	n.pass(time.Second)
	n.pod("web-2", using("data"))
	n.until(func() bool { return n.phase("web-2") == corev1.PodRunning && n.phase("log") == corev1.PodRunning })
	n.deletePod("log")
	n.deletePod("web-2")
}

// played returns the identity of a run: the hash of all scheduling events and writes, and the calls
// that were made.
func played(t *testing.T, seed uint64, play func(*node)) string {
	n := start(t, setting{strategy: kernel.NewRandom(seed)})
	play(n)
	n.settle()
	for _, pod := range []string{"web", "log", "web-2"} {
		require.Equal(t, corev1.PodPhase("gone"), n.phase(pod), "%s of seed %d", pod, seed)
	}
	require.Empty(t, n.mounts(), "seed %d: %v", seed, n.calls())
	require.Empty(t, n.files(), "seed %d: %v", seed, n.calls())
	require.Empty(t, n.wire.Violations(), "seed %d", seed)
	return fmt.Sprint(n.Kernel.Hash(), n.calls())
}
