package scenario

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/internal/real/promotion"
)

// A plugin's pod can start only if the kubelet of its node runs. If the pod still exists, its proxy
// starts the plugin.
func TestAPluginStartsWithTheKubeletOfItsNode(t *testing.T) {
	const why = "the kubelet of node-a, which would start the plugin's pod, is down: start-kubelet comes first"
	for name, c := range map[string]struct{ driver, steps, never string }{
		"stopped":           {"", "kill-kubelet: node-a|stop-driver: {node: node-a}|start-driver: {node: node-a}", why},
		"down from first":   {", down: [node-a]", "kill-kubelet: node-a|start-driver: {}", why},
		"restarted":         {"", "kill-kubelet: node-a|restart-driver: {node: node-a}", why},
		"killed":            {"", "kill-kubelet: node-a|kill-driver: {node: node-a}|start-driver: {node: node-a}", ""},
		"its pod stays":     {"", "kill-kubelet: node-a|stop-driver: {node: node-a, keepRegistrar: true}|start-driver: {node: node-a}", ""},
		"another node":      {", down: [node-b]", "kill-kubelet: node-a|start-driver: {node: node-b}", ""},
		"the kubelet first": {"", "kill-kubelet: node-a|stop-driver: {node: node-a}|start-kubelet: node-a|start-driver: {node: node-a}", ""},
		"its power first":   {"", "kill-kubelet: node-a|stop-driver: {}|power-off: node-a|power-on: node-a|start-driver: {}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			steps := "- " + strings.ReplaceAll(c.steps, "|", "\n- ")
			var reasons []string
			for _, p := range promotable(t, "drivers:\n- {name: mock.csi.csisim.dev, mock: {}"+c.driver+"}\nsteps:\n"+steps+"\n").Promote(promotion.TargetOptions{On: "kind"}) {
				if p.Never != "" {
					reasons = append(reasons, p.Never)
				}
			}
			assert.Equal(t, c.never, strings.Join(reasons, "; "))
		})
	}
}
