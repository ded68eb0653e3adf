package attachdetach

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/internal/world/kernel"
)

// The node's list of attached volumes changes with each step, and its status is written only if the
// list changes. C-ADC-27, C-ADC-42
//
// conformance: adc-unreport-then-report-again, adc-forgotten-then-attached-again-is-reported,
// adc-report-only-on-change
func TestTheNodeStatusFollowsTheActualState(t *testing.T) {
	a := newActualState()
	at := pair{"v", "n"}
	for _, step := range []struct {
		says     string
		do       func()
		reported bool
		write    bool // the node's status has to be written
	}{
		{"attached", func() { a.markAttached(at, nil) }, true, true},
		{"written", func() { delete(a.flagged, "n") }, true, false},
		{"attached, as before", func() { a.markAttached(at, nil) }, true, false},
		{"unreported ahead of a detach", func() { a.unreport(at) }, false, true},
		{"written", func() { delete(a.flagged, "n") }, false, false},
		{"unreported, as before", func() { a.unreport(at) }, false, false},
		{"not detached, put back", func() { a.report(at) }, true, true},
		{"unreported and forgotten", func() { a.unreport(at); a.remove(at) }, false, true},
		{"uncertain: nothing new to tell", func() { delete(a.flagged, "n"); a.markUncertain(at, nil) }, false, false},
		{"attached again", func() { a.markAttached(at, nil) }, true, true},
	} {
		step.do()
		assert.Equal(t, step.reported, a.reports["n"]["v"], step.says)
		assert.Equal(t, step.write, a.flagged["n"], step.says)
	}
}

// C-ADC-40, C-ADC-41
//
// conformance: adc-reattach-keeps-unmounted-flag
func TestAttachingAgainDoesNotMakeAVolumeMounted(t *testing.T) {
	c := Controller{actual: newActualState(), dirty: map[pair]bool{}}
	at := pair{unique("v"), "n"}
	c.actual.markAttached(at, nil)
	assert.True(t, c.actual.inUse["n"][at.volume], "mounted until the node says otherwise")
	c.setInUse(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n"}})
	c.actual.markAttached(at, nil)
	assert.False(t, c.actual.inUse["n"][at.volume])
	assert.False(t, c.actual.get(at).detachAsked)
}

// C-ADC-8
//
// conformance: adc-node-with-volumes-not-dropped
func TestANodeWithDesiredVolumesIsKept(t *testing.T) {
	d := newDesiredState()
	d.addNode("n")
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "p"}, Spec: corev1.PodSpec{NodeName: "n"}}
	s := &spec{driver: driver, handle: "h-v"}
	d.add(s, pod)
	d.removeNode("n")
	assert.True(t, d.manages("n"))
	assert.NotNil(t, d.get(pair{s.unique(), "n"}))
	d.remove(s.unique(), "p")
	d.removeNode("n")
	assert.False(t, d.manages("n"))
}

// C-ADC-43
//
// conformance: adc-node-status-two-nodes, adc-node-status-single-node
func TestTheStatusOfOneNodeOrOfAllIsWritten(t *testing.T) {
	c := newCluster(t)
	c.node("n1")
	c.node("n2")
	ctl := &Controller{Component: c.World.Start("attachdetach-controller", ""), actual: newActualState()}
	write := func(how func(*kernel.Process)) {
		ctl.Go("test", how)
		c.At(c.Kernel.Elapsed() + time.Second)
	}
	write(func(p *kernel.Process) {
		ctl.actual.markAttached(pair{unique("v1"), "n1"}, nil)
		ctl.actual.markAttached(pair{unique("v2"), "n2"}, nil)
		assert.NoError(t, ctl.patchNode(p, "n1"))
	})
	assert.Equal(t, []string{unique("v1")}, c.volumesAttached("n1"))
	assert.Empty(t, c.volumesAttached("n2"))
	assert.Equal(t, []string{"n2"}, slices.Sorted(maps.Keys(ctl.actual.flagged)))
	write(ctl.patchNodes)
	assert.Equal(t, []string{unique("v1")}, c.volumesAttached("n1"))
	assert.Equal(t, []string{unique("v2")}, c.volumesAttached("n2"))
	assert.Empty(t, ctl.actual.flagged)
}

// C-ADC-23, C-ADC-33
//
// conformance: adc-detach-request-reset
func TestAnUnneededDetachIsForgotten(t *testing.T) {
	c := newCluster(t)
	c.node("node-a")
	c.volume("v")
	c.attacher()
	ctl := Start(c.World, Options{})
	asked := func() bool { return ctl.actual.get(pair{unique("v"), "node-a"}).detachAsked }
	c.pod("p", "node-a", "v")
	c.At(2 * time.Second)
	c.uses("node-a", "v")
	require.False(t, asked())
	c.deletePod("p")
	c.At(4 * time.Second)
	require.True(t, asked())
	c.pod("q", "node-a", "v")
	c.At(6 * time.Second)
	assert.False(t, asked())
}

// C-ADC-10
//
// conformance: adc-pod-deletion-drops-desire
func TestAVolumeIsWantedWhileItsPodExists(t *testing.T) {
	c := newCluster(t)
	c.node("node-a")
	c.volume("v")
	ctl := Start(c.World, Options{})
	var wanted []bool
	look := func() {
		c.At(c.Kernel.Elapsed() + time.Second)
		wanted = append(wanted, ctl.desired.get(pair{unique("v"), "node-a"}) != nil)
	}
	for range 2 {
		c.pod("p", "node-a", "v")
		look()
		c.deletePod("p")
		look()
	}
	assert.Equal(t, []bool{true, false, true, false}, wanted)
}
