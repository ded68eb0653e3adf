package wire_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/api/kind"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/component"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/store"
	"github.com/csisim/csisim/internal/world/trace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const socket = "/csi/csi.sock"

// server answers NodeStageVolume as a test requires.
type server struct {
	csi.UnimplementedNodeServer
	calls []string // staging paths in the order of arrival
	stage func(context.Context) error
}

func (s *server) NodeStageVolume(ctx context.Context, r *csi.NodeStageVolumeRequest) (*csi.NodeStageVolumeResponse, error) {
	s.calls = append(s.calls, r.GetStagingTargetPath())
	if s.stage != nil {
		return nil, s.stage(ctx)
	}
	return &csi.NodeStageVolumeResponse{}, nil
}

// line is a wire with one server at its end.
type line struct {
	*component.World
	wire   *wire.Wire
	server *server
	on     machine.Machine
}

func newLine(t *testing.T, on machine.Machine, patience time.Duration) *line {
	k := kernel.New(kernel.Options{Patience: patience})
	w := component.NewWorld(k, kind.NewStore(store.Options{Now: k.Now}), trace.NewRecorder(k))
	l := &line{World: w, wire: wire.New(w), server: &server{}, on: on}
	_, err := on.BindSocket(socket, machine.Service{Desc: &csi.Node_ServiceDesc, Server: l.server})
	require.NoError(t, err)
	t.Cleanup(func() { k.Close(); l.wire.Close(); on.Close() })
	return l
}

// stage makes one call with a deadline of two minutes, and returns its error and the virtual time
// at which its caller received it.
func (l *line) stage(t *testing.T) (at time.Duration, failure error) {
	t.Helper()
	done := false
	l.Kernel.Spawn(nil, "kubelet", func(p *kernel.Process) {
		conn := l.wire.Conn(p, wire.Site{
			Caller: "kubelet", Driver: "d", Node: "node-a", Machine: l.on, Socket: socket, Deadline: p.Elapsed() + 2*time.Minute,
		})
		_, failure = csi.NewNodeClient(conn).NodeStageVolume(context.Background(), &csi.NodeStageVolumeRequest{
			VolumeId: "vol-0001", StagingTargetPath: "/var/lib/kubelet/x",
			VolumeCapability: &csi.VolumeCapability{
				AccessType: &csi.VolumeCapability_Mount{Mount: &csi.VolumeCapability_MountVolume{}},
				AccessMode: &csi.VolumeCapability_AccessMode{Mode: csi.VolumeCapability_AccessMode_SINGLE_NODE_WRITER},
			},
		})
		at, done = p.Elapsed(), true
	})
	l.Kernel.Run(kernel.Until{Cond: func() bool { return done }})
	require.NoError(t, l.Kernel.Err())
	return at, failure
}

func (l *line) call(t *testing.T) *trace.Event {
	t.Helper()
	for _, e := range l.Trace.Events() {
		if e.Kind == trace.Call {
			return e
		}
	}
	t.Fatal("no call was recorded")
	return nil
}

func machines(t *testing.T) map[string]machine.Machine {
	disk, err := machine.NewDisk("node-a", t.TempDir())
	require.NoError(t, err)
	return map[string]machine.Machine{"memory": machine.NewMemory("node-a"), "disk": disk}
}

func TestACallIsRecordedAndTakesNoVirtualTime(t *testing.T) {
	for name, m := range machines(t) {
		t.Run(name, func(t *testing.T) {
			l := newLine(t, m, 0)
			at, err := l.stage(t)
			require.NoError(t, err)
			assert.Zero(t, at)
			assert.Equal(t, []string{m.ProgramPath("/var/lib/kubelet/x")}, l.server.calls, "paths are those of the driver's machine")
			e := l.call(t)
			assert.Equal(t, "Node/NodeStageVolume", e.Method)
			assert.Equal(t, "/var/lib/kubelet/x", e.Request.(*csi.NodeStageVolumeRequest).StagingTargetPath, "and in the trace those of the node")
			assert.Empty(t, e.Code)
		})
	}
}

