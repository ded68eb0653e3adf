package fakekubelet_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
)

func TestCallsAndOperationsAreCounted(t *testing.T) { // K-MET-1 to K-MET-5, K-REG-21
	n := start(t, setting{})
	n.volume("data")
	n.fail("NodeStageVolume", codes.Internal, 1)
	n.pod("web", using("data"))
	n.waitRunning("web")
	value := n.kubelet.Metrics.Value
	call := func(method, code string) float64 {
		return value("csi_operations_seconds", "driver_name", driverName, "method_name", "/csi.v1.Node/"+method, "grpc_status_code", code, "migrated", "false")
	}
	assert.Equal(t, 1.0, call("NodeStageVolume", "Internal"))
	assert.Equal(t, 1.0, call("NodeStageVolume", "OK"))
	assert.Equal(t, 1.0, call("NodePublishVolume", "OK"))
	assert.Equal(t, 1.0, call("NodeGetInfo", "OK"))
	assert.Equal(t, 9.0, call("NodeGetCapabilities", "OK"), "capability probes count as well")
	plugin := "kubernetes.io/csi:" + driverName
	operation := func(name, outcome string) float64 {
		return value("storage_operation_duration_seconds", "volume_plugin", plugin, "operation_name", name, "status", outcome, "migrated", "false")
	}
	assert.Equal(t, 1.0, operation("volume_mount", "fail-unknown"))
	assert.Equal(t, 1.0, operation("volume_mount", "success"))
	assert.Equal(t, 1.0, operation("verify_controller_attached_volume", "success"))
	assert.Equal(t, 1.0, value("volume_operation_total_seconds", "plugin_name", plugin, "operation_name", "overall_volume_mount"))
	lines := n.kubelet.Metrics.Lines()
	for _, state := range []string{"actual", "desired"} {
		assert.Contains(t, lines, `volume_manager_total_volumes{plugin_name="`+plugin+`",state="`+state+`_state_of_world"} 1`)
		assert.Contains(t, lines, `plugin_manager_total_plugins{socket_path="/var/lib/kubelet/plugins_registry/`+driverName+`-reg.sock",state="`+state+`_state_of_world"} 1`)
	}
	assert.Contains(t, lines, `volume_operation_total_seconds_sum{plugin_name="`+plugin+`",operation_name="overall_volume_mount"} 0.7`)
}

// K-RECON-5
//
// conformance: unit-reconstruct-fails, unit-orphan-volume-unwanted, unit-orphan-volume-wanted
func TestVolumesThatCannotBeReconstructed(t *testing.T) {
	for _, c := range []struct {
		name    string
		gone    bool
		cleaned float64
	}{
		{"no pod uses it", true, 1},
		{"its pod uses it", false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := mounted(t, setting{})
			target := n.targetOf("web")
			n.restart(func() {
				require.NoError(t, n.machine.WriteFile(target[:len(target)-len("mount")]+"vol_data.json", nil, 0o644))
				if c.gone {
					n.forceDelete("web")
				}
			})
			n.pass(20 * time.Second)
			value := n.kubelet.Metrics.Value
			assert.Equal(t, 1.0, value("reconstruct_volume_operations_total"))
			assert.Equal(t, 1.0, value("reconstruct_volume_operations_errors_total"))
			assert.Equal(t, c.cleaned, value("force_cleaned_failed_volume_operations_total"))
			assert.Equal(t, c.cleaned, value("force_cleaned_failed_volume_operation_errors_total"))
			if c.gone {
				assert.Empty(t, n.calls())
			} else {
				assert.Equal(t, []string{"NodeStageVolume OK", "NodePublishVolume OK"}, n.calls())
			}
		})
	}
}

// overallMount returns the number of measured mounts, and their total time.
func (n *node) overallMount() (count, seconds float64) {
	const labels = `{plugin_name="kubernetes.io/csi:` + driverName + `",operation_name="overall_volume_mount"} `
	for _, line := range n.kubelet.Metrics.Lines() {
		if text, ok := strings.CutPrefix(line, "volume_operation_total_seconds_count"+labels); ok {
			count, _ = strconv.ParseFloat(text, 64)
		}
		if text, ok := strings.CutPrefix(line, "volume_operation_total_seconds_sum"+labels); ok {
			seconds, _ = strconv.ParseFloat(text, 64)
		}
	}
	return count, seconds
}

// K-MET-2: how long pods wait for file systems, from the time when they first need them. Failures
// and raw block volumes are not counted.
func TestTheTimeThatPodsWaitForVolumes(t *testing.T) {
	n := start(t, setting{})
	n.volume("data")
	n.volume("more", block)
	n.fail("NodeStageVolume", codes.Internal, 3) // half a second, one and two seconds are lost
	n.pod("web", using("data"))
	n.pass(3 * time.Second)
	count, _ := n.overallMount()
	assert.Zero(t, count)
	n.waitRunning("web")
	count, seconds := n.overallMount()
	assert.Equal(t, 1.0, count)
	assert.InDelta(t, 3.8, seconds, 0.2)

	n.pod("log", usingDevice("more"))
	n.waitRunning("log")
	count, _ = n.overallMount()
	assert.Equal(t, 1.0, count)
}

// K-MET-2: the wait of a republished volume begins at the sync of the pod that led to it.
func TestTheWaitOfARepublishBeginsAtItsSync(t *testing.T) {
	n := start(t, setting{csiDriver: republish})
	n.volume("data")
	n.pod("web", using("data"))
	n.pass(10 * time.Minute)
	count, seconds := n.overallMount()
	assert.Greater(t, count, 8.0)
	assert.Less(t, seconds, 0.2*count)
}

// K-MET-4: the bounds of the histograms of operations, of mounts and of calls.
func TestTheBoundsOfHistograms(t *testing.T) {
	n := mounted(t, setting{})
	for _, name := range []string{"storage_operation_duration_seconds", "volume_operation_total_seconds", "csi_operations_seconds"} {
		var bounds []string
		for _, line := range n.kubelet.Metrics.Lines() {
			if !strings.HasPrefix(line, name+"_bucket{") {
				continue
			}
			_, rest, _ := strings.Cut(line, `le="`)
			bound, _, _ := strings.Cut(rest, `"`)
			if !slices.Contains(bounds, bound) {
				bounds = append(bounds, bound)
			}
		}
		assert.ElementsMatch(t, []string{"0.1", "0.25", "0.5", "1", "2.5", "5", "10", "15", "25", "50", "120", "300", "600", "+Inf"}, bounds, name)
	}
}
