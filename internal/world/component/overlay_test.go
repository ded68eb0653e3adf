package component_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/store"
)

// C-PV-2, C-SNAP-11: results of writes are visible before the informer delivers them. Older
// versions from the informer are ignored. Versions are compared as numbers.
func TestAnOverlayHasTheNewestKnownVersion(t *testing.T) {
	w := newWorld(t, nil)
	c := w.Start("controller", "")
	o := component.NewOverlay[*corev1.Node](c)
	key := store.Key{Name: "a"}
	written := func(version, mark string) *corev1.Node {
		n, _ := store.Get[*corev1.Node](w.Store, key)
		own := n.DeepCopy()
		own.ResourceVersion, own.Labels = version, map[string]string{"mark": mark}
		return own
	}
	got := func(mark string) {
		_, err := store.Modify(w.Store, key, func(n *corev1.Node) { n.Labels = map[string]string{"mark": mark} })
		require.NoError(t, err)
	}
	shown := func() string {
		n, ok := o.Get(key)
		if !ok {
			return "nothing"
		}
		return n.Labels["mark"]
	}
	assert.Equal(t, "nothing", shown())
	_, err := store.Create(w.Store, node("a"))
	require.NoError(t, err)
	got("first")
	assert.Equal(t, "first", shown())
	o.Put(written("9", "ours"))
	assert.Equal(t, "ours", shown())
	for i := range 3 {
		got(fmt.Sprint("older-", i))
	}
	cached, _ := component.Cached[*corev1.Node](c, key)
	require.Less(t, component.Version(cached), uint64(9))
	assert.Equal(t, "ours", shown())
	for i := range 5 {
		got(fmt.Sprint("newer-", i)) // 10 comes after 9
	}
	assert.Equal(t, "newer-4", shown())
	o.Put(written("1000000", "ours"))
	_, err = store.Delete[*corev1.Node](w.Store, key)
	require.NoError(t, err)
	assert.Equal(t, "nothing", shown())
	_, err = store.Create(w.Store, node("a"))
	require.NoError(t, err)
	assert.Empty(t, shown(), "another node of that name")
}
