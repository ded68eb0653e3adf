package wire_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/container-storage-interface/spec/lib/go/csi"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/status"

	"github.com/csisim/csisim/drivers/fault"
	"github.com/csisim/csisim/internal/driver/wire"
	"github.com/csisim/csisim/internal/world/kernel"
	"github.com/csisim/csisim/internal/world/machine"
)

// reaper is a cluster in which only the caller can be killed. It records the other victims.
type reaper struct {
	*line
	caller *kernel.Group
	did    []string
	fails  error
}

func (r *reaper) Kill(victim fault.Victim, at wire.Site) error {
	r.note("kill", victim, at)
	if victim == fault.Caller || victim == fault.Node {
		r.caller.Crash()
	}
	return r.fails
}

func (r *reaper) Restart(f *fault.Fault, at wire.Site) error {
	r.note("restart", f.Victim, at)
	return nil
}

func (r *reaper) note(what string, victim fault.Victim, at wire.Site) {
	r.did = append(r.did, fmt.Sprintf("%v %s %s on %s after %d calls", r.Kernel.Elapsed(), what, victim, at.Node, len(r.server.calls)))
}

// crash makes one call with a victim; answer is empty if the caller received none.
func crash(t *testing.T, f fault.Fault) (r *reaper, answer string) {
	r = &reaper{line: newLine(t, machine.NewMemory("node-a"), 0), caller: kernel.NewGroup("kubelet")}
	r.wire.Crasher = r
	f.Call, f.Effect = "NodeStageVolume", fault.Kill
	r.wire.Faults.Inject(&f)
	r.Kernel.Spawn(r.caller, "kubelet", func(p *kernel.Process) {
		conn := r.wire.Conn(p, wire.Site{
			Caller: "kubelet", Driver: "d", Node: "node-a", Machine: r.on, Socket: socket, Deadline: 2 * time.Minute,
		})
		_, err := csi.NewNodeClient(conn).NodeStageVolume(context.Background(), &csi.NodeStageVolumeRequest{VolumeId: "v"})
		answer = status.Code(err).String()
	})
	r.Kernel.Run(kernel.Until{})
	return r, answer
}

// Facts 51 to 55 of the recorded traces.
func TestTheVictimOfACallDies(t *testing.T) {
	for _, c := range []struct {
		name   string
		fault  fault.Fault
		before int    // calls that the driver had finished when the victim was killed
		after  int    // and at the end
		answer string // of the caller
		code   string // in the trace
	}{
		{"the driver on receipt", fault.Fault{Victim: fault.Driver, At: fault.OnReceipt}, 0, 0, "Unavailable", "Unavailable"},
		{"the driver at work", fault.Fault{Victim: fault.Driver, At: fault.AtWork}, 1, 1, "Unavailable", "Unavailable"},
		{"the driver before its answer", fault.Fault{Victim: fault.Driver, At: fault.BeforeAnswer}, 1, 1, "Unavailable", "Unavailable"},
		{"the caller on receipt", fault.Fault{Victim: fault.Caller, At: fault.OnReceipt}, 0, 1, "", "Canceled"},
		{"the caller while the driver works", fault.Fault{Victim: fault.Caller, At: fault.AtWork}, 1, 1, "", "Canceled"},
		{"the caller before the answer", fault.Fault{Victim: fault.Caller, At: fault.BeforeAnswer}, 1, 1, "", "Canceled"},
		{"the node on receipt", fault.Fault{Victim: fault.Node, At: fault.OnReceipt}, 0, 0, "", "Canceled"},
		{"the node before the answer", fault.Fault{Victim: fault.Node, At: fault.BeforeAnswer}, 1, 1, "", "Canceled"},
		{"another component on receipt", fault.Fault{Victim: "attachdetach", At: fault.OnReceipt}, 0, 1, "OK", ""},
		{"another component before the answer", fault.Fault{Victim: "attachdetach", At: fault.BeforeAnswer}, 1, 1, "OK", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.fault.RestartAfter = 3 * time.Second
			r, answer := crash(t, c.fault)
			require.NoError(t, r.Kernel.Err())
			assert.Equal(t, []string{
				fmt.Sprintf("0s kill %s on node-a after %d calls", c.fault.Victim, c.before),
				fmt.Sprintf("3s restart %s on node-a after %d calls", c.fault.Victim, c.after),
			}, r.did)
			assert.Equal(t, c.answer, answer)
			assert.Equal(t, c.code, r.call(t).Code)
			assert.Contains(t, r.call(t).Injected, string(c.fault.Victim)+" killed")
		})
	}
}

