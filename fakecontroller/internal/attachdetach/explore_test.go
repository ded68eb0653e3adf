package attachdetach

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/trace"
)

// explored moves a pod from node-a to node-b under a strategy.
func explored(t *testing.T, strategy kernel.Strategy) *cluster {
	c := newClusterUnder(t, strategy)
	c.node("node-a")
	c.node("node-b")
	c.volume("v")
	c.attacher()
	Start(c.World, Options{})
	c.pod("p", "node-a", "v")
	c.Kernel.Run(kernel.Until{At: 20 * time.Second})
	c.uses("node-a", "v")
	c.deletePod("p")
	c.pod("q", "node-b", "v")
	c.Kernel.Run(kernel.Until{At: 30 * time.Second})
	require.NotNil(t, c.attachment("v", "node-a"), "the node uses the volume")
	c.uses("node-a")
	c.Kernel.Run(kernel.Until{At: 10 * time.Minute})
	require.NoError(t, c.Kernel.Err())
	return c
}

// In any order of events and with caches of any age, the volume moves, and is never attached to
// both nodes.
func TestMoveSucceedsInEveryOrder(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			c := explored(t, kernel.NewRandom(seed))
			assert.Nil(t, c.attachment("v", "node-a"))
			require.NotNil(t, c.attachment("v", "node-b"))
			assert.True(t, c.attachment("v", "node-b").Status.Attached)
			assert.Empty(t, c.volumesAttached("node-a"))
			assert.Equal(t, []string{unique("v")}, c.volumesAttached("node-b"))
			attachments := 0
			for _, e := range c.World.Trace.Events() {
				if e.Kind == trace.API && e.Resource == "volumeattachments" && e.Change != "MODIFIED" {
					attachments += map[string]int{"ADDED": 1, "DELETED": -1}[e.Change]
					assert.LessOrEqual(t, attachments, 1)
				}
			}
		})
	}
}

func TestEqualSeedsGiveEqualRuns(t *testing.T) {
	for seed := range uint64(5) {
		first, second := explored(t, kernel.NewRandom(seed)), explored(t, kernel.NewRandom(seed))
		assert.Equal(t, first.Kernel.Hash(), second.Kernel.Hash())
		assert.Equal(t, first.story(), second.story())
	}
}

// breaking is a strategy with broken watches; all other choices are calm.
type breaking struct{}

func (breaking) Choose(c kernel.Choice) int {
	if c.Kind == kernel.Relist {
		return c.N - 1
	}
	return 0
}

func (breaking) String() string { return "breaking watches" }

// C-ADC-14: a list shows both the end of a pod and a new pod with its name. The populator finds the
// new pod, and the old pod's volume can be detached.
func TestAPodReplacedUnobservedDoesNotKeepItsVolume(t *testing.T) {
	c := newClusterUnder(t, breaking{})
	c.node("node-a")
	c.volume("v")
	c.attacher()
	Start(c.World, Options{})
	c.pod("p", "node-a", "v")
	c.At(20 * time.Second)
	require.NotNil(t, c.attachment("v", "node-a"))
	c.deletePod("p")
	c.pod("p", "node-a", "v")
	c.At(40 * time.Second)
	require.NotNil(t, c.attachment("v", "node-a"))
	c.deletePod("p")
	c.At(10 * time.Minute)
	assert.Nil(t, c.attachment("v", "node-a"))
}
