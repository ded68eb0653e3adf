package pluginmanager_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	registration "k8s.io/kubelet/pkg/apis/pluginregistration/v1"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/world/kernel"
)

// K-REG-8, golden fact 17
//
// conformance: reg-register, unit-get-info-ok
func TestTheHandshakeInItsOrder(t *testing.T) {
	w := newWorld(t)
	w.serveDriver(endpoint)
	w.until(1500 * time.Millisecond)
	before := w.Trace.Last()
	r := w.startRegistrar(endpoint)
	w.quiet()

	assert.Equal(t, []string{
		"1.5s registrar Identity/GetPluginInfo",
		"2s kubelet Registration/GetInfo",
		"2s kubelet Node/NodeGetInfo",
		"2s MODIFIED nodes",
		"2s MODIFIED csinodes",
		"2s kubelet Registration/NotifyRegistrationStatus true",
	}, w.story(before))
	assert.True(t, r.Registered())
	assert.Equal(t, []string{regDriver}, w.plugins.Registered())
	socket, ok := w.plugins.Endpoint(regDriver)
	assert.True(t, ok)
	assert.Equal(t, endpoint, socket)
	assert.Equal(t, `{"reg.csi.example.com":"node-a"}`, w.node().Annotations[nodeIDs])
	require.Len(t, w.entries(), 1)
	assert.Equal(t, int32(7), *w.entries()[0].Allocatable.Count)
}

// K-REG-8: step 4
func TestAPluginWithoutEndpointServesAtItsRegistrationSocket(t *testing.T) {
	w := newWorld(t)
	p := w.servePlugin(regSocket, "1.0.0")
	p.info.Endpoint = ""
	w.forth(time.Second)
	require.NotEmpty(t, p.verdicts)
	assert.Contains(t, p.verdicts[0].Error, "unknown service csi.v1.Node")
}

// K-REG-11, K-REG-13: the answer to the plugin, and the things that are left behind.
func TestFailuresOfTheHandshake(t *testing.T) {
	const prefix = "RegisterPlugin error -- "
	for name, tt := range map[string]struct {
		plugin func(p *plugin)
		driver func(d *driver)
		fault  *fault.Fault
		want   string // error for the plugin
		called bool   // NodeGetInfo was
	}{
		"unknown type": {
			plugin: func(p *plugin) { p.info.Type = "DevicePlugin" },
			want:   prefix + "no handler registered for plugin type: DevicePlugin at socket " + regSocket,
		},
		"no versions": {
			plugin: func(p *plugin) { p.info.SupportedVersions = nil },
			want:   prefix + `plugin validation failed with err: validation failed for CSI Driver reg.csi.example.com at endpoint ` + endpoint + `: kubernetes.io/csi: ValidatePlugin for CSI driver "reg.csi.example.com" failed. Plugin returned an empty list for supported versions`,
		},
		"NodeGetInfo fails": {
			fault:  &fault.Fault{Call: "NodeGetInfo", Times: 1, Effect: fault.Answer, Code: codes.Internal, Message: "no backend"},
			want:   prefix + "plugin registration failed with err: rpc error: code = Internal desc = no backend",
			called: true,
		},
		"NodeGetInfo hangs": {
			fault:  &fault.Fault{Call: "NodeGetInfo", Times: 1, Effect: fault.Hang},
			want:   prefix + "plugin registration failed with err: rpc error: code = DeadlineExceeded desc = context deadline exceeded",
			called: true,
		},
		"no node id": {
			driver: func(d *driver) { d.nodeID = "" },
			want:   prefix + "plugin registration failed with err: error adding CSI driver node info: driverNodeID must not be empty",
			called: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			d := w.serveDriver(endpoint)
			p := w.servePlugin(regSocket, "1.0.0")
			if tt.plugin != nil {
				tt.plugin(p)
			}
			if tt.driver != nil {
				tt.driver(d)
			}
			if tt.fault != nil {
				w.wire.Faults.Inject(tt.fault)
			}
			require.Equal(t, kernel.Done, w.Kernel.Run(kernel.Until{Cond: func() bool { return len(p.verdicts) == 1 }}))

			assert.False(t, p.verdicts[0].PluginRegistered)
			assert.Equal(t, tt.want, p.verdicts[0].Error)
			assert.Equal(t, tt.called, len(w.times("Node/NodeGetInfo")) == 1)
			assert.Empty(t, w.plugins.Registered())
			assert.Empty(t, w.entries())
			assert.Empty(t, w.node().Annotations[nodeIDs])
		})
	}
}

