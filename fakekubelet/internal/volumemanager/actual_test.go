package volumemanager

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/csisim/csisim/fakekubelet/internal/csi"
)

var (
	errFinal  = errors.New("rpc error: code = Internal")
	open      = csi.UncertainError{}
	transient = csi.TransientError{}
)

func TestTheDeviceAfterAFailedStage(t *testing.T) { // K-ERR-1, K-ERR-3
	for _, c := range []struct {
		before        deviceState
		reconstructed bool
		err           error
		after         deviceState
	}{
		{notMounted, false, errFinal, notMounted},
		{notMounted, false, open, deviceUncertain},
		{notMounted, false, transient, notMounted},
		{deviceUncertain, false, errFinal, notMounted},
		{deviceUncertain, true, errFinal, deviceUncertain},
		{deviceUncertain, false, open, deviceUncertain},
		{deviceUncertain, false, transient, deviceUncertain},
	} {
		v := &held{device: c.before, reconstructed: c.reconstructed}
		v.deviceFailed("", c.err)
		assert.Equal(t, c.after, v.device, "%s, reconstructed %v, after %T", c.before, c.reconstructed, c.err)
	}
}

func TestThePodsUseAfterAFailedPublish(t *testing.T) { // K-ERR-2
	const absent podState = ""
	for _, c := range []struct {
		before        podState
		reconstructed bool
		err           error
		after         podState
	}{
		{absent, false, errFinal, absent},
		{absent, false, open, uncertain},
		{absent, false, transient, absent},
		{uncertain, false, errFinal, absent},
		{uncertain, true, errFinal, uncertain},
		{uncertain, false, open, uncertain},
		{uncertain, false, transient, uncertain},
		{mounted, false, errFinal, mounted},
		{mounted, false, open, mounted},
		{mounted, false, transient, mounted},
	} {
		a := newActual()
		v := a.attach("v", &csi.Spec{}, no)
		if c.before != absent {
			a.setPod(v, "u1", &csi.Spec{}, c.before, "").reconstructed = c.reconstructed
		}
		a.podFailed(v, &wantedBy{pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "u1"}}, spec: &csi.Spec{}}, c.err)
		after := absent
		if by := a.pod("v", "u1"); by != nil {
			after = by.state
		}
		assert.Equal(t, c.after, after, "%q, reconstructed %v, after %T", c.before, c.reconstructed, c.err)
		assert.Equal(t, after != absent, a.ofPod["u1"].Has("v"))
	}
}

// noPods are pod workers without a pod.
type noPods struct{ Pods }

func (noPods) VolumesChanged(types.UID) {}

// reconstructedVolume returns the state of a kubelet after it has scanned its disk.
func reconstructedVolume() (*actual, *held) {
	a := newActual()
	v := a.attach("v", &csi.Spec{}, unknown)
	v.device, v.reconstructed = deviceUncertain, true
	a.setPod(v, "u1", &csi.Spec{}, uncertain, "").reconstructed = true
	return a, v
}

// K-RECON-6
//
// conformance: unit-reconstructed-state-becomes-attachable,
// unit-reconstructed-state-becomes-nonattachable, unit-reconstructed-state-attachable-sticks
func TestAttachabilityIsDecidedOnceByTheNodesStatus(t *testing.T) {
	for _, c := range []struct {
		listed []bool // whether each report of the node's status lists it
		want   ternary
	}{
		{nil, unknown},
		{[]bool{true}, yes},
		{[]bool{false}, no},
		{[]bool{true, false}, yes},
		{[]bool{false, true}, no},
	} {
		a, v := reconstructedVolume()
		for _, listed := range c.listed {
			a.judge(func(string) bool { return listed })
		}
		assert.Equal(t, c.want, v.attachable, "%v", c.listed)
	}
}

