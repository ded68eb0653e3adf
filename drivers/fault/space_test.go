package fault_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/drivers/fault"
)

func TestASpaceWithoutABudgetHasNoKinds(t *testing.T) {
	assert.True(t, fault.Space{Kinds: []fault.Kind{fault.Lost, fault.API}, Budget: 1}.Has(fault.API))
	assert.False(t, fault.Space{Kinds: []fault.Kind{fault.Lost}, Budget: 1}.Has(fault.API))
	assert.False(t, fault.Space{Kinds: []fault.Kind{fault.API}}.Has(fault.API))
}
