package scenario_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/cmd/internal/scenario"
	"github.com/csisim/csisim/internal/world/trace"
)

// rollouts is a driver with two replicas of its controller plugin on three nodes.
const rollouts = `apiVersion: csisim.dev/v1alpha1
kind: Scenario
name: x
cluster: {nodes: 3}
drivers:
- name: d
  mock: {}
  replicas: 2
  versions: {v2: {mock: {vendorVersion: "2", attach: false}, sidecars: {csi-provisioner: {timeout: 7s}}}}
steps:
%s`

// Given a driver on three nodes with two replicas of its controller plugin. When it is updated,
// then pods end and start in the order of the strategy.
func TestADriverIsUpdatedByItsStrategy(t *testing.T) {
	for _, test := range []struct{ name, steps, want string }{
		{"by default pod after pod", "{to: v2}",
			"-1 -a +1 +a | -2 -b +2 +b | -c +c"},
		{"half of the pods", "{to: v2, maxUnavailable: 50%, restartAfter: 5s}",
			"-1 -a -b 5s +1 +a +b | -2 -c 5s +2 +c"},
		{"all pods", "{to: v2, maxUnavailable: 10}",
			"-1 -2 -a -b -c +1 +2 +a +b +c"},
		{"nodes alone", "{to: v2, plugin: node, maxUnavailable: 2}",
			"-a -b +a +b | -c +c"},
		{"one node", "{to: v2, node: node-b}",
			"-b +b"},
		{"the controller plugin alone", "{to: v2, plugin: controller}",
			"-1 +1 | -2 +2"},
		{"a Deployment that recreates", "{to: v2, plugin: controller, strategy: recreate, restartAfter: 2s}",
			"-1 -2 2s +1 +2"},
		{"no pod", "{to: v2, strategy: onDelete}",
			""},
	} {
		t.Run(test.name, func(t *testing.T) {
			want := strings.ReplaceAll(test.want, " |", "")
			assert.Equal(t, want, strings.Join(restarts(t, "- upgrade-driver: "+test.steps), " "))
		})
	}
}

// Given an update that replaces no pod. When a pod is deleted later, then its replacement has the
// new release, and a killed container restarts with the old release.
func TestADeletedPodIsReplacedByTheNewRelease(t *testing.T) {
	result := run(t, `
- upgrade-driver: {to: v2, strategy: onDelete}
- kill-driver: {node: node-a}
- start-driver: {node: node-a}
- restart-driver: {node: node-b}
- stop-driver: {node: node-c}
- start-driver: {node: node-c}
`)
	var started []string
	for _, e := range result.Trace {
		if at := strings.Index(e.Message, "started"); at >= 0 && e.Kind == trace.FaultFired {
			started = append(started, e.Node+" "+e.Message[at:])
		}
	}
	assert.Equal(t, []string{"node-a started", "node-b started, version v2", "node-c started, version v2"}, started)
}

// Given a node without power. When the driver is updated, then the pod there is replaced when the
// node boots.
func TestAPodWithoutPowerIsReplacedLater(t *testing.T) {
	result := run(t, `
- power-off: node-a
- upgrade-driver: {to: v2}
- power-on: node-a
- wait: {registered: {driver: d, node: node-a}}
- wait: {call: GetPluginInfo, node: node-a, response: {vendor_version: "2"}}
`)
	assert.Empty(t, result.Failures)
}

// Given an update with a surge, which a step does not simulate, then the error has the place of the
// mistake, and names the command that simulates a surge.
func TestASurgeIsRefusedWithARemedy(t *testing.T) {
	_, err := scenario.Parse("x.yaml", fmt.Appendf(nil, rollouts, "- upgrade-driver: {to: v2, maxSurge: 1}"))
	assert.EqualError(t, err, `x.yaml:11:28: steps[0].upgrade-driver.maxSurge: found unsupported field "maxSurge", `+
		`want maxUnavailable: in a step the old pod ends before the next one starts; for a surge apply a DaemonSet with maxSurge to csisim up`)
}

func run(t *testing.T, steps string) *scenario.Result {
	t.Helper()
	s, err := scenario.Parse("x.yaml", fmt.Appendf(nil, rollouts, strings.TrimPrefix(steps, "\n")))
	require.NoError(t, err)
	result, err := scenario.Run(context.Background(), s, scenario.RunOptions{})
	require.NoError(t, err)
	return result
}

// restarts lists the ends and starts of plugins by the last letter of their nodes or replicas, with
// the time between them.
func restarts(t *testing.T, steps string) (all []string) {
	t.Helper()
	var last *trace.Event
	for _, e := range run(t, steps).Trace {
		sign := ""
		switch {
		case e.Kind != trace.FaultFired:
		case strings.HasSuffix(e.Message, "stopped"):
			sign = "-"
		case strings.HasSuffix(e.Message, "started, version v2"):
			sign = "+"
		}
		if sign == "" {
			continue
		}
		if len(all) > 0 && e.At > last.At {
			all = append(all, fmt.Sprint(e.At-last.At))
		}
		plugin, _, _ := strings.Cut(e.Message, " st")
		all, last = append(all, sign+plugin[len(plugin)-1:]), e
	}
	return all
}
