package pluginmanager_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/world/trace"
)

// K-REG-6
//
// conformance: reg-idle
func TestWithoutSocketsNothingHappens(t *testing.T) {
	w := newWorld(t)
	before := w.Trace.Last()
	w.forth(5 * time.Minute)
	assert.Empty(t, w.story(before))
	assert.Empty(t, w.plugins.Registered())
}

// K-REG-2, K-REG-8: a plugin receives GetInfo wherever its socket is. Then the kubelet registers
// the plugin with the announced endpoint, and unregisters it when the socket is removed.
//
// conformance: reg-socket-lifecycle
func TestTheLifeOfASocket(t *testing.T) {
	for _, dir := range []string{"", "/vendor", "/vendor/driver"} {
		t.Run("plugins_registry"+dir, func(t *testing.T) {
			w := newWorld(t)
			w.serveDriver(endpoint)
			before := w.Trace.Last()
			p := w.servePlugin(registryDir+dir+"/reg.sock", "1.0.0")
			w.quiet()
			announced, ok := w.plugins.Endpoint(regDriver)
			assert.True(t, ok)
			assert.Equal(t, endpoint, announced)
			require.NoError(t, p.Close())
			w.quiet()
			assert.Equal(t, []string{
				"2s kubelet Registration/GetInfo", "2s kubelet Node/NodeGetInfo", "2s MODIFIED nodes", "2s MODIFIED csinodes",
				"2s kubelet Registration/NotifyRegistrationStatus true",
				"4s MODIFIED csinodes", "4s MODIFIED nodes",
			}, w.story(before))
		})
	}
}

// serveNamed serves a driver with another name, and registers it with the kubelet.
func (w *world) serveNamed(name string, versions ...string) *plugin {
	at := endpoint + "-" + name
	w.serveDriver(at).name = name
	p := &plugin{info: &registration.PluginInfo{Type: registration.CSIPlugin, Name: name, Endpoint: at, SupportedVersions: versions}}
	w.present(registryDir+"/"+name+"-reg.sock", p)
	return p
}

// K-REG-7: operations of different sockets do not wait for each other.
//
// conformance: reg-two-sockets-concurrent, reg-unregister-two-sockets, reg-second-driver-other-name
func TestTwoSocketsAreWorkedOnAtOnce(t *testing.T) {
	w := newWorld(t)
	const slow, quick = "a-slow.example.com", "quick.example.com"
	w.wire.Faults.Inject(&fault.Fault{Call: "NodeGetInfo", Driver: slow, Effect: fault.HoldAnswer, Delay: 30 * time.Second})
	first, second := w.serveNamed(slow, "1.0.0"), w.serveNamed(quick, "1.0.0")
	w.forth(2 * time.Second)
	assert.Len(t, second.verdicts, 1, "the slow one is in its way")
	assert.Empty(t, first.verdicts)
	w.quiet()
	assert.Len(t, first.verdicts, 1)
	assert.Equal(t, []string{slow, quick}, w.plugins.Registered())

	require.NoError(t, first.Close())
	require.NoError(t, second.Close())
	w.forth(time.Second)
	assert.Empty(t, w.plugins.Registered())
	assert.Empty(t, w.entries())
}

// K-REG-7: a socket that vanishes during an operation on it is unregistered once, afterwards.
//
// conformance: reg-unregister-one-socket
func TestOneSocketIsWorkedOnByOneOperationAtATime(t *testing.T) {
	w := newWorld(t)
	w.serveDriver(endpoint)
	w.wire.Faults.Inject(&fault.Fault{Call: "NodeGetInfo", Times: 1, Effect: fault.HoldAnswer, Delay: 5 * time.Second})
	p := w.servePlugin(regSocket, "1.0.0")
	w.forth(2 * time.Second)
	require.NoError(t, p.Close())
	w.present(regSocket, p)
	require.NoError(t, p.Close())
	before := w.Trace.Last()
	w.quiet()
	withdrawals := 0
	for _, e := range w.Trace.Events() {
		if e.Seq > before && e.Kind == trace.API && e.Resource == "csinodes" {
			withdrawals++
		}
	}
	assert.Equal(t, 2, withdrawals, "the entry that was under way, and its end")
	assert.Empty(t, w.entries())
}

// K-REG-4
//
// conformance: reg-watcher-path-reused
func TestAReusedPathIsANewPluginEachTime(t *testing.T) {
	w := newWorld(t)
	for round := range 10 {
		name := fmt.Sprintf("plugin-%d.example.com", round)
		w.serveDriver(endpoint + name).name = name
		p := &plugin{info: &registration.PluginInfo{Type: registration.CSIPlugin, Name: name, Endpoint: endpoint + name, SupportedVersions: []string{"1.0.0"}}}
		w.present(regSocket, p)
		w.quiet()
		assert.Equal(t, []string{name}, w.plugins.Registered())
		assert.Len(t, w.calls("Registration/GetInfo"), round+1)
		require.NoError(t, p.Close())
	}
	w.quiet()
	assert.Empty(t, w.plugins.Registered())
}

// K-RPC-10, K-REG-20: the kubelet knows a driver's endpoint while the driver is registered.
//
// conformance: reg-driver-store
func TestTheEndpointOfADriverIsKnownWhileItIsRegistered(t *testing.T) {
	w := newWorld(t)
	w.serveDriver(endpoint)
	known := func() bool { _, ok := w.plugins.Endpoint(regDriver); return ok }
	assert.False(t, known())
	p := w.servePlugin(regSocket, "1.0.0")
	w.quiet()
	assert.True(t, known())
	require.NoError(t, p.Close())
	w.quiet()
	assert.False(t, known())
	w.present(regSocket, p)
	w.quiet()
	assert.True(t, known())

	w.kubelet.Crash()
	require.NoError(t, p.Close())
	w.startKubelet()
	assert.False(t, known(), "a kubelet starts with none")
}