func TestAVictimWithoutARestartStaysDown(t *testing.T) {
	r, _ := crash(t, fault.Fault{Victim: fault.Driver, At: fault.OnReceipt})
	assert.Len(t, r.did, 1)
}

func TestALostConnectionIsReportedInTheWordsOfGRPC(t *testing.T) {
	r, _ := crash(t, fault.Fault{Victim: fault.Driver, At: fault.OnReceipt})
	assert.Equal(t, "error reading from server: EOF", r.call(t).Message)
}

func TestAVictimThatCannotBeKilledEndsTheRun(t *testing.T) {
	l := newLine(t, machine.NewMemory("node-a"), 0)
	r := &reaper{line: l, fails: errors.New("it was started elsewhere")}
	l.wire.Crasher = r
	l.wire.Faults.Inject(&fault.Fault{Call: "*", Effect: fault.Kill, Victim: fault.Driver, At: fault.OnReceipt})
	l.Kernel.Spawn(nil, "kubelet", func(p *kernel.Process) {
		conn := l.wire.Conn(p, wire.Site{Caller: "kubelet", Driver: "d", Node: "node-a", Machine: l.on, Socket: socket, Deadline: time.Minute})
		_, _ = csi.NewNodeClient(conn).NodeStageVolume(context.Background(), &csi.NodeStageVolumeRequest{})
	})
	assert.Equal(t, kernel.Failed, l.Kernel.Run(kernel.Until{}))
	assert.EqualError(t, l.Kernel.Err(), "kill driver at Node/NodeStageVolume: it was started elsewhere")
}

// An unfinished record would block all later ones.
func TestACallEndsWithItsCaller(t *testing.T) {
	for _, c := range []struct {
		name   string
		faults []fault.Fault
		ends   time.Duration
	}{
		{"if it hangs", []fault.Fault{{Effect: fault.Hang}}, 30 * time.Second},
		{"if the driver does not answer", nil, 30 * time.Second},
		{"but for one that takes its course", []fault.Fault{{Effect: fault.HoldRequest, Delay: time.Minute}}, time.Minute},
	} {
		t.Run(c.name, func(t *testing.T) {
			disk, err := machine.NewDisk("node-a", t.TempDir())
			require.NoError(t, err)
			patience := 2 * time.Second
			if len(c.faults) == 0 {
				patience = 20 * time.Millisecond // the wait for it times out
			}
			l := newLine(t, disk, patience)
			for _, f := range c.faults {
				f.Call = "*"
				l.wire.Faults.Inject(&f)
			}
			l.server.stage = func(ctx context.Context) error {
				if len(c.faults) == 0 {
					<-ctx.Done()
				}
				return nil
			}
			kubelet := kernel.NewGroup("kubelet")
			l.Kernel.Spawn(kubelet, "kubelet", func(p *kernel.Process) {
				conn := l.wire.Conn(p, wire.Site{Caller: "kubelet", Driver: "d", Node: "node-a", Machine: l.on, Socket: socket, Deadline: 2 * time.Minute})
				_, _ = csi.NewNodeClient(conn).NodeStageVolume(context.Background(), &csi.NodeStageVolumeRequest{})
			})
			l.Kernel.Run(kernel.Until{At: 30 * time.Second})
			kubelet.Crash()
			l.Kernel.Run(kernel.Until{At: 2 * time.Minute})
			assert.Equal(t, "Canceled", l.call(t).Code)
			assert.Equal(t, "the caller has exited", l.call(t).Message)
			assert.Equal(t, c.ends, l.call(t).Took)
		})
	}
}
