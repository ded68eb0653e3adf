package sim_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/sim"
)

// once takes one alternative, at the first decision that offers it and has a name with a prefix.
type once struct {
	of, takes string
	asked     map[kernel.ChoiceKind]int
	taken     bool
}

func (o *once) Choose(c kernel.Choice) int {
	o.asked[c.Kind]++
	for i, name := range c.Alternatives {
		if !o.taken && name == o.takes && strings.HasPrefix(c.Label, o.of) {
			o.taken = true
			return i
		}
	}
	return 0
}

func (o *once) String() string { return o.of + ": " + o.takes }

func TestWithoutAFaultSpaceTheStrategyChoosesNoFault(t *testing.T) {
	for name, space := range map[string]fault.Space{"none": {}, "no budget": {Kinds: fault.Kinds()}, "no kinds": {Budget: 3}} {
		none := &once{asked: map[kernel.ChoiceKind]int{}}
		run(t, cluster(t, sim.Options{Strategy: none, FaultSpace: space}), "web", "node-a")
		assert.Zero(t, none.asked[kernel.Fault]+none.asked[kernel.Outcome], name)
	}
}

// After any outcome of a write, the writer retries or is restarted, and the pod starts to run.
func TestWritersRetryAfterAnyOutcome(t *testing.T) {
	writes := []string{
		"update of csinodes node-a by kubelet/node-a", "patch status of pods default/web by kubelet/node-a",
		"create of volumeattachments", "update of persistentvolumeclaims default/web by persistentvolume-controller",
		"create of persistentvolumes", "patch status of volumeattachments",
	}
	outcomes := []component.Outcome{component.Refused, component.Unanswered, component.DiesFirst, component.DiesAfter}
	for _, of := range writes {
		for _, takes := range outcomes {
			strategy := &once{of: of, takes: string(takes), asked: map[kernel.ChoiceKind]int{}}
			c := cluster(t, sim.Options{Strategy: strategy, FaultSpace: fault.Space{Kinds: fault.Kinds(), Budget: 1}})
			run(t, c, "web", "node-a")
			fired := 0
			for _, e := range c.World.Trace.Events() {
				if e.Kind == trace.FaultFired && strings.HasSuffix(e.Message, ": "+string(takes)) {
					fired++
				}
			}
			assert.True(t, strategy.taken, "%v: there is such a write", strategy)
			assert.Equal(t, 1, fired, "%v: the trace says so", strategy)
		}
	}
}
