package attachdetach

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

// rivals returns a cluster with two pods on two nodes that need one volume. The volume can never be
// attached to node-a.
func rivals(t *testing.T, strategy kernel.Strategy) *cluster {
	c := newClusterUnder(t, strategy)
	c.node("node-a")
	c.node("node-b")
	c.volume("v")
	c.attacherWithout("node-a")
	Start(c.World, Options{})
	c.pod("on-a", "node-a", "v")
	c.pod("on-b", "node-b", "v")
	return c
}

// attacherWithout acts as an external attacher that cannot attach to a node.
func (c *cluster) attacherWithout(node string) {
	sidecar := c.World.Start("attacher", "")
	sidecar.Go("", func(p *kernel.Process) {
		w := component.Watch[*storagev1.VolumeAttachment](sidecar, p)
		for {
			for e, ok := w.Next(); ok; e, ok = w.Next() {
				status := storagev1.VolumeAttachmentStatus{Attached: true}
				if e.Object.Spec.NodeName == node {
					status = storagev1.VolumeAttachmentStatus{AttachError: &storagev1.VolumeError{Message: "no"}}
				}
				if e.Type == store.Added {
					_, _ = component.PatchStatus(p, sidecar, store.KeyOf(e.Object), func(va *storagev1.VolumeAttachment) { va.Status = status })
				}
			}
			p.Park("attachments")
		}
	})
}

// C-ADC-32, C-OP-7: the attach to node-a never succeeds. Node-b then has its turn, and gets the
// volume.
func TestNodesThatWantOneVolumeTakeTurns(t *testing.T) {
	c := rivals(t, kernel.Calm{})
	c.Kernel.Run(kernel.Until{At: 20 * time.Second})
	assert.NotNil(t, c.attachment("v", "node-a"), "the first turn")
	assert.Equal(t, []string{unique("v")}, c.volumesAttached("node-b"))
	assert.Contains(t, fmt.Sprint(c.story()), "Pod/on-a FailedAttachVolume Multi-Attach error")
}

// The first node is random: under some seeds it is node-b, and the attach succeeds at once.
func TestTheFirstTurnIsRandom(t *testing.T) {
	first := map[string]bool{}
	for seed := range uint64(20) {
		c := rivals(t, kernel.NewRandom(seed))
		c.Kernel.Run(kernel.Until{At: time.Minute})
		assert.NoError(t, c.Kernel.Err())
		assert.Equal(t, []string{unique("v")}, c.volumesAttached("node-b"), "seed %d", seed)
		events := c.World.Trace.Events()
		i := slices.IndexFunc(events, func(e *trace.Event) bool {
			return e.Kind == trace.API && e.Resource == "volumeattachments"
		})
		first[events[i].New.(*storagev1.VolumeAttachment).Spec.NodeName] = true
	}
	assert.Equal(t, map[string]bool{"node-a": true, "node-b": true}, first)
}
