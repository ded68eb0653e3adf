package fakekubelet_test

import (
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

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/fakekubelet/internal/csi"
	"github.com/csisim/csisim/internal/world/feature"
)

var health = feature.Gates{feature.CSIVolumeHealth: true}

// volumeMetrics returns the gauges of volumes, without their common parts.
func (n *node) volumeMetrics() []string {
	var found []string
	for _, line := range n.kubelet.Metrics.Lines() {
		if rest, ok := strings.CutPrefix(line, "kubelet_volume_stats_"); ok {
			found = append(found, strings.Replace(rest, `{namespace="default",persistentvolumeclaim="data"}`, "", 1))
		}
	}
	return found
}

// K-STAT-1 to K-STAT-5, fact 43
//
// conformance: unit-health-gate-off, unit-capability-stats
func TestTheKubeletRequestsVolumeStats(t *testing.T) {
	n := start(t, setting{driver: mock.Options{Stats: true, VolumeCondition: true}, statsPeriod: time.Minute})
	n.volume("data")
	uid := n.pod("web", using("data"))
	n.run("web")
	n.pass(4 * time.Minute)
	assert.Equal(t, []string{"cap", "NodeGetVolumeStats OK"}, n.probes()[:2])
	assert.Len(t, n.calls(), 4)
	assert.LessOrEqual(t, n.times("NodeGetVolumeStats")[0], time.Minute, "at the next round, which comes every minute")
	for _, gap := range n.gaps("NodeGetVolumeStats") {
		assert.InDelta(t, 60, gap, 0.1, "one to two periods, by chance")
	}
	want := &csispec.NodeGetVolumeStatsRequest{VolumeId: "h-data", VolumePath: csi.DefaultDir.TargetPath(uid, "pv-data")}
	assert.Empty(t, cmp.Diff(want, request[*csispec.NodeGetVolumeStatsRequest](n), protocmp.Transform()), "no staging path")
	assert.ElementsMatch(t, []string{
		"available_bytes 1.073741824e+09", "capacity_bytes 1.073741824e+09", "inodes 65536", "inodes_free 65536", "inodes_used 0", "used_bytes 0",
	}, n.volumeMetrics(), "K-STAT-6: with the gate off the condition is ignored")

	n.deletePod("web")
	n.settle()
	assert.Empty(t, n.volumeMetrics())
	n.forget()
	n.pass(5 * time.Minute)
	assert.Empty(t, n.probes())
}

func TestTheStatisticsOfARawBlockVolume(t *testing.T) { // K-STAT-2
	n := start(t, setting{driver: mock.Options{Stats: true}, statsPeriod: time.Minute})
	n.volume("data", block)
	uid := n.pod("web", usingDevice("data"))
	n.run("web")
	n.pass(2 * time.Minute)
	assert.Equal(t, csi.DefaultDir.BlockMapDir("pv-data")+"/"+string(uid), request[*csispec.NodeGetVolumeStatsRequest](n).VolumePath)
}

// conformance: unit-stats-no-capability, unit-metrics-not-supported
func TestADriverWithoutStatisticsGetsOnlyCapabilityCalls(t *testing.T) { // K-STAT-3
	n := start(t, setting{statsPeriod: time.Minute})
	n.volume("data")
	n.pod("web", using("data"))
	n.run("web")
	n.pass(150 * time.Second)
	assert.Equal(t, []string{"cap", "cap"}, n.probes())
	assert.Empty(t, n.volumeMetrics())
}

// conformance: unit-metrics-driver-not-registered
// K-STAT-3: no event is emitted, and the old statistics are lost.
func TestUnavailableStatistics(t *testing.T) {
	for name, breaks := range map[string]func(*node){
		"the driver fails":                    func(n *node) { n.fail("NodeGetVolumeStats", codes.Internal, 0) },
		"it does not report its capabilities": func(n *node) { n.fail("NodeGetCapabilities", codes.Internal, 0) },
		"it is not registered":                func(n *node) { n.unregister() },
	} {
		t.Run(name, func(t *testing.T) {
			n := start(t, setting{driver: mock.Options{Stats: true}, statsPeriod: time.Minute})
			n.volume("data")
			n.pod("web", using("data"))
			n.run("web")
			n.pass(90 * time.Second)
			require.NotEmpty(t, n.volumeMetrics())
			n.forget()
			breaks(n)
			n.pass(2 * time.Minute)
			assert.Empty(t, n.volumeMetrics())
			assert.Empty(t, n.events())
		})
	}
}

