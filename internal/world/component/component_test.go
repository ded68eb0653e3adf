package component_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

func newWorld(t *testing.T, s kernel.Strategy) *component.World {
	k := kernel.New(kernel.Options{Strategy: s})
	t.Cleanup(k.Close)
	return component.NewWorld(k, kind.NewStore(store.Options{Now: k.Now}), trace.NewRecorder(k))
}

func node(name string) *corev1.Node { return &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}} }

// follow records the names of the nodes that a component observes.
func follow(c *component.Component) *[]string {
	var seen []string
	c.Go("follower", func(p *kernel.Process) {
		nodes := component.Watch[*corev1.Node](c, p)
		for {
			for e, ok := nodes.Next(); ok; e, ok = nodes.Next() {
				seen = append(seen, string(e.Type)+" "+e.Object.Name)
			}
			p.Park("nodes")
		}
	})
	return &seen
}

func TestAWriteIsAnEventOfTheTraceWithItsCause(t *testing.T) {
	w := newWorld(t, nil)
	c := w.Start("controller", "")
	c.Go("writer", func(p *kernel.Process) {
		_, err := component.Create(p, c, node("node-a"))
		assert.NoError(t, err)
		_, err = component.Patch(p, c, store.Key{Name: "node-a"}, func(n *corev1.Node) { n.Spec.Unschedulable = true })
		assert.NoError(t, err)
	})
	w.Kernel.Run(kernel.Until{})
	events := w.Trace.Events()
	require.Len(t, events, 2)
	assert.Equal(t, []string{"ADDED", "MODIFIED"}, []string{events[0].Change, events[1].Change})
	assert.Equal(t, "controller/writer", events[0].Actor)
	assert.Equal(t, events[0].Seq, events[1].Cause)
}

func TestACalmCacheIsUpToDateAndALaggingOneCatchesUp(t *testing.T) {
	for seed := range uint64(10) {
		w := newWorld(t, kernel.NewRandom(seed))
		seen := follow(w.Start("controller", ""))
		writer := w.Start("writer", "")
		writer.Go("writes", func(p *kernel.Process) {
			for _, name := range []string{"a", "b", "c"} {
				_, err := component.Create(p, writer, node(name))
				assert.NoError(t, err)
			}
		})
		w.Kernel.Run(kernel.Until{})
		assert.Equal(t, []string{"ADDED a", "ADDED b", "ADDED c"}, *seen, "seed %d: in order, and all of them in the end", seed)
	}
}

func TestACacheCanLagBehindTheAPI(t *testing.T) {
	lagged := false
	for seed := range uint64(30) {
		w := newWorld(t, kernel.NewRandom(seed))
		reader := w.Start("reader", "")
		follow(reader)
		writer := w.Start("writer", "")
		writer.Go("writes", func(p *kernel.Process) {
			p.Sleep(time.Second)
			_, err := component.Create(p, writer, node("a"))
			assert.NoError(t, err)
			_, cached := component.Cached[*corev1.Node](reader, store.Key{Name: "a"})
			lagged = lagged || !cached
			_, err = component.Live[*corev1.Node](p, reader, store.Key{Name: "a"})
			assert.NoError(t, err, "a live read is never stale")
		})
		w.Kernel.Run(kernel.Until{})
	}
	assert.True(t, lagged, "some seed shows an old state")
}

func TestACrashEndsProcessesAndWatches(t *testing.T) {
	w := newWorld(t, nil)
	c := w.Start("controller", "")
	seen := follow(c)
	w.Kernel.Run(kernel.Until{})
	c.Crash()
	_, err := store.Create(w.Store, node("a"))
	require.NoError(t, err)
	w.Kernel.Run(kernel.Until{})
	assert.Empty(t, *seen)
	assert.Zero(t, c.Group.Running())
}

func TestARepeatedEventIsCountedUp(t *testing.T) {
	w := newWorld(t, nil)
	c := w.Start("kubelet", "node-a")
	n, err := store.Create(w.Store, node("node-a"))
	require.NoError(t, err)
	for range 3 {
		c.Event(n, corev1.EventTypeWarning, "FailedMount", "code %d", 1)
	}
	c.Event(n, corev1.EventTypeWarning, "FailedMount", "code %d", 2)

	var counts []int32
	for _, e := range w.Trace.Events() {
		if e.Kind == trace.KubeEvent {
			counts = append(counts, e.Count())
		}
	}
	assert.Equal(t, []int32{1, 2, 3, 1}, counts)
	stored := map[string]int32{}
	for e := range store.List[*corev1.Event](w.Store, "") {
		stored[e.Message] = e.Count
		assert.Equal(t, "node-a", e.InvolvedObject.Name)
		assert.Equal(t, "node-a", e.Source.Host)
	}
	assert.Equal(t, map[string]int32{"code 1": 3, "code 2": 1}, stored)
}

// The name of an Event is the name of the object and a number, if that is a valid name.
func TestAnEventHasAValidNameForAnyObjectName(t *testing.T) {
	names := func() (names []string) {
		w := newWorld(t, nil)
		c := w.Start("kubelet", "node-a")
		for _, about := range []string{"web", strings.Repeat("a", 250), strings.Repeat("b", 250)} {
			n, err := store.Create(w.Store, node(about))
			require.NoError(t, err)
			c.Event(n, corev1.EventTypeWarning, "FailedMount", "code 1")
			c.Event(n, corev1.EventTypeWarning, "FailedMount", "code 2")
		}
		for e := range store.List[*corev1.Event](w.Store, "") {
			assert.Empty(t, validation.IsDNS1123Subdomain(e.Name))
			names = append(names, e.InvolvedObject.Name[:1]+" "+e.Name)
		}
		return names
	}
	first := names()
	assert.Len(t, first, 6)
	assert.Equal(t, first, names(), "a second run gives the same names")
	assert.Contains(t, strings.Join(first, "\n"), "w web.")
	assert.Regexp(t, `(?m)^a [0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, strings.Join(first, "\n"))
}

// If the server has removed an event, the real recorder creates it again with the same name and
// continues its count. It keeps the last 4,096 events.
func TestARemovedEventIsCreatedAgain(t *testing.T) {
	w := newWorld(t, nil)
	c := w.Start("kubelet", "node-a")
	n, err := store.Create(w.Store, node("node-a"))
	require.NoError(t, err)
	emit := func() *corev1.Event {
		c.Event(n, corev1.EventTypeWarning, "FailedMount", "code %d", 1)
		for e := range store.List[*corev1.Event](w.Store, "") {
			if e.Message == "code 1" {
				return e
			}
		}
		return nil
	}
	first := emit()
	_, err = store.Delete[*corev1.Event](w.Store, store.KeyOf(first))
	require.NoError(t, err)
	again := emit()
	assert.Equal(t, first.Name, again.Name)
	assert.Equal(t, int32(2), again.Count)
	for i := range 4096 {
		c.Event(n, corev1.EventTypeNormal, "Other", "%d", i)
	}
	_, err = store.Delete[*corev1.Event](w.Store, store.KeyOf(again))
	require.NoError(t, err)
	forgotten := emit()
	assert.NotEqual(t, first.Name, forgotten.Name)
	assert.Equal(t, int32(1), forgotten.Count)
}
