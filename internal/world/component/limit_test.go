package component_test

import (
	"testing"
	"time"

	snapshotv1 "github.com/kubernetes-csi/external-snapshotter/client/v8/apis/volumesnapshot/v1"
	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// C-LIB-7: ten requests at once, five in a second after that. Snapshots have a separate client.
func TestRequestsOfASidecarAreLimited(t *testing.T) {
	for name, tt := range map[string]struct {
		perSecond float64
		atOnce    int
		requests  int
		ends      time.Duration
	}{
		"a full burst":  {0, 0, 10, 0},
		"one more":      {0, 0, 11, 200 * time.Millisecond},
		"many":          {0, 0, 60, 10 * time.Second},
		"a higher rate": {50, 0, 60, time.Second},
		"more at once":  {0, 60, 60, 0},
		"no limit":      {-1, 0, 60, 0},
	} {
		t.Run(name, func(t *testing.T) {
			c := aLimitedComponent(t, tt.perSecond, tt.atOnce)
			var ended, snapshots time.Duration
			c.Go("", func(p *kernel.Process) {
				for range 10 {
					_, _ = component.Live[*snapshotv1.VolumeSnapshot](p, c, store.Key{Namespace: "default", Name: "s"})
				}
				snapshots = p.Elapsed()
				for range tt.requests {
					ask(p, c)
				}
				ended = p.Elapsed()
			})
			c.Kernel.Run(kernel.Until{})
			assert.Zero(t, snapshots)
			assert.Equal(t, tt.ends, ended.Round(time.Millisecond))
		})
	}
}

// C-LIB-7: events count, but are sent sequentially. A request waits for one event, not for all.
func TestEventsAreSentOneAfterTheOther(t *testing.T) {
	const second = time.Second
	for name, tt := range map[string]struct {
		events int
		begin  time.Duration // of the requests
		ends   []time.Duration
	}{
		"none":                                  {0, 0, []time.Duration{0, 0}},
		"as many as may be sent at once":        {10, 0, []time.Duration{second / 5, 2 * second / 5}},
		"many: each request takes turns":        {100, 0, []time.Duration{2 * second / 5, 4 * second / 5}},
		"many, and half of them are sent":       {60, 5 * second, []time.Duration{5*second + 2*second/5, 5*second + 4*second/5}},
		"many, and the client has rested since": {60, 20 * second, []time.Duration{20 * second, 20 * second}},
	} {
		t.Run(name, func(t *testing.T) {
			c := aLimitedComponent(t, 0, 0)
			var ended []time.Duration
			c.Go("", func(p *kernel.Process) {
				n, _ := store.Get[*corev1.Node](c.Store, store.Key{Name: "n"})
				for i := range tt.events {
					c.Event(n, corev1.EventTypeNormal, "Reason", "%d", i)
				}
				assert.Zero(t, p.Elapsed(), "no process waits for events")
				p.Sleep(tt.begin)
				for range tt.ends {
					ask(p, c)
					ended = append(ended, p.Elapsed().Round(time.Millisecond))
				}
			})
			c.Kernel.Run(kernel.Until{})
			assert.Equal(t, tt.ends, ended)
		})
	}
}

// C-LIB-7: csi-provisioner's client for CSIStorageCapacities has a separate limit.
func TestCapacitiesHaveASeparateClient(t *testing.T) {
	c := aLimitedComponent(t, -1, 0)
	c.LimitRequests(component.Capacities, 1, 5)
	var others, ended time.Duration
	c.Go("", func(p *kernel.Process) {
		for range 60 {
			ask(p, c)
		}
		others = p.Elapsed()
		for range 7 {
			_, _ = component.Live[*storagev1.CSIStorageCapacity](p, c, store.Key{Namespace: "default", Name: "c"})
		}
		ended = p.Elapsed()
	})
	c.Kernel.Run(kernel.Until{})
	assert.Zero(t, others)
	assert.Equal(t, 2*time.Second, ended.Round(time.Millisecond))
}

func aLimitedComponent(t *testing.T, perSecond float64, atOnce int) *component.Component {
	t.Helper()
	w := newWorld(t, nil)
	_, err := store.Create(w.Store, node("n"))
	assert.NoError(t, err)
	c := w.Start("sidecar", "")
	c.LimitRequests(component.Core, perSecond, atOnce)
	c.LimitRequests(component.Snapshots, perSecond, atOnce)
	return c
}

// ask makes one request.
func ask(p *kernel.Process, c *component.Component) {
	_, _ = component.Live[*corev1.Node](p, c, store.Key{Name: "n"})
}