// A hung call delays the other volumes of its pod, but not those of other pods. K-STAT-1
func TestStatisticsOfOnePodDoNotWaitForAnothers(t *testing.T) {
	n := start(t, setting{driver: mock.Options{Stats: true}, statsPeriod: time.Minute})
	n.volume("data")
	n.volume("more")
	n.pod("web", using("data"))
	n.pod("log", using("more"))
	n.run("log")
	n.hold("NodeGetVolumeStats", 100*time.Second)
	n.pass(70 * time.Second)
	assert.Len(t, n.times("NodeGetVolumeStats"), 2)
}

// K-STAT-6
//
// conformance: csimock-health-normal, csimock-health-no-condition, unit-health-stats-and-condition,
// unit-health-stats-only
func TestTheConditionOfAVolume(t *testing.T) {
	for _, c := range []struct {
		name   string
		driver mock.Options
		ill    bool
		probes []string
		gauge  string
		event  string
	}{
		{"normal", mock.Options{Stats: true, VolumeCondition: true}, false, []string{"cap", "NodeGetVolumeStats OK", "cap"}, "health_status_abnormal 0", ""},
		{"abnormal", mock.Options{Stats: true, VolumeCondition: true}, true, []string{"cap", "NodeGetVolumeStats OK", "cap"}, "health_status_abnormal 1", "Warning VolumeConditionAbnormal: Volume data: the disk is on fire (1)"},
		{"not told", mock.Options{Stats: true}, true, []string{"cap", "NodeGetVolumeStats OK", "cap"}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := start(t, setting{driver: c.driver, features: health, statsPeriod: time.Minute})
			n.volume("data")
			n.pod("web", using("data"))
			n.run("web")
			if c.ill {
				require.NoError(t, n.driver.SetCondition("h-data", &mock.Condition{Reason: "Fire", Message: "the disk is on fire"}))
			}
			n.pass(70 * time.Second)
			assert.Equal(t, c.probes, n.probes())
			if c.gauge == "" {
				assert.Len(t, n.volumeMetrics(), 6)
			} else {
				assert.Contains(t, n.volumeMetrics(), c.gauge)
			}
			if c.event == "" {
				assert.Empty(t, n.events())
			} else {
				assert.Equal(t, []string{c.event}, n.events())
				n.pass(time.Minute)
				assert.Equal(t, strings.Replace(c.event, "(1)", "(2)", 1), n.events()[1], "each round")
			}
		})
	}
}

func TestInlineVolumesAreMeasuredWithoutMetrics(t *testing.T) { // K-STAT-5
	n := start(t, setting{driver: mock.Options{Stats: true, Ephemeral: true}, csiDriver: podInfo, statsPeriod: time.Minute})
	n.pod("web", inline("scratch"))
	n.run("web")
	n.pass(70 * time.Second)
	assert.Equal(t, []string{"NodeGetVolumeStats OK"}, n.calls())
	assert.Empty(t, n.volumeMetrics())
	assert.Equal(t, corev1.PodRunning, n.phase("web"))
}

// K-STAT-7: the duration of requests for statistics is measured, for any outcome.
func TestTheDurationOfStatisticsCalls(t *testing.T) {
	n := start(t, setting{driver: mock.Options{Stats: true}, statsPeriod: time.Minute})
	n.volume("data")
	n.pod("web", using("data"))
	n.run("web")
	n.hold("NodeGetVolumeStats", 7*time.Second)
	n.until(func() bool { return len(n.times("NodeGetVolumeStats")) == 1 })
	n.fail("NodeGetVolumeStats", codes.Internal, 1)
	n.until(func() bool { return len(n.times("NodeGetVolumeStats")) == 2 })
	n.pass(time.Second)
	const name = "kubelet_volume_metric_collection_duration_seconds"
	assert.Equal(t, 2.0, n.kubelet.Metrics.Value(name, "metric_source", driverName))
	assert.Contains(t, n.kubelet.Metrics.Lines(), name+`_sum{metric_source="`+driverName+`"} 7`)
}
