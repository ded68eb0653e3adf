package proxy_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/real/proxy"
)

// A call that kills a component outside the pod waits until the reader of the records has killed
// it.
func TestACallWaitsForTheDeathOfItsVictim(t *testing.T) {
	r := start(t)
	r.done("POST", "/faults", fault.Fault{Name: "die", Call: "CreateVolume", Times: 1, Effect: fault.Kill, Victim: fault.Kubelet, RestartAfter: time.Millisecond})
	answered := make(chan error, 1)
	go func() {
		_, err := r.create("pvc-1")
		answered <- err
	}()
	ordered := func(verb string) func() bool {
		return func() bool {
			for _, record := range r.records() {
				if record.K == proxy.Order && record.M == verb && record.Msg == string(fault.Kubelet) {
					return true
				}
			}
			return false
		}
	}
	require.Eventually(t, ordered(proxy.Kill), time.Minute, 10*time.Millisecond)
	assert.Empty(t, answered, "the driver has not seen the call yet")
	r.done("POST", "/killed", nil)
	require.NoError(t, <-answered, "then the driver carries it out")
	require.Eventually(t, ordered(proxy.Start), time.Minute, 10*time.Millisecond)
}

// A killed caller may have exited before the paused proxy sends it the answer. The call ends
// nevertheless.
func TestACallEndsWhenItsCallerIsKilledBeforeTheAnswer(t *testing.T) {
	r := start(t)
	r.done("POST", "/faults", fault.Fault{Name: "die", Call: "CreateVolume", Times: 1, Effect: fault.Kill, Victim: fault.Caller, At: fault.BeforeAnswer})
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		_, _ = csi.NewControllerClient(r.dial("csi-provisioner")).CreateVolume(ctx, &csi.CreateVolumeRequest{Name: "pvc-1"})
	}()
	require.Eventually(t, func() bool {
		return slices.ContainsFunc(r.records(), func(record proxy.Record) bool { return record.K == proxy.Order && record.M == proxy.Kill })
	}, time.Minute, 10*time.Millisecond)
	cancel()
	time.Sleep(100 * time.Millisecond) // the proxy notices while it is paused
	r.done("POST", "/killed", nil)
	require.Eventually(t, func() bool { return len(r.calls()) == 2 }, time.Minute, 10*time.Millisecond)
	assert.Contains(t, r.calls()[1], "Canceled")
}

// A killed caller gets no answer, even if the proxy has not noticed its exit when the answer is
// ready.
func TestAKilledCallerGetsNoAnswer(t *testing.T) {
	r := start(t)
	r.done("POST", "/faults", fault.Fault{Name: "die", Call: "CreateVolume", Times: 1, Effect: fault.Kill, Victim: fault.Caller, At: fault.BeforeAnswer})
	go func() { _, _ = r.create("pvc-1") }()
	require.Eventually(t, func() bool {
		return slices.ContainsFunc(r.records(), func(record proxy.Record) bool { return record.K == proxy.Order && record.M == proxy.Kill })
	}, time.Minute, 10*time.Millisecond)
	r.done("POST", "/killed", nil)
	require.Eventually(t, func() bool { return len(r.calls()) == 2 }, time.Minute, 10*time.Millisecond)
	assert.Contains(t, r.calls()[1], "Canceled")
}

// A sidecar loses its connection when the driver exits, as without a proxy, and gets a new one when
// the driver is back.
func TestASidecarLosesItsConnectionWithTheDriver(t *testing.T) {
	r := start(t)
	_, err := r.create("pvc-1")
	require.NoError(t, err)
	r.done("POST", "/driver/kill", nil)
	require.Eventually(t, func() bool { return r.refused() }, time.Minute, 10*time.Millisecond, "no process listens at the sidecar's socket")
	_, err = r.create("pvc-1")
	assert.Equal(t, codes.Unavailable, status.Code(err))
	r.done("POST", "/driver/start", nil)
	require.Eventually(t, func() bool { _, err := r.create("pvc-1"); return err == nil }, time.Minute, 20*time.Millisecond)
}

// refused reports whether the sidecar's socket exists without a listener.
func (r *running) refused() bool {
	_, err := net.Dial("unix", r.options.Listen["csi-provisioner"])
	return errors.Is(err, syscall.ECONNREFUSED)
}

// A call ends and is recorded after its caller has exited, even if no other call follows its
// release.
func TestACallEndsAfterItsCaller(t *testing.T) {
	r := start(t)
	r.done("POST", "/faults", fault.Fault{Name: "held", Call: "CreateVolume", Times: 1, Effect: fault.HoldRequest})
	ctx, cancel := context.WithCancel(t.Context())
	connection, ended := r.dial("csi-provisioner"), make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = csi.NewControllerClient(connection).CreateVolume(ctx, &csi.CreateVolumeRequest{Name: "pvc-1"})
	}()
	require.Eventually(t, func() bool { return len(r.calls()) == 1 }, time.Minute, 10*time.Millisecond)
	cancel()
	<-ended
	// The answer to a later call of the connection shows that the proxy has read the cancellation.
	_, err := csi.NewIdentityClient(connection).Probe(t.Context(), &csi.ProbeRequest{})
	require.NoError(t, err)
	r.done("DELETE", "/faults?name=held", nil)
	require.Eventually(t, func() bool {
		return slices.ContainsFunc(r.calls(), func(call string) bool { return strings.Contains(call, "CreateVolume Canceled") })
	}, time.Minute, 10*time.Millisecond)
}
