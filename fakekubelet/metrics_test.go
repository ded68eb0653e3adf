package fakekubelet_test

import (
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
		{"nobody wants it", true, 1},
		{"its pod wants it", false, 0},
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
