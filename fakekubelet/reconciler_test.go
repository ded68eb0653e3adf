package fakekubelet_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc/codes"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/world/trace"
)

// operations counts how often an operation has ended with an outcome, over all volumes.
func (n *node) operations(name, outcome string) float64 {
	return n.kubelet.Metrics.Value("storage_operation_duration_seconds",
		"volume_plugin", "kubernetes.io/csi:"+driverName, "operation_name", name, "status", outcome, "migrated", "false")
}

// K-REC-1: there is a pass every tenth of a second. Passes do not wait for operations.
func TestPassesDoNotWaitForOperations(t *testing.T) {
	n := start(t, setting{})
	n.volume("data")
	n.volume("more")
	n.hold("NodeStageVolume", time.Minute)
	n.pod("web", using("data"))
	n.pass(2 * time.Second)
	n.forget()
	n.pass(30 * time.Millisecond)
	n.pod("log", using("more"))
	n.pass(time.Second)
	assert.Equal(t, []string{"NodeStageVolume OK", "NodePublishVolume OK"}, n.calls())
	assert.Less(t, n.times("NodeStageVolume")[0], 400*time.Millisecond)
	for _, method := range []string{"NodeStageVolume", "NodePublishVolume"} {
		assert.Zero(t, n.times(method)[0]%(100*time.Millisecond), "operations start in passes")
	}
}

// K-REC-5, K-PUB-15, K-OP-2: an operation of one pod on a volume delays the other pod's mount,
// whether it is a mount or an unmount.
func TestAMountWaitsForOperationsOnTheVolume(t *testing.T) {
	for _, method := range []string{"NodeStageVolume", "NodePublishVolume", "NodeUnpublishVolume"} {
		t.Run(method, func(t *testing.T) {
			n := start(t, setting{})
			n.volume("data")
			n.pod("web", using("data"))
			if method == "NodeUnpublishVolume" {
				n.run("web")
				n.hold(method, 5*time.Second)
				n.deletePod("web")
			} else {
				n.hold(method, 5*time.Second)
			}
			n.until(func() bool { return len(n.times(method)) == 1 })
			n.forget()
			n.pod("log", using("data"))
			n.pass(4500 * time.Millisecond)
			assert.Empty(t, n.probes())
			n.waitRunning("log")
			assert.Greater(t, n.times("NodePublishVolume")[0], 4900*time.Millisecond)
		})
	}
}

// K-REC-5: a volume that is both due for republishing and grown is published first.
func TestARepublishPrecedesAnExpansion(t *testing.T) {
	n := start(t, setting{driver: expands, csiDriver: republish})
	n.volume("data")
	n.pod("web", using("data"))
	n.run("web")
	n.pass(5 * time.Second)
	n.forget()
	n.resized("data", "2Gi", "2Gi", pending)
	n.pass(time.Minute)
	assert.Equal(t, []string{"NodePublishVolume OK", "NodeExpandVolume OK"}, n.calls())
}

// K-REC-7, K-OP-8, K-EVT-3: each execution of an operation is counted once and reported once. While
// it runs or its backoff lasts, passes report nothing.
func TestMetricsAndEventsOfAnOperation(t *testing.T) {
	n := start(t, setting{})
	n.volume("data")
	n.fail("NodeStageVolume", codes.Internal, 3)
	n.wire.Faults.Inject(&fault.Fault{Name: "slow", Call: "NodeStageVolume", Effect: fault.HoldAnswer, Delay: 2 * time.Second, Times: 1})
	n.pod("web", using("data"))
	got := func() (count int) {
		for _, e := range n.Trace.Events() {
			if e.Kind == trace.KubeEvent && e.Method == "FailedMount" {
				count++
			}
		}
		return count
	}
	for range 20 {
		n.pass(300 * time.Millisecond)
		failed := strings.Count(strings.Join(n.calls(), "\n"), "NodeStageVolume Internal")
		assert.EqualValues(t, failed, n.operations("volume_mount", "fail-unknown"))
		assert.Equal(t, failed, got())
	}
	n.waitRunning("web")
	assert.EqualValues(t, 3, n.operations("volume_mount", "fail-unknown"))
	assert.EqualValues(t, 1, n.operations("volume_mount", "success"))
	assert.EqualValues(t, 1, n.operations("verify_controller_attached_volume", "success"))
	assert.Zero(t, n.operations("verify_controller_attached_volume", "fail-unknown"))
}

// K-UNSTAGE-1, K-REC-6: a volume is unstaged only after the unpublishes of all its pods have
// succeeded, however often they fail before.
func TestAVolumeIsUnstagedAfterAllItsUnpublishes(t *testing.T) {
	n := start(t, setting{})
	n.volume("data")
	n.pod("web", using("data"))
	n.pod("log", using("data"))
	n.run("web")
	n.waitRunning("log")
	n.forget()
	n.fail("NodeUnpublishVolume", codes.Internal, 5)
	n.deletePod("web")
	n.deletePod("log")
	n.settle()
	calls := n.calls()
	unstage := len(calls) - 1
	assert.Equal(t, "NodeUnstageVolume OK", calls[unstage])
	assert.Equal(t, 2, strings.Count(strings.Join(calls[:unstage], "\n"), "NodeUnpublishVolume OK"))
	assert.Equal(t, 5, strings.Count(strings.Join(calls[:unstage], "\n"), "NodeUnpublishVolume Internal"))
}

// K-RACE-31, K-OP-9: while the mount of a raw block volume is in backoff, its data file is
// rewritten. While the volume is staged or unstaged, the file is not changed.
func TestTheDataFileOfARawBlockVolumeIsRewrittenInBackoff(t *testing.T) {
	n := start(t, setting{})
	n.volume("data", block)
	n.fail("NodeStageVolume", codes.Aborted, 2)
	n.pod("web", usingDevice("data"))
	n.until(func() bool { return len(n.times("NodeStageVolume")) == 2 })
	n.hold("NodeStageVolume", 20*time.Second)
	n.until(func() bool { return len(n.times("NodeStageVolume")) == 3 })
	writes := func() (count int) {
		for _, e := range n.news() {
			if e.Kind == trace.FileChange && e.Method == "write" && strings.HasSuffix(e.Name, "/pv-data/data/vol_data.json") {
				count++
			}
		}
		return count
	}
	before := writes()
	assert.Greater(t, before, 3, "more often than it is staged")
	n.pass(19 * time.Second)
	assert.Equal(t, before, writes())
	n.waitRunning("web")
	n.forget()
	n.hold("NodeUnstageVolume", 10*time.Second)
	n.deletePod("web")
	n.settle()
	assert.Zero(t, writes())
	assert.Empty(t, n.files())
}
