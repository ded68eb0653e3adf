package fault_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/drivers/fault"
)

func TestAlternativesOfAFaultSpaceHaveNamesOfTheirOwn(t *testing.T) {
	names := map[string]bool{}
	for _, f := range (fault.Space{Kinds: fault.Kinds(), Budget: 1}).Alternatives() {
		assert.NotEmpty(t, f.Name)
		assert.NotEmpty(t, f.Effect, f.Name)
		assert.False(t, names[f.Name], f.Name)
		names[f.Name] = true
	}
	for _, k := range fault.Kinds() {
		assert.NotEmpty(t, fault.Space{Kinds: []fault.Kind{k}, Budget: 1}.Alternatives(), k)
	}
	assert.Empty(t, fault.Space{Kinds: fault.Kinds()}.Alternatives(), "nothing without a budget")
	assert.Empty(t, fault.Space{Budget: 1}.Alternatives(), "nothing without a kind")
}
