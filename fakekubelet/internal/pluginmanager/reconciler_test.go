package pluginmanager_test

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	corev1 "k8s.io/api/core/v1"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/store"
)

// K-REG-6, K-REG-19, golden fact 16
//
// conformance: reg-unregister
func TestARemovedSocketUnregistersTheDriverWithinASecond(t *testing.T) {
	w := newWorld(t)
	w.serveDriver(endpoint)
	r := w.startRegistrar(endpoint)
	w.quiet()
	w.until(5300 * time.Millisecond)
	before := w.Trace.Last()
	require.NoError(t, r.Stop())
	w.quiet()

	assert.Equal(t, []string{"6s MODIFIED csinodes", "6s MODIFIED nodes"}, w.story(before))
	assert.Empty(t, w.plugins.Registered())
	assert.Empty(t, w.entries())
	assert.NotContains(t, w.node().Annotations, nodeIDs)
	assert.Equal(t, nodeName, w.node().Labels[zone], "labels stay")
}

// K-REG-15, golden facts 18 and 19: as in registration.jsonl from 11.3 s on.
//
// conformance: reg-state-identity-must-match, reg-state-new-identity-on-update
func TestAKilledRegistrarIsNoticedWhenItsSocketIsMadeAgain(t *testing.T) {
	w := newWorld(t)
	w.serveDriver(endpoint)
	r := w.startRegistrar(endpoint)
	w.quiet()
	before := w.Trace.Last()
	r.Kill()
	w.until(15_030 * time.Millisecond)
	assert.Empty(t, w.story(before))
	assert.Equal(t, []string{regDriver}, w.plugins.Registered())

	r.Start()
	w.quiet()
	assert.Equal(t, []string{
		"15.03s registrar Identity/GetPluginInfo",
		"16s MODIFIED csinodes",
		"16s MODIFIED nodes",
		"17s kubelet Registration/GetInfo",
		"17s kubelet Node/NodeGetInfo",
		"17s MODIFIED nodes",
		"17s MODIFIED csinodes",
		"17s kubelet Registration/NotifyRegistrationStatus true",
	}, w.story(before))
}

// Golden fact 18, registration.jsonl from 22 s on: the registrar exits when the kubelet refuses it,
// and leaves its socket. The kubelet fails to dial the socket. A later dial reaches the next
// instance before the kubelet handles the watcher's event.
func TestARefusedRegistrarIsRestarted(t *testing.T) {
	w := newWorld(t)
	w.serveDriver(endpoint)
	w.wire.Faults.Inject(&fault.Fault{Call: "NodeGetInfo", Times: 2, Effect: fault.Answer, Code: codes.Internal})
	w.until(22_030 * time.Millisecond)
	before := w.Trace.Last()
	r := w.startRegistrar(endpoint)
	w.until(34_130 * time.Millisecond)
	assert.False(t, r.Running())
	r.Start()
	w.until(40_060 * time.Millisecond)
	assert.False(t, r.Running())
	r.Start()
	w.quiet()

	assert.Equal(t, []string{
		"22.03s registrar Identity/GetPluginInfo",
		"23s kubelet Registration/GetInfo",
		"23s kubelet Node/NodeGetInfo Internal",
		"23s kubelet Registration/NotifyRegistrationStatus false",
		"23s registrar exit",
		"24s kubelet Registration/GetInfo DeadlineExceeded",
		"34.13s registrar Identity/GetPluginInfo",
		"36s kubelet Registration/GetInfo",
		"36s kubelet Node/NodeGetInfo Internal",
		"36s kubelet Registration/NotifyRegistrationStatus false",
		"36s registrar exit",
		"39s kubelet Registration/GetInfo",
		"40.06s registrar Identity/GetPluginInfo",
		"41.6s kubelet Node/NodeGetInfo",
		"41.6s MODIFIED nodes",
		"41.6s MODIFIED csinodes",
		"41.6s kubelet Registration/NotifyRegistrationStatus true",
		"42s MODIFIED csinodes",
		"42s MODIFIED nodes",
		"43s kubelet Registration/GetInfo",
		"43s kubelet Node/NodeGetInfo",
		"43s MODIFIED nodes",
		"43s MODIFIED csinodes",
		"43s kubelet Registration/NotifyRegistrationStatus true",
	}, w.story(before))
	assert.True(t, r.Registered())
}