// K-REG-7: a failed attempt is repeated from the beginning, at the passes that follow 0.5, 1, 2, 4
// ... s.
func TestAFailedHandshakeIsRepeatedWithBackoff(t *testing.T) {
	w := newWorld(t)
	w.serveDriver(endpoint)
	w.wire.Faults.Inject(&fault.Fault{Call: "NodeGetInfo", Times: 4, Effect: fault.Answer, Code: codes.Internal})
	from := w.Kernel.Elapsed().Seconds()
	p := w.servePlugin(regSocket, "1.0.0")
	w.quiet()

	want := []float64{from + 1, from + 2, from + 4, from + 7, from + 12}
	assert.Equal(t, want, w.times("Registration/GetInfo"))
	assert.Equal(t, want, w.times("Node/NodeGetInfo"), "K-REG-12: one NodeGetInfo per attempt")
	require.Len(t, p.verdicts, 5)
	assert.True(t, p.verdicts[4].PluginRegistered)
}

// K-REG-7
func TestTheBackoffEndsAtTwoMinutesAndIsNotResetByANewSocket(t *testing.T) {
	w := newWorld(t)
	p := w.servePlugin(regSocket) // no versions: always refused
	w.forth(20 * time.Minute)
	at := w.times("Registration/GetInfo")
	last := at[len(at)-1]
	assert.InDelta(t, 123, last-at[len(at)-2], 1)

	w.until(time.Duration(last+10) * time.Second)
	require.NoError(t, p.Close())
	w.present(regSocket, p)
	w.until(time.Duration(last+120) * time.Second)
	assert.Equal(t, last, w.times("Registration/GetInfo")[len(at)-1])
	assert.Len(t, w.times("Registration/GetInfo"), len(at), "the new socket has to wait, too")
	w.forth(5 * time.Second)
	assert.Len(t, w.times("Registration/GetInfo"), len(at)+1)
}

// K-REG-11: the last row
func TestAPluginThatFailsTheNotificationIsUnregistered(t *testing.T) {
	w := newWorld(t)
	w.serveDriver(endpoint)
	before := w.Trace.Last()
	p := w.servePlugin(regSocket, "1.0.0")
	p.deaf = true
	w.forth(time.Second)

	assert.Equal(t, []string{
		"2s kubelet Registration/GetInfo",
		"2s kubelet Node/NodeGetInfo",
		"2s MODIFIED nodes",
		"2s MODIFIED csinodes",
		"2s kubelet Registration/NotifyRegistrationStatus Internal true",
		"2s MODIFIED csinodes",
		"2s MODIFIED nodes",
	}, w.story(before))
	assert.Empty(t, w.plugins.Registered())
}

// K-RACE-5
func TestADriverCanBeUsedBeforeItsRegistrationIsOver(t *testing.T) {
	w := newWorld(t)
	w.serveDriver(endpoint)
	w.wire.Faults.Inject(&fault.Fault{Call: "NodeGetInfo", Times: 1, Effect: fault.HoldAnswer, Delay: 30 * time.Second})
	w.servePlugin(regSocket, "1.0.0")
	var seen [][]string
	w.plugins.OnChange(func() { seen = append(seen, w.plugins.Registered()) })
	w.forth(10 * time.Second)
	assert.Equal(t, [][]string{{regDriver}}, seen)
	assert.Empty(t, w.entries())
	w.quiet()
	assert.Len(t, w.entries(), 1)
}

