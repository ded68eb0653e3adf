package ordered

import (
	"maps"
	"math/rand"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestAMapEqualsAGoMap(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	var m Map[int, int]
	want := map[int]int{}
	for range 2000 {
		key, value := random.Intn(20), random.Intn(1000)
		if random.Intn(2) == 0 {
			m.Delete(key)
			delete(want, key)
		} else {
			m.Set(key, value)
			want[key] = value
		}
		require.Equal(t, slices.Sorted(maps.Keys(want)), append([]int(nil), m.Keys()...))
		for key := range 20 {
			value, ok := m.Find(key)
			wanted, isWanted := want[key]
			require.Equal(t, isWanted, ok)
			require.Equal(t, wanted, value)
			require.Equal(t, wanted, m.Get(key))
		}
	}
}

func TestKeysAreTheCallersOwn(t *testing.T) {
	m := Map[string, int]{{"a", 1}, {"b", 2}, {"c", 3}}
	var seen []string
	for _, key := range m.Keys() {
		seen = append(seen, key)
		m.Delete(key)
	}
	assert.Equal(t, []string{"a", "b", "c"}, seen)
	assert.Empty(t, m)
}

func TestASetHoldsEachMemberOnceInOrder(t *testing.T) {
	var s Set[string]
	for _, member := range []string{"b", "c", "a", "b"} {
		s = s.With(member)
	}
	assert.Equal(t, Set[string]{"a", "b", "c"}, s)
	s = s.Without("b").Without("d")
	assert.Equal(t, Set[string]{"a", "c"}, s)
	assert.True(t, s.Has("a"))
	assert.False(t, s.Has("b"))
}
