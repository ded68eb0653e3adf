package manager

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/kinds"
	"github.com/csisim/csisim/fakecontroller/internal/csiaddons/relay"
	"github.com/csisim/csisim/fakecontroller/internal/testcluster"
	"github.com/csisim/csisim/internal/world/definition/csiaddons"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// A-VR-18: a manager that starts before its kinds are defined checks for them every 5 s.
func TestTheManagerWaitsForItsKinds(t *testing.T) {
	c := testcluster.NewAPI(t, nil)
	Start(c.World, &relay.Network{}, Options{})
	user := c.Start("user", "")
	user.Go("main", func(p *kernel.Process) {
		p.Sleep(7 * time.Second)
		for _, d := range csiaddons.All() {
			_, err := store.Adopt(c.World.Store, d)
			assert.NoError(t, err)
		}
		node := &kinds.Node{}
		node.Namespace, node.Name = "default", "without-endpoint"
		node.Spec.Driver.Name = "disk.example.com"
		assert.NoError(t, kinds.Create(p, user, node))
	})
	state := func() string {
		node, err := kinds.Get[kinds.Node](user, store.Key{Namespace: "default", Name: "without-endpoint"})
		require.NoError(t, err)
		return node.Status.State
	}
	c.At(9900 * time.Millisecond)
	assert.Empty(t, state())
	c.At(10100 * time.Millisecond)
	assert.Equal(t, "Failed", state())
}