// K-REG-8: the dial's deadline
func TestADeadSocketIsDialledForTenSecondsAndKeepsNoRunBusy(t *testing.T) {
	w := newWorld(t)
	w.servePlugin(regSocket, "1.0.0").Abandon()
	w.quiet() // the event has no effect
	w.until(30 * time.Second)
	assert.Equal(t, []float64{2, 13, 25}, w.times("Registration/GetInfo"))
	first := w.calls("Registration/GetInfo")[0]
	assert.Equal(t, 10*time.Second, first.Took)
	assert.Equal(t, "RegisterPlugin error -- dial failed at socket "+regSocket+", err: context deadline exceeded", first.Message)
}

// K-REG-17
func TestTheEndOfASocketThatNeverRegisteredChangesNothing(t *testing.T) {
	w := newWorld(t)
	before := w.Trace.Last()
	p := w.servePlugin(regSocket)
	w.forth(time.Second)
	require.NoError(t, p.Close())
	w.quiet()
	assert.Equal(t, []string{
		"2s kubelet Registration/GetInfo", "2s kubelet Registration/NotifyRegistrationStatus false",
	}, w.story(before))
}

// K-RACE-1
func TestASocketThatVanishesDuringRegistrationIsUnregisteredAfterIt(t *testing.T) {
	w := newWorld(t)
	w.serveDriver(endpoint)
	w.wire.Faults.Inject(&fault.Fault{Call: "NodeGetInfo", Times: 1, Effect: fault.HoldAnswer, Delay: 5 * time.Second})
	p := w.servePlugin(regSocket, "1.0.0")
	w.forth(2 * time.Second)
	require.Len(t, w.times("Node/NodeGetInfo"), 1)
	require.NoError(t, p.Close())
	w.forth(3 * time.Second)
	assert.Equal(t, []string{regDriver}, w.plugins.Registered(), "usable until NodeGetInfo is over")
	w.quiet()
	assert.Empty(t, w.plugins.Registered())
	assert.Empty(t, w.entries())
}

// K-RACE-2
func TestASocketThatIsReplacedDuringRegistrationIsRegisteredAgain(t *testing.T) {
	w := newWorld(t)
	w.serveDriver(endpoint)
	w.wire.Faults.Inject(&fault.Fault{Call: "NodeGetInfo", Times: 1, Effect: fault.HoldAnswer, Delay: 4500 * time.Millisecond})
	p := w.servePlugin(regSocket, "1.0.0")
	w.forth(2 * time.Second)
	require.NoError(t, p.Close())
	w.present(regSocket, p)
	w.quiet()
	assert.Equal(t, []float64{2, 8}, w.times("Node/NodeGetInfo"), "unregistered at 7 s")
	assert.Equal(t, []string{regDriver}, w.plugins.Registered())
}

// K-RACE-3
func TestTheOldRegistrarOfARollingUpdateRemovesTheNewSocket(t *testing.T) {
	w := newWorld(t)
	w.serveDriver(endpoint)
	old := w.servePlugin(regSocket, "1.0.0")
	w.quiet()
	old.Abandon()
	require.NoError(t, w.machine.Remove(regSocket))
	w.servePlugin(regSocket, "1.0.0")
	require.NoError(t, w.machine.Remove(regSocket))
	w.quiet()
	assert.Empty(t, w.plugins.Registered())
}

// K-REG-20
func TestAKubeletThatRestartsRegistersAgain(t *testing.T) {
	w := newWorld(t)
	w.serveDriver(endpoint)
	r := w.startRegistrar(endpoint)
	w.quiet()
	w.kubelet.Crash()
	before := w.Trace.Last()
	w.startKubelet()

	assert.Equal(t, []string{
		"4s kubelet Registration/GetInfo",
		"4s kubelet Node/NodeGetInfo",
		"4s kubelet Registration/NotifyRegistrationStatus true",
	}, w.story(before), "nothing to write: all is as it was")
	assert.True(t, r.Registered())
}

