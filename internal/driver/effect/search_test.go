package effect_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/driver/effect"
)

func TestFaultsOfASpaceHaveUniqueNames(t *testing.T) {
	names := map[string]bool{}
	for _, f := range effect.AtCall(fault.Space{Kinds: fault.Kinds(), Budget: 1}, effect.Called{OnNode: true, Watched: true, Unmounts: true, Served: true, Versioned: true}) {
		assert.NotEmpty(t, f.Name)
		assert.NotEmpty(t, f.Effect, f.Name)
		assert.False(t, names[f.Name], f.Name)
		names[f.Name] = true
	}
	for _, k := range fault.Kinds() {
		assert.Equal(t, k != fault.API, len(effect.AtCall(fault.Space{Kinds: []fault.Kind{k}, Budget: 1}, effect.Called{OnNode: true, Watched: true, Served: true, Versioned: true})) > 0, "%s: of the API there is none at calls", k)
	}
	for _, k := range fault.Usual() {
		assert.Contains(t, fault.Kinds(), k)
	}
	assert.Empty(t, effect.AtCall(fault.Space{Kinds: fault.Kinds()}, effect.Called{OnNode: true}), "nothing without a budget")
	assert.Empty(t, effect.AtCall(fault.Space{Budget: 1}, effect.Called{OnNode: true}), "nothing without a kind")
	assert.Empty(t, effect.AtCall(fault.Space{Kinds: []fault.Kind{fault.Power}, Budget: 1}, effect.Called{}), "a controller plugin is on no node")
	assert.Empty(t, effect.AtCall(fault.Space{Kinds: []fault.Kind{fault.Upgrades}, Budget: 1}, effect.Called{OnNode: true, Watched: true}), "a driver has one release")
	halfway := fault.Space{Kinds: []fault.Kind{fault.Halfway}, Budget: 1}
	assert.Empty(t, effect.AtCall(halfway, effect.Called{OnNode: true, Unmounts: true}), "the work of Go code cannot be observed")
	assert.Len(t, effect.AtCall(halfway, effect.Called{OnNode: true, Watched: true, Unmounts: true, Served: true}), 1+len(effect.AtCall(halfway, effect.Called{OnNode: true, Watched: true})), "a mount can be in use only where a call unmounts")
}