// K-REG-9, K-REG-10
//
// conformance: reg-versions-01, reg-versions-02, reg-versions-03, reg-versions-05, reg-versions-06,
// reg-versions-08, reg-versions-09, reg-versions-13
func TestVersions(t *testing.T) {
	const refused = `RegisterPlugin error -- plugin validation failed with err: validation failed for CSI Driver reg.csi.example.com at endpoint ` + endpoint + `: kubernetes.io/csi: ValidatePlugin for CSI driver "reg.csi.example.com" failed. `
	for name, tt := range map[string]struct {
		versions []string
		want     string // beginning of the refusal; empty if registered
	}{
		"as the registrar says":    {[]string{"1.0.0"}, ""},
		"leading v, short, suffix": {[]string{"v1.0-beta3"}, ""},
		"some are too new":         {[]string{"2.0.0", "1.2.0", "3.1"}, ""},
		"some are garbage":         {[]string{"one", "1.0"}, ""},
		"leading v":                {[]string{"v1.0.0"}, ""},
		"some are too old":         {[]string{"0.2.0", "v1.0.0"}, ""},
		"some are older":           {[]string{"0.2.0", "v1.2.3"}, ""},
		"old, new and right":       {[]string{"v1.2.3", "v0.3.0", "2.0.1"}, ""},
		"old, far too new, right":  {[]string{"v1.2.3", "4.9.12", "v0.3.0", "2.0.1"}, ""},
		"only older":               {[]string{"0.2.0"}, refused + `None of the versions specified ["0.2.0"] are supported. err=`},
		"only words":               {[]string{"var", "boo", "foo"}, refused + `None of the versions specified ["var" "boo" "foo"] are supported. err=`},
		"only old":                 {[]string{"0.3.0"}, refused + `None of the versions specified ["0.3.0"] are supported. err=`},
		"only new":                 {[]string{"2.0.0"}, refused + `None of the versions specified ["2.0.0"] are supported. err=`},
		"only garbage":             {[]string{"1"}, refused + `None of the versions specified ["1"] are supported. err=`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.serveDriver(endpoint)
			p := w.servePlugin(regSocket, tt.versions...)
			w.forth(time.Second)
			require.NotEmpty(t, p.verdicts)
			assert.Equal(t, tt.want == "", p.verdicts[0].PluginRegistered)
			assert.Contains(t, p.verdicts[0].Error, tt.want)
		})
	}
}

// K-REG-10, golden fact 62
func TestASecondPluginOfTheSameNameAndVersionIsRefused(t *testing.T) {
	w := newWorld(t)
	w.serveDriver(endpoint)
	first := w.servePlugin(regSocket, "1.0.0")
	w.quiet()
	other := w.serveDriver(endpoint + "-b")
	other.nodeID = "node-b"
	second := w.servePlugin(regSocket+"-b.sock", "1.0.0")
	second.info.Endpoint = endpoint + "-b"
	w.forth(time.Second)

	require.Len(t, second.verdicts, 1)
	assert.Equal(t, `RegisterPlugin error -- plugin validation failed with err: validation failed for CSI Driver reg.csi.example.com at endpoint `+endpoint+`-b: kubernetes.io/csi: ValidatePlugin for CSI driver "reg.csi.example.com" failed. `+
		`Another driver with the same name is already registered with a higher supported version: "1.0.0"`, second.verdicts[0].Error)
	assert.Equal(t, nodeName, w.entries()[0].NodeID, "the registration of that name is untouched")

	w.forth(4 * time.Second)
	require.NoError(t, first.Close())
	w.forth(1500 * time.Millisecond)
	assert.Empty(t, w.entries(), "the name is missing until the second one's next try")
	w.quiet()
	assert.Equal(t, "node-b", w.entries()[0].NodeID)
	socket, _ := w.plugins.Endpoint(regDriver)
	assert.Equal(t, endpoint+"-b", socket)
}

// K-REG-10, K-REG-16, K-RACE-4
//
// conformance: reg-second-driver-same-name-newer-version
func TestANewerVersionReplacesTheOlderOne(t *testing.T) {
	w := newWorld(t)
	w.serveDriver(endpoint)
	first := w.servePlugin(regSocket, "1.0.0")
	w.quiet()
	second := w.servePlugin(regSocket+"-b.sock", "1.1.0")
	w.quiet()
	require.Len(t, second.verdicts, 1)
	assert.True(t, second.verdicts[0].PluginRegistered)

	require.NoError(t, second.Close())
	w.quiet()
	assert.Empty(t, w.plugins.Registered(), "unregistered by name although the first socket is there")
	assert.Empty(t, w.entries())

	require.NoError(t, first.Close())
	w.present(regSocket, first)
	w.quiet()
	assert.Equal(t, []string{regDriver}, w.plugins.Registered())
}

