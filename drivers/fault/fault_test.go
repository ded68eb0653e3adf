package fault_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"google.golang.org/grpc/codes"

	"github.com/csisim/csisim/drivers/fault"
)

var stage = fault.Site{Method: "Node/NodeStageVolume", Driver: "d", Node: "node-a", From: "kubelet", Volume: "vol-0001"}

// any makes a fault affect all calls.
func any(*fault.Fault, string) bool { return true }

func TestAFaultAffectsCallsThatRequireMoreThanItsSize(t *testing.T) {
	large := fault.Fault{Call: "*", LargerThan: 512 << 20}
	for bytes, want := range map[int64]bool{0: false, 512 << 20: false, 512<<20 + 1: true} {
		assert.Equal(t, want, large.Matches(fault.Site{Method: "Controller/ControllerExpandVolume", Bytes: bytes}), "%d bytes", bytes)
	}
}

func TestAFaultAffectsTheCallsThatMatchAllItsFilters(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault fault.Fault
		want  bool
	}{
		{"the method", fault.Fault{Call: "NodeStageVolume"}, true},
		{"the method with its service", fault.Fault{Call: "Node/NodeStageVolume"}, true},
		{"a pattern", fault.Fault{Call: "Node*Volume"}, true},
		{"another method", fault.Fault{Call: "NodeUnstageVolume"}, false},
		{"all filters", fault.Fault{Call: "*", Driver: "d", Node: "node-a", From: "kubelet", Volume: "vol-*"}, true},
		{"another node", fault.Fault{Call: "*", Node: "node-b"}, false},
		{"another driver", fault.Fault{Call: "*", Driver: "e"}, false},
		{"another caller", fault.Fault{Call: "*", From: "csi-attacher"}, false},
		{"another volume", fault.Fault{Call: "*", Volume: "vol-0002"}, false},
	} {
		assert.Equal(t, c.want, c.fault.Matches(stage), c.name)
	}
}

func TestAFaultLetsTheFirstCallsPassAndEndsAfterItsNumber(t *testing.T) {
	set := &fault.Set{}
	set.Inject(&fault.Fault{Name: "f", Call: "NodeStageVolume", After: 1, Times: 2, Code: codes.Internal})
	var hit []bool
	for range 5 {
		hit = append(hit, set.Hit(stage, any) != nil)
	}
	assert.Equal(t, []bool{false, true, true, false, false}, hit)
	assert.Empty(t, set.InForce())
	assert.Empty(t, set.Unused())
}

func TestTheFirstMatchingFaultAppliesAndClearingEndsIt(t *testing.T) {
	set := &fault.Set{}
	set.Inject(&fault.Fault{Name: "first", Call: "*"})
	set.Inject(&fault.Fault{Name: "second", Call: "*"})
	assert.Equal(t, "first", set.Hit(stage, any).Name)
	assert.Equal(t, 1, set.Clear("first"))
	assert.Zero(t, set.Clear("first"))
	assert.Equal(t, []string{"second"}, []string{set.Unused()[0].Name})
	assert.Equal(t, "second", set.Hit(stage, any).Name)
	assert.Equal(t, 1, set.Clear(""))
	assert.Nil(t, set.Hit(stage, any))
}

// Calls that a fault holds continue when the fault is cleared, by its name or together with all
// others.
func TestClearingAFaultReleasesTheHeldCalls(t *testing.T) {
	for _, name := range []string{"held", ""} {
		set := &fault.Set{}
		held, other := &fault.Fault{Name: "held", Call: "*"}, &fault.Fault{Name: "other", Call: "*"}
		set.Inject(held)
		set.Inject(other)
		released := 0
		held.OnClear(func() { released++ })
		set.Clear("nobody")
		assert.False(t, held.Cleared())
		set.Clear(name)
		assert.True(t, held.Cleared())
		assert.Equal(t, 1, released)
		assert.Equal(t, name == "", other.Cleared())
	}
}

func TestAFaultAffectsOnlyCallsThatItsEffectCanAffect(t *testing.T) {
	set := &fault.Set{}
	set.Inject(&fault.Fault{Name: "first", Call: "*", Effect: fault.Repeat})
	set.Inject(&fault.Fault{Name: "second", Call: "*"})
	hit := set.Hit(stage, func(f *fault.Fault, method string) bool {
		assert.Equal(t, stage.Method, method)
		return f.Effect != fault.Repeat
	})
	assert.Equal(t, "second", hit.Name)
	assert.Len(t, set.Unused(), 1)
}
