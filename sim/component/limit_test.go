package component_test

import (
	"strconv"
	"testing"
	"time"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/sim/component"
	"github.com/csisim/csisim/sim/kernel"
	"github.com/csisim/csisim/sim/store"
)

// C-LIB-7: ten requests at once, five in a second after that; events take their share of
// them, and snapshots have a client of their own.
func TestRequestsOfASidecarAreLimited(t *testing.T) {
	for name, tt := range map[string]struct {
		limited  bool
		events   int
		requests int
		ends     time.Duration
	}{
		"no limit":                {false, 10, 50, 0},
		"what may come at once":   {true, 0, 10, 0},
		"one more":                {true, 0, 11, 200 * time.Millisecond},
		"many":                    {true, 0, 60, 10 * time.Second},
		"events came before them": {true, 10, 10, 2 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			n, err := store.Create(w.Store, node("n"))
			assert.NoError(t, err)
			c := w.Start("sidecar", "")
			if tt.limited {
				c.LimitRequests(5, 10)
			}
			var ended, snapshots time.Duration
			c.Go("", func(p *kernel.Process) {
				for i := range tt.events {
					c.Event(n, corev1.EventTypeNormal, "Reason", "%d", i)
				}
				assert.Zero(t, p.Elapsed(), "nobody waits for events")
				for range 10 {
					_, _ = component.Live[*snapshotv1.VolumeSnapshot](p, c, store.Key{Namespace: "default", Name: "s"})
				}
				snapshots = p.Elapsed()
				for i := range tt.requests {
					_, err := component.Patch(p, c, store.KeyOf(n), func(n *corev1.Node) {
						metav1.SetMetaDataAnnotation(&n.ObjectMeta, "n", strconv.Itoa(i))
					})
					assert.NoError(t, err)
				}
				ended = p.Elapsed()
			})
			w.Kernel.Run(kernel.Until{})
			assert.Zero(t, snapshots)
			assert.Equal(t, tt.ends, ended.Round(time.Millisecond))
		})
	}
}
