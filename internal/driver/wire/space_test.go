package wire_test

import (
	"context"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

// offered keeps the fault choices that it is asked about, and takes the last alternative.
type offered struct {
	labels       []string
	alternatives int
}

func (o *offered) Choose(c kernel.Choice) int {
	if c.Kind != kernel.Fault {
		return 0
	}
	o.labels, o.alternatives = append(o.labels, c.Label), c.N
	return c.N - 1
}

func (*offered) String() string { return "offered" }

// staged stages a volume, asks for capabilities, and stages it again, with this fault space.
func staged(t *testing.T, space fault.Space) (*offered, []string) {
	strategy := &offered{}
	k := kernel.New(kernel.Options{Strategy: strategy})
	w := component.NewWorld(k, kind.NewStore(store.Options{Now: k.Now}), trace.NewRecorder(k))
	l := &line{World: w, wire: wire.New(w), server: &server{}, on: machine.NewMemory("node-a")}
	_, err := l.on.BindSocket(socket, machine.Service{Desc: &csi.Node_ServiceDesc, Server: l.server})
	require.NoError(t, err)
	t.Cleanup(func() { k.Close(); l.wire.Close(); l.on.Close() })
	l.wire.DrawFaults(space)
	l.stage(t)
	k.Spawn(nil, "kubelet", func(p *kernel.Process) {
		conn := l.wire.Conn(p, wire.Site{Caller: "kubelet", Driver: "d", Node: "node-a", Machine: l.on, Socket: socket, Deadline: time.Hour})
		_, _ = csi.NewNodeClient(conn).NodeGetCapabilities(context.Background(), &csi.NodeGetCapabilitiesRequest{})
	})
	l.stage(t)
	var injected []string
	for _, e := range l.Trace.Events() {
		if e.Kind == trace.Call && e.Injected != "" {
			injected = append(injected, e.Method+": "+e.Injected)
		}
	}
	return strategy, injected
}

func TestWithoutAFaultSpaceTheStrategyIsAskedForNoFault(t *testing.T) {
	for name, space := range map[string]fault.Space{"none": {}, "no budget": {Kinds: fault.Kinds()}, "no kinds": {Budget: 3}} {
		strategy, injected := staged(t, space)
		assert.Empty(t, strategy.labels, name)
		assert.Empty(t, injected, name)
	}
}

func TestTheStrategyIsAskedAtCallsThatChangeSomethingUntilTheBudgetIsSpent(t *testing.T) {
	const call = "NodeStageVolume of vol-0001 on node-a by d"
	for budget, want := range map[int][]string{1: {call}, 2: {call, call}, 3: {call, call}} {
		strategy, injected := staged(t, fault.Space{Kinds: []fault.Kind{fault.Errors, fault.Lost}, Budget: budget})
		assert.Equal(t, want, strategy.labels)
		assert.Equal(t, 6, strategy.alternatives, "no fault, four codes, and a lost answer")
		assert.Len(t, injected, len(want))
		assert.Equal(t, "Node/NodeStageVolume: driver did it, answer lost, code Unavailable", injected[0])
	}
}