// K-REG-14
func TestAFailedReplacementWipesThePreviousRegistration(t *testing.T) {
	w := newWorld(t)
	w.serveDriver(endpoint)
	w.servePlugin(regSocket, "1.0.0")
	w.quiet()
	w.wire.Faults.Inject(&fault.Fault{Call: "NodeGetInfo", Times: 1, Effect: fault.Answer, Code: codes.Internal})
	w.servePlugin(regSocket+"-b.sock", "1.1.0")
	w.forth(time.Second)
	assert.Empty(t, w.plugins.Registered())
	assert.Empty(t, w.entries())
}

// K-REG-11: two sockets with one name pass validation at the same time; one of them fails at the
// second check.
func TestTheLoserOfARaceLeavesTheWinnerAlone(t *testing.T) {
	lost := 0
	for seed := range uint64(200) {
		w := newWorldWith(t, kernel.NewRandom(seed))
		w.serveDriver(endpoint)
		w.wire.Faults.Inject(&fault.Fault{Call: "NodeGetInfo", Effect: fault.HoldAnswer, Delay: 100 * time.Millisecond})
		plugins := []*plugin{w.servePlugin(regSocket, "1.0.0"), w.servePlugin(regSocket+"-b.sock", "1.0.0")}
		w.forth(1900 * time.Millisecond)

		var verdicts []*registration.RegistrationStatus
		for _, p := range plugins {
			verdicts = append(verdicts, p.verdicts...)
		}
		accepted := 0
		for _, v := range verdicts {
			if v.PluginRegistered {
				accepted++
			}
		}
		require.Equal(t, 1, accepted, "seed %d", seed)
		assert.Equal(t, []string{regDriver}, w.plugins.Registered())
		assert.Len(t, w.entries(), 1)
		for _, v := range verdicts {
			if !v.PluginRegistered && strings.Contains(v.Error, "plugin registration failed with err: kubernetes.io/csi: RegisterPlugin for CSI driver") {
				lost++
			}
		}
	}
	assert.Positive(t, lost, "no order of steps showed the race")
}

// K-TRACE-1: a driver registers for the first time, or again with the same node id and topology.
// The kubelet writes the Node in both cases because of the topology.
func TestTheStoryOfARegistration(t *testing.T) {
	for _, again := range []bool{false, true} {
		w := newWorld(t)
		w.serveDriver(endpoint)
		if again {
			w.servePlugin(regSocket, "1.0.0")
			w.quiet()
			require.Equal(t, []string{regDriver}, w.plugins.Registered())
		}
		before := w.Trace.Last()
		if again {
			w.kubelet.Crash()
			w.startKubelet() // the kubelet finds the socket
		} else {
			w.servePlugin(regSocket, "1.0.0")
		}
		w.quiet()
		var story []string
		for _, line := range w.story(before) {
			_, what, _ := strings.Cut(line, "s ")
			story = append(story, what)
		}
		want := []string{"kubelet Registration/GetInfo", "kubelet Node/NodeGetInfo", "MODIFIED nodes", "MODIFIED csinodes", "kubelet Registration/NotifyRegistrationStatus true"}
		if again { // a write without a change does not count, and the CSINode is already correct
			want = slices.Concat(want[:2], want[4:])
		}
		assert.Equal(t, want, story)
	}
}

// K-TRACE-12: after a failed NodeGetInfo the whole registration is retried one, three and about
// five seconds after the first attempt. No attempt changes the Node or the CSINode.
func TestTheStoryOfARegistrationThatFails(t *testing.T) {
	w := newWorld(t)
	w.serveDriver(endpoint)
	w.wire.Faults.Inject(&fault.Fault{Call: "NodeGetInfo", Effect: fault.Answer, Code: codes.Unavailable})
	before := w.Trace.Last()
	w.servePlugin(regSocket, "1.0.0")
	w.forth(8 * time.Second)
	var at []float64
	story := w.story(before)
	require.Zero(t, len(story)%3)
	for attempt := range slices.Chunk(story, 3) {
		second, _, _ := strings.Cut(attempt[0], "s ")
		seconds, err := strconv.ParseFloat(second, 64)
		require.NoError(t, err)
		at = append(at, seconds)
		assert.Equal(t, []string{
			second + "s kubelet Registration/GetInfo",
			second + "s kubelet Node/NodeGetInfo Unavailable",
			second + "s kubelet Registration/NotifyRegistrationStatus false",
		}, attempt)
	}
	require.Len(t, at, 4)
	assert.InDeltaSlice(t, []float64{at[0], at[0] + 1, at[0] + 3, at[0] + 5}, at, 1)
}
