package component_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/api/kind/kindtest"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// The first object of the first source opens the other sources, which then deliver their existing
// objects.
func TestInformersWaitForTheFirstObject(t *testing.T) {
	w := newWorld(t, nil)
	c := w.Start("controller", "")
	var seen []string
	c.Inform(component.Informers{
		First: "the first node", News: "nodes, claims and namespaces",
		Sources: []component.Source{
			component.On(func(e store.Event[*corev1.Node]) { seen = append(seen, string(e.Type)+" "+e.Object.Name) }),
			component.On(func(e store.Event[*corev1.PersistentVolume]) { seen = append(seen, string(e.Type)+" "+e.Object.Name) }),
			component.OnAny[*corev1.Namespace](func() { seen = append(seen, "namespaces") }),
			component.OnAny[*corev1.Pod](nil),
		},
	})
	run := func() []string {
		t.Helper()
		w.Kernel.Run(kernel.Until{At: w.Kernel.Elapsed() + time.Second})
		require.NoError(t, w.Kernel.Err())
		now := seen
		seen = nil
		return now
	}
	_, err := store.Create(w.Store, kindtest.Volume("pv"))
	require.NoError(t, err)
	assert.Empty(t, run(), "no node is there")
	_, err = store.Create(w.Store, node("a"))
	require.NoError(t, err)
	assert.Equal(t, []string{"ADDED a", "ADDED pv", "namespaces"}, run())
	for _, name := range []string{"x", "y"} {
		_, err = store.Create(w.Store, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
		require.NoError(t, err)
	}
	assert.Equal(t, []string{"namespaces"}, run(), "once for both")
}