func TestADriversErrorReachesTheCallerUnchanged(t *testing.T) {
	for name, m := range machines(t) {
		t.Run(name, func(t *testing.T) {
			l := newLine(t, m, 0)
			l.server.stage = func(context.Context) error { return status.Error(codes.Aborted, "busy") }
			_, err := l.stage(t)
			assert.Equal(t, codes.Aborted, status.Code(err))
			assert.Equal(t, "Aborted", l.call(t).Code)
			assert.Equal(t, "busy", l.call(t).Message)
		})
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		name   string
		fault  fault.Fault
		code   codes.Code
		at     time.Duration
		driver int // calls that the driver had received when the caller got its answer
		later  int // and at the end
	}{
		{"an answer of its own", fault.Fault{Effect: fault.Answer, Code: codes.Internal}, codes.Internal, 0, 0, 0},
		{"a lost answer", fault.Fault{Effect: fault.LoseAnswer, Code: codes.Unavailable}, codes.Unavailable, 0, 1, 1},
		{"a held answer", fault.Fault{Effect: fault.HoldAnswer, Delay: 30 * time.Second}, codes.OK, 30 * time.Second, 1, 1},
		{"a held request", fault.Fault{Effect: fault.HoldRequest, Delay: 30 * time.Second}, codes.OK, 30 * time.Second, 1, 1},
		{"a request held beyond the deadline", fault.Fault{Effect: fault.HoldRequest, Delay: 150 * time.Second}, codes.DeadlineExceeded, 2 * time.Minute, 0, 1},
		{"a hanging call", fault.Fault{Effect: fault.Hang}, codes.DeadlineExceeded, 2 * time.Minute, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newLine(t, machine.NewMemory("node-a"), 0)
			c.fault.Call = "NodeStageVolume"
			l.wire.Faults.Inject(&c.fault)
			at, err := l.stage(t)
			assert.Equal(t, c.code, status.Code(err))
			assert.Equal(t, c.at, at)
			assert.Len(t, l.server.calls, c.driver)
			l.Kernel.Run(kernel.Until{})
			assert.Len(t, l.server.calls, c.later)
			assert.NotEmpty(t, l.call(t).Injected)
		})
	}
}

func TestADriverThatDoesNotAnswerIsGivenUpAtTheVirtualDeadline(t *testing.T) {
	for name, m := range machines(t) {
		t.Run(name, func(t *testing.T) {
			l := newLine(t, m, 20*time.Millisecond)
			release := make(chan struct{})
			l.server.stage = func(context.Context) error { <-release; return errors.New("too late") }
			at, err := l.stage(t)
			close(release)
			assert.Equal(t, codes.DeadlineExceeded, status.Code(err))
			assert.Equal(t, 2*time.Minute, at)
		})
	}
}

func TestASocketWithoutAListenerIsUnavailableAtOnce(t *testing.T) { // K-RPC-3
	for name, m := range machines(t) {
		t.Run(name, func(t *testing.T) {
			l := newLine(t, m, 0)
			require.NoError(t, m.PowerOff())
			_ = m.Remove(socket)
			at, err := l.stage(t)
			assert.Equal(t, codes.Unavailable, status.Code(err))
			assert.ErrorContains(t, err, `connection error: desc = "transport: Error while dialing: dial unix `+socket+`: connect: no such file or directory"`)
			assert.Zero(t, at)
		})
	}
}

func TestABreachOfTheSpecIsNoted(t *testing.T) {
	l := newLine(t, machine.NewMemory("node-a"), 0)
	k := l.Kernel
	k.Spawn(nil, "kubelet", func(p *kernel.Process) {
		conn := l.wire.Conn(p, wire.Site{Caller: "kubelet", Driver: "d", Node: "node-a", Machine: l.on, Socket: socket, Deadline: time.Minute})
		_, err := csi.NewNodeClient(conn).NodeStageVolume(context.Background(), &csi.NodeStageVolumeRequest{VolumeId: "v"})
		assert.NoError(t, err)
	})
	k.Run(kernel.Until{})
	require.NotEmpty(t, l.wire.Violations())
	assert.Contains(t, l.wire.Violations()[0].String(), "NodeStageVolumeRequest.")
}
