package incident_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/trace"
)

// callLog writes the lines of a call, as csi-lib-utils prints them.
func callLog(begin time.Time, took time.Duration) string {
	stamp := func(t time.Time) string { return t.Format("I0102 15:04:05.000000") }
	return fmt.Sprintf(`%s       1 connection.go:183] GRPC call: /csi.v1.Controller/ControllerPublishVolume
%[1]s       1 connection.go:184] GRPC request: {"node_id":"node-a","volume_id":"vol-1"}
%[2]s       1 connection.go:186] GRPC response: {}
%[2]s       1 connection.go:187] GRPC error: <nil>
`, stamp(begin), stamp(begin.Add(took)))
}

// Given the log of a caller, and the log of a driver with a clock 90 s ahead, then each call occurs
// once, and events of the driver's log are moved.
func TestClocksAreCorrectedByCauses(t *testing.T) {
	noon := time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)
	var caller, driver strings.Builder
	for i := range 3 {
		at := noon.Add(time.Duration(i) * time.Minute)
		caller.WriteString(callLog(at, time.Second))
		driver.WriteString(callLog(at.Add(90*time.Second+10*time.Millisecond), 980*time.Millisecond))
	}
	driver.WriteString(noon.Add(90*time.Second+500*time.Millisecond).Format("I0102 15:04:05.000000") + "       1 driver.go:1] attaching the disk\n")
	all, r := imported(t, map[string]string{"csi-attacher.log": caller.String(), "hostpath.log": driver.String()})

	calls := 0
	for _, l := range all {
		if l.K == trace.Call {
			calls++
			assert.Equal(t, "csi-attacher", l.From)
		}
		if l.Msg != "" && strings.Contains(l.Msg, "attaching the disk") {
			assert.InDelta(t, 500, l.T, 30)
		}
	}
	assert.Equal(t, 3, calls)
	assert.Equal(t, 3, r.Calls)
	require.Len(t, r.Skews, 1)
	assert.Equal(t, "hostpath.log", r.Skews[0].Clock)
	assert.InDelta(t, 90*time.Second, r.Skews[0].By, float64(20*time.Millisecond))
	assert.LessOrEqual(t, r.Skews[0].Error, 20*time.Millisecond)
}

// Given a kubelet that observed an attachment before kube-controller-manager reports it, then the
// clock of its node is behind by at least that difference.
func TestAClockWithOneBound(t *testing.T) {
	_, r := imported(t, map[string]string{
		"kube-controller-manager.log": `I1128 12:00:10.000000       1 operation_generator.go:308] AttachVolume.Attach succeeded for volume "pvc-1" (UniqueName: "kubernetes.io/csi/mock.csi^vol-1") from node "node-a" 
`,
		"journal": `2026-11-28T12:00:04.000000+0000 node-a kubelet[1]: I1128 12:00:04.000000       1 operation_generator.go:1466] "Controller attach succeeded for volume \"pvc-1\" (UniqueName: \"kubernetes.io/csi/mock.csi^vol-1\") pod \"web\" (UID: \"u1\") device path: \"csi-1\"" pod="default/web"
`,
	})
	require.Len(t, r.Skews, 1)
	assert.True(t, r.Skews[0].IsBound)
	// The clocks are compared only to each other, so either clock may be moved.
	assert.Equal(t, 6*time.Second, r.Skews[0].By.Abs())
}
