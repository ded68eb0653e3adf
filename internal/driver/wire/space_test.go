package wire_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

// offered records the calls at which a fault may happen, and chooses one at each.
type offered struct {
	labels []string
	fault  *fault.Fault
}

func (o *offered) AtCall(call fault.Site, _ bool, label string) *fault.Fault {
	o.labels = append(o.labels, fmt.Sprintf("%s, on a node: %t", label, call.Node != ""))
	return o.fault
}

// staged stages a volume, requests capabilities, and stages it again. The strategy chooses this
// fault for each call that is offered to it.
func staged(t *testing.T, f *fault.Fault) (asked, injected []string) {
	chance := &offered{fault: f}
	k := kernel.New(kernel.Options{})
	w := component.NewWorld(k, kind.NewStore(store.Options{Now: k.Now}), trace.NewRecorder(k))
	l := &line{World: w, wire: wire.New(w), server: &server{}, on: machine.NewMemory("node-a")}
	_, err := l.on.BindSocket(socket, machine.Service{Desc: &csi.Node_ServiceDesc, Server: l.server})
	require.NoError(t, err)
	t.Cleanup(func() { k.Close(); l.wire.Close(); l.on.Close() })
	l.wire.Chance = chance
	l.stage(t)
	k.Spawn(nil, "kubelet", func(p *kernel.Process) {
		conn := l.wire.Conn(p, wire.Site{Caller: "kubelet", Driver: "d", Node: "node-a", Machine: l.on, Socket: socket, Deadline: time.Hour})
		_, _ = csi.NewNodeClient(conn).NodeGetCapabilities(context.Background(), &csi.NodeGetCapabilitiesRequest{})
	})
	l.stage(t)
	for _, e := range l.Trace.Events() {
		if e.Kind == trace.Call && e.Injected != "" {
			injected = append(injected, e.Method+": "+e.Injected)
		}
	}
	return chance.labels, injected
}

func TestFaultsAreDrawnAtCallsThatChangeSomething(t *testing.T) {
	const call = "NodeStageVolume of vol-0001 on node-a by d, on a node: true"
	asked, injected := staged(t, nil)
	assert.Equal(t, []string{call, call}, asked)
	assert.Empty(t, injected)

	_, injected = staged(t, &fault.Fault{Effect: fault.LoseAnswer, Code: codes.Unavailable})
	lost := "Node/NodeStageVolume: driver did it, answer lost, code Unavailable"
	assert.Equal(t, []string{lost, lost}, injected)
}