// K-REG-20
func TestADriverThatVanishedWhileTheKubeletWasDownStaysInTheCSINode(t *testing.T) {
	w := newWorld(t)
	w.serveDriver(endpoint)
	r := w.startRegistrar(endpoint)
	w.quiet()
	w.kubelet.Crash()
	require.NoError(t, r.Stop())
	w.startKubelet()
	w.quiet()
	assert.Len(t, w.entries(), 1)
	assert.Empty(t, w.plugins.Registered())
}

// K-NODE-12, K-REG-11
func TestAnotherNodeIDAfterAKubeletRestartNeedsTwoAttempts(t *testing.T) {
	w := newWorld(t)
	d := w.serveDriver(endpoint)
	p := w.servePlugin(regSocket, "1.0.0")
	w.quiet()
	w.kubelet.Crash()
	d.nodeID = "renamed"
	w.startKubelet()
	w.quiet()
	require.Len(t, p.verdicts, 3)
	assert.Contains(t, p.verdicts[1].Error, "field is immutable")
	assert.True(t, p.verdicts[2].PluginRegistered)
	assert.Equal(t, "renamed", w.entries()[0].NodeID)
}

// Golden fact 63, other-node-id.jsonl
func TestAnotherNodeIDAfterARestartOfTheDriver(t *testing.T) {
	w := newWorld(t)
	d := w.serveDriver(endpoint)
	r := w.startRegistrar(endpoint)
	w.until(9_943 * time.Millisecond)
	before := w.Trace.Last()
	require.NoError(t, r.Stop())
	d.nodeID = "node-a-renamed"
	r.Start()
	w.quiet()
	assert.Equal(t, []string{
		"9.943s registrar Identity/GetPluginInfo",
		"10s MODIFIED csinodes",
		"10s MODIFIED nodes",
		"11s kubelet Registration/GetInfo",
		"11s kubelet Node/NodeGetInfo",
		"11s MODIFIED nodes",
		"11s MODIFIED csinodes",
		"11s kubelet Registration/NotifyRegistrationStatus true",
	}, w.story(before))
	assert.Equal(t, `{"reg.csi.example.com":"node-a-renamed"}`, w.node().Annotations[nodeIDs])
	assert.Equal(t, "node-a-renamed", w.entries()[0].NodeID)
}

// Golden fact 61, other-endpoint.jsonl
func TestAnotherEndpointReplacesTheFirst(t *testing.T) {
	w := newWorld(t)
	w.serveDriver(endpoint)
	r := w.startRegistrar(endpoint)
	w.quiet()
	const other = machine.KubeletDir + "/plugins/" + regDriver + "-v2/csi.sock"
	w.serveDriver(other)
	require.NoError(t, r.Stop())
	w.startRegistrar(other)
	w.quiet()
	socket, ok := w.plugins.Endpoint(regDriver)
	assert.True(t, ok)
	assert.Equal(t, other, socket)
}

// Golden fact 64
func TestAnotherTopologyValueIsRefused(t *testing.T) {
	w := newWorld(t)
	d := w.serveDriver(endpoint)
	r := w.startRegistrar(endpoint)
	w.quiet()
	require.NoError(t, r.Stop())
	d.topology = map[string]string{zone: "zone-2"}
	r.Start()
	w.quiet()
	assert.False(t, r.Running())
	assert.Empty(t, w.entries())
	assert.Empty(t, w.plugins.Registered())
}

// K-PATH-2, K-PATH-11
func TestTheNamesOfRegistrationSockets(t *testing.T) {
	for name, tt := range map[string]struct {
		socket string
		want   bool
	}{
		"in the directory":           {registryDir + "/any-name", true},
		"in a sub-directory":         {registryDir + "/vendor/driver/reg.sock", true},
		"its name begins with a dot": {registryDir + "/.reg.sock", false},
		"outside":                    {machine.KubeletDir + "/plugins/driver/reg.sock", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.serveDriver(endpoint)
			p := w.servePlugin(tt.socket, "1.0.0")
			w.quiet()
			assert.Equal(t, tt.want, len(p.verdicts) == 1)
		})
	}
	t.Run("a file that is no socket", func(t *testing.T) {
		w := newWorld(t)
		before := w.Trace.Last()
		require.NoError(t, w.machine.WriteFile(registryDir+"/reg.sock", nil, 0o600))
		w.forth(time.Minute)
		assert.Empty(t, w.story(before))
	})
}

