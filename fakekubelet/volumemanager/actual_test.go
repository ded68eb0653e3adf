package volumemanager

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/csisim/csisim/fakekubelet/csi"
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
		assert.Equal(t, after != absent, a.ofPod["u1"]["v"])
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
	assert.True(t, errors.As(fmt.Errorf("sync pod: %w", e), &wait) && wait.Timeout, "the cause can be told")
}
