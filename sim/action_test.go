package sim_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/trace"
	"github.com/csisim/csisim/sim"
)

// After any action of a user in the middle of a volume's life, the life continues.
func TestAVolumesLifeSurvivesUserActions(t *testing.T) {
	for action, note := range map[fault.Action]string{
		fault.PodsAgain:      "a user makes pod default/web again",
		fault.PodsByForce:    "a user makes pod default/web again",
		fault.ClaimsAgain:    "a user deletes persistentvolumeclaim default/",
		fault.AllAgain:       "a user makes persistentvolumeclaim default/",
		fault.Edits:          "a user edits all claims and volumes",
		fault.Detaches:       "an administrator deletes VolumeAttachment",
		fault.Drains:         "an administrator uncordons node node-a",
		fault.DeletesNode:    "an administrator deletes node node-a",
		fault.SocketVanishes: "registrar of",
		fault.RegistersTwice: "registrar of",
	} {
		t.Run(string(action), func(t *testing.T) {
			strategy := &once{of: "NodePublishVolume", takes: string(action), asked: map[kernel.ChoiceKind]int{}}
			c := cluster(t, sim.Options{Strategy: strategy, FaultSpace: fault.Space{Kinds: []fault.Kind{fault.User, fault.Sockets}, Budget: 1}})
			run(t, c, "web", "node-a")
			assert.True(t, strategy.taken)
			assert.True(t, slices.ContainsFunc(c.World.Trace.Events(), func(e *trace.Event) bool {
				return e.Kind == trace.FaultFired && strings.Contains(e.Message, note)
			}), "the trace has a note")
		})
	}
}

// A Go test injects an action like any other fault.
func TestAnInjectedActionHappensDuringTheCall(t *testing.T) {
	c := cluster(t, sim.Options{})
	c.Inject(&fault.Fault{Call: "NodePublishVolume", Effect: fault.Meanwhile, Action: fault.Edits, Times: 1})
	run(t, c, "web", "node-a")
	assert.True(t, slices.ContainsFunc(c.World.Trace.Events(), func(e *trace.Event) bool {
		return e.Kind == trace.FaultFired && strings.Contains(e.Message, "a user edits all claims and volumes")
	}))
}