// K-RECON-4
//
// conformance: unit-reconstructed-state-mounted-clears, unit-reconstructed-state-unmounted-clears,
// unit-reconstructed-state-detached-clears
func TestProvenVolumesAreNotReconstructed(t *testing.T) {
	by := &wantedBy{pod: &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "u1"}}, spec: &csi.Spec{}}
	t.Run("mounted", func(t *testing.T) {
		a, v := reconstructedVolume()
		m := &Manager{actual: a, desired: newDesired(), pods: noPods{}, onInUse: func() {}}
		m.populator, m.reconciler = newPopulator(m), newReconciler(m)
		m.markMounted(v, by)
		assert.False(t, a.pod("v", "u1").reconstructed)
		assert.Equal(t, mounted, a.pod("v", "u1").state)
	})
	t.Run("unmounted and detached", func(t *testing.T) {
		a, v := reconstructedVolume()
		a.removePod(v, "u1")
		assert.Nil(t, a.pod("v", "u1"))
		a.drop("v")
		assert.Equal(t, newActual(), a, "no trace is left")
	})
}

// K-ERR-2, K-REC-8, K-POD-6
//
// conformance: uncertain-volume-visibility, vm-volume-names-for-pod
func TestAnUncertainVolumeIsNeitherMountedNorUnmounted(t *testing.T) {
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "u1"}}
	m := &Manager{actual: newActual(), desired: newDesired()}
	m.desired.add(m.desired.addVolume("unique", false, labels{}), pod, "outer", &csi.Spec{}, 0)
	v := m.actual.attach("unique", &csi.Spec{}, no)
	m.actual.setPod(v, "u1", &csi.Spec{}, uncertain, "")
	assert.Equal(t, []string{"outer"}, m.missing(pod, []string{"outer"}).Unmounted, "the pod cannot start")
	assert.True(t, m.PossiblyMounted("u1"), "and cannot go")
	m.actual.setPod(v, "u1", &csi.Spec{}, mounted, "")
	assert.Empty(t, m.missing(pod, []string{"outer"}).Unmounted)

	assert.NotNil(t, m.SpecOf("u1", "outer"))
	assert.Nil(t, m.SpecOf("u1", "other"))
	assert.Nil(t, m.SpecOf("u2", "outer"), "an unknown pod needs no volume")
}

// K-DSW-14
//
// conformance: vm-reported-in-use-tracking
func TestExactlyTheLatestReportCounts(t *testing.T) {
	m := &Manager{actual: newActual(), desired: newDesired()}
	m.populator, m.reconciler = newPopulator(m), newReconciler(m)
	for _, name := range []string{"a", "b", "c"} {
		m.desired.addVolume(name, true, labels{})
	}
	for _, report := range []string{"a b", "b c", "", "a b c"} {
		var names []corev1.UniqueVolumeName
		for name := range strings.FieldsSeq(report) {
			names = append(names, corev1.UniqueVolumeName(name))
		}
		m.MarkReportedInUse(names)
		for name, v := range m.desired.volumes {
			assert.Equal(t, strings.Contains(report, name), v.reportedInUse, "%s after %q", name, report)
		}
		assert.Equal(t, report == "a b c", m.ReportedInUse())
	}
}

func TestAnyOtherPodCountsForReadWriteOncePod(t *testing.T) { // K-MNT-3
	a := newActual()
	v := a.attach("v", &csi.Spec{}, no)
	a.setPod(v, "u1", &csi.Spec{}, uncertain, "")
	assert.False(t, v.mountedElsewhere("u1"))
	assert.True(t, v.mountedElsewhere("u2"), "also one that is uncertain")
	for modes, want := range map[string]bool{"ReadWriteOncePod": true, "ReadWriteOnce": false, "": false} {
		pv := &corev1.PersistentVolume{}
		if modes != "" {
			pv.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.PersistentVolumeAccessMode(modes)}
		}
		assert.Equal(t, want, exclusive(&csi.Spec{PV: pv}), modes)
	}
}

func TestTheTextOfAWaitThatFailed(t *testing.T) { // K-REC-9
	e := &WaitError{Unmounted: []string{"a", "b"}, Unattached: []string{"a"}, Cause: timedOut, Timeout: true}
	assert.Equal(t, "unmounted volumes=[a b], unattached volumes=[a], failed to process volumes=[]: context deadline exceeded", e.Error())
	var wait *WaitError
	assert.True(t, errors.As(fmt.Errorf("sync pod: %w", e), &wait) && wait.Timeout, "the cause can be distinguished")
}
