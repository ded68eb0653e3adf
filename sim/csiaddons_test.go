package sim_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/csisim/csisim/sim"
	"github.com/csisim/csisim/sim/expect"
)

func TestKindsOfCSIAddonsNeedNoAdditionalDefinition(t *testing.T) {
	const fence = "{apiVersion: csiaddons.openshift.io/v1alpha1, kind: NetworkFence, metadata: {name: f}, spec: {driver: d, secret: {name: s}, "
	c := sim.New(t, withMock)
	c.Apply(fence + "cidrs: [10.0.0.0/8]}}")
	// A-NF-1
	c.Expect(expect.Object{Ref: "networkfence/f", Fields: map[string]any{"spec": map[string]any{"fenceState": "Fenced"}}})

	told := failing(t, func(f *testOf) { sim.New(f, withMock).Apply(fence + "fenceState: Shut, cidrs: []}}") })
	assert.Contains(t, told, `spec.fenceState: Unsupported value: "Shut": supported values: "Fenced", "Unfenced"`)
}
