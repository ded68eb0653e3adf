package sim_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/drivers/mock"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/sim"
)

// The test names the object with an annotation that two operators reset again and again, and no
// other object.
func TestSettleNamesTheObjectsThatKeepChanging(t *testing.T) {
	c := cluster(t, sim.Options{Drivers: []sim.Driver{{Name: driver, Mock: &mock.Options{Name: driver}}}})
	run(t, c, "web", "node-a")
	for _, name := range []string{"left-operator", "right-operator"} {
		operator := c.World.Start(name, "")
		operator.Go("fight", func(p *kernel.Process) {
			for {
				p.Sleep(10 * time.Second)
				_, _ = component.Patch(p, operator, store.Key{Namespace: "default", Name: "web"}, func(pod *corev1.Pod) {
					pod.Annotations = map[string]string{"owner": name}
				})
			}
		})
	}
	err := c.Settle(5 * time.Minute)
	assert.ErrorContains(t, err, "timed out waiting for the condition: the cluster to settle")
	assert.ErrorContains(t, err, "\n  pods default/web was changed ")
	assert.ErrorContains(t, err, " times in the last 2m30s, by left-operator and right-operator\n")
	assert.Equal(t, 1, strings.Count(err.Error(), " was changed "))
}
