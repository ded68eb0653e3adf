package component_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/store"
)

// deciding is a strategy that takes the last alternative for these kinds and is otherwise calm.
type deciding map[kernel.ChoiceKind]bool

func (d deciding) Choose(c kernel.Choice) int {
	if d[c.Kind] {
		return c.N - 1
	}
	return 0
}

func (deciding) String() string { return "deciding" }

func TestARelistMissesTheStatesInBetween(t *testing.T) {
	for _, relists := range []bool{false, true} {
		w := newWorld(t, deciding{kernel.Relist: relists})
		seen := follow(w.Start("controller", ""))
		writer := w.Start("writer", "")
		writer.Go("writes", func(p *kernel.Process) {
			for _, name := range []string{"kept", "passing"} {
				_, err := component.Create(p, writer, node(name))
				assert.NoError(t, err)
			}
			_, err := component.Delete[*corev1.Node](p, writer, store.Key{Name: "passing"})
			assert.NoError(t, err)
		})
		w.Kernel.Run(kernel.Until{})
		if relists {
			assert.Equal(t, []string{"ADDED kept"}, *seen)
		} else {
			assert.Equal(t, []string{"ADDED kept", "ADDED passing", "DELETED passing"}, *seen)
		}
	}
}

func TestAControllerWaitsUntilItsInformersHaveSynced(t *testing.T) {
	w := newWorld(t, deciding{kernel.Jitter: true})
	_, err := store.Create(w.Store, node("before"))
	require.NoError(t, err)
	seen := follow(w.Start("controller", ""))
	w.Kernel.Run(kernel.Until{At: 150 * time.Millisecond})
	assert.Empty(t, *seen)
	_, err = store.Create(w.Store, node("a"))
	require.NoError(t, err)
	_, err = store.Delete[*corev1.Node](w.Store, store.Key{Name: "before"})
	require.NoError(t, err)
	w.Kernel.Run(kernel.Until{})
	assert.Equal(t, []string{"ADDED a"}, *seen, "as it is then")
}