// K-REG-2
func TestSocketsThatAreThereAtTheStartAreFound(t *testing.T) {
	m := machine.NewMemory(nodeName)
	_, err := m.Lstat(registryDir)
	require.ErrorIs(t, err, os.ErrNotExist)
	w := worldOn(t, m, kernel.Calm{})
	info, err := m.Lstat(registryDir)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o755), info.Mode().Perm())

	w.kubelet.Crash()
	w.serveDriver(endpoint)
	w.servePlugin(regSocket, "1.0.0")
	w.startKubelet()
	assert.Equal(t, []string{regDriver}, w.plugins.Registered())
	assert.Equal(t, []float64{2}, w.times("Registration/GetInfo"), "at the first pass")
}

func TestARunIsAFunctionOfItsSeed(t *testing.T) {
	run := func(seed uint64) uint64 {
		w := newWorldWith(t, kernel.NewRandom(seed))
		w.serveDriver(endpoint)
		r := w.startRegistrar(endpoint)
		w.wire.Faults.Inject(&fault.Fault{Call: "NodeGetInfo", Times: 1, Effect: fault.Answer, Code: codes.Internal})
		w.forth(20 * time.Second)
		r.Start()
		w.forth(20 * time.Second)
		return w.Kernel.Hash()
	}
	for seed := range uint64(20) {
		assert.Equal(t, run(seed), run(seed), "seed %d", seed)
	}
}

// K-REG-5: sockets belong to the processes that created them. Neither a refusal, nor the end of a
// registration, nor a restart of the kubelet removes a socket.
func TestTheKubeletRemovesNoSocket(t *testing.T) {
	w := newWorld(t)
	w.serveDriver(endpoint)
	p := w.servePlugin(regSocket, "1.0.0")
	w.quiet()
	require.Equal(t, []string{regDriver}, w.plugins.Registered())
	w.kubelet.Crash()
	w.startKubelet()
	second := registryDir + "/second-reg.sock"
	refused := w.servePlugin(second, "1.0.0")
	w.forth(5 * time.Second)
	require.NotEmpty(t, refused.verdicts)
	p.Abandon() // the server of this socket has exited
	w.forth(time.Minute)
	for _, socket := range []string{endpoint, regSocket, second} {
		_, err := w.machine.Lstat(socket)
		assert.NoError(t, err, socket)
	}
}

// K-REG-18: if the clean-up after a vanished socket fails, its remains stay and there is no retry.
// The driver counts as unregistered from the beginning.
func TestUnregisteringNeverFails(t *testing.T) {
	w := newWorld(t)
	w.serveDriver(endpoint)
	p := w.servePlugin(regSocket, "1.0.0")
	w.quiet()
	_, err := store.Modify(w.Store, store.Key{Name: nodeName}, func(n *corev1.Node) { n.Annotations[nodeIDs] = "no JSON" })
	require.NoError(t, err)
	require.NoError(t, p.Close())
	before := w.Trace.Last()
	w.forth(5 * time.Minute)
	assert.Empty(t, w.plugins.Registered())
	assert.Empty(t, w.entries(), "the CSINode comes first")
	assert.Equal(t, "no JSON", w.node().Annotations[nodeIDs])
	assert.Len(t, w.story(before), 1, "the write of the CSINode")

	_, err = store.Modify(w.Store, store.Key{Name: nodeName}, func(n *corev1.Node) { delete(n.Annotations, nodeIDs) })
	require.NoError(t, err)
	w.present(regSocket, &plugin{info: p.info})
	w.forth(2 * time.Second)
	assert.Equal(t, []string{regDriver}, w.plugins.Registered(), "no backoff is left of it")
}
