package check

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/internal/judge/contract"
)

// If no driver creates the volume, its next life has a PersistentVolume of the same name.
func TestAPreexistingVolumeIsDeletedBeforeItIsCreatedAgain(t *testing.T) {
	s := &script{facts: &Facts{caps: contract.Caps{}}}
	s.unclaim(data)
	assert.Equal(t, "- delete: {pvc: data}\n- delete: {pv: data}\n- wait: {pv: \"*\", gone: true}\n", s.steps.String())
}
