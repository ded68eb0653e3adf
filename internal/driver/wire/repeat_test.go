package wire_test

import (
	"context"
	"fmt"
	"path"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
	"github.com/csisim/csisim/internal/world/trace"
)

const staging = "/var/lib/kubelet/x"

// mountOnce stages like a correct driver; mountAlways mounts on top of an existing mount.
func mountOnce(t *testing.T, m machine.Machine) func(context.Context) error {
	return func(context.Context) error {
		if mounted, err := m.IsMountPoint(staging); err != nil || mounted {
			return err
		}
		return m.BindMount("/volume", staging, false)
	}
}

func mountAlways(t *testing.T, m machine.Machine) func(context.Context) error {
	return func(context.Context) error { return m.BindMount("/volume", staging, false) }
}

func failsThen(t *testing.T, m machine.Machine) func(context.Context) error {
	calls := 0
	return func(context.Context) error {
		if calls++; calls > 1 {
			return status.Error(codes.Internal, "staged already")
		}
		return nil
	}
}

func killedBetween(t *testing.T, m machine.Machine) func(context.Context) error {
	calls := 0
	return func(context.Context) error {
		if calls++; calls > 1 {
			return status.Error(codes.Unavailable, "connection error: connect: connection refused")
		}
		return nil
	}
}

func neverWorks(t *testing.T, m machine.Machine) func(context.Context) error {
	return func(context.Context) error { return status.Error(codes.Internal, "broken") }
}

func TestARepeatedCallIsComparedToTheFirst(t *testing.T) {
	for _, c := range []struct {
		name    string
		driver  func(*testing.T, machine.Machine) func(context.Context) error
		code    codes.Code // for the caller
		calls   int        // that reach the driver
		verdict string
	}{
		{"by a correct driver", mountOnce, codes.OK, 2, ""},
		{"by one that mounts again", mountAlways, codes.OK, 2, "NodeStageVolume is not idempotent: 1 mount, then 2"},
		{"by one that complains", failsThen, codes.OK, 2, "NodeStageVolume is not idempotent: OK, then Internal (staged already)"},
		{"by one that another fault killed in between", killedBetween, codes.OK, 2, ""},
		{"not after an error: nothing has happened", neverWorks, codes.Internal, 1, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := machine.NewMemory("node-a")
			for _, dir := range []string{"/volume", path.Clean(staging)} {
				require.NoError(t, m.MkdirAll(dir, 0o755))
			}
			l := newLine(t, m, 0)
			l.server.stage = c.driver(t, m)
			l.wire.Faults.Inject(&fault.Fault{Call: "*", Effect: fault.Repeat})
			at, err := l.stage(t)
			assert.Equal(t, c.code, status.Code(err))
			assert.Zero(t, at)
			assert.Len(t, l.server.calls, c.calls)
			var verdict string
			for _, v := range l.wire.Violations() {
				verdict += v.String()
			}
			assert.Equal(t, c.verdict, verdict)
			assert.Equal(t, c.calls, recordedCalls(l), "the repeated call is in the trace")
		})
	}
}

func recordedCalls(l *line) int {
	n := 0
	for _, e := range l.Trace.Events() {
		if e.Kind == trace.Call {
			n++
		}
	}
	return n
}

func TestALateAnswerArrivesAfterTheDeadline(t *testing.T) {
	l := newLine(t, machine.NewMemory("node-a"), 0)
	l.wire.Faults.Inject(&fault.Fault{Call: "NodeStageVolume", Effect: fault.LateAnswer})
	at, err := l.stage(t)
	assert.Equal(t, codes.DeadlineExceeded, status.Code(err))
	assert.Equal(t, 2*time.Minute, at)
	assert.Len(t, l.server.calls, 1, "the driver acted at once")
	l.Kernel.Run(kernel.Until{})
	assert.Equal(t, "DeadlineExceeded", l.call(t).Code, fmt.Sprint(l.call(t)))
}

// Given a driver in Go, when the deadline of a call expires in it, then its context ends, and its
// caller gets DeadlineExceeded at the deadline.
func TestTheDeadlineOfACallPassesInADriver(t *testing.T) {
	l := newLine(t, machine.NewMemory("node-a"), 0)
	var seen error
	l.server.stage = func(ctx context.Context) error {
		seen = ctx.Err()
		return nil
	}
	l.wire.Faults.Inject(&fault.Fault{Call: "NodeStageVolume", Effect: fault.TimeOut})
	at, err := l.stage(t)
	assert.Equal(t, context.DeadlineExceeded, seen)
	assert.Equal(t, codes.DeadlineExceeded, status.Code(err))
	assert.Equal(t, 2*time.Minute, at)
	assert.Equal(t, "deadline passed while the driver worked on it", l.call(t).Injected)
}
