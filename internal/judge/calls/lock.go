package calls

import (
	"time"

	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/judge/verdict"
	"github.com/csisim/csisim/internal/world/trace"
)

// lockPatience is the virtual time for which a driver may report that a volume is in use although
// no call is in progress, because the driver may still be working after its answer.
const lockPatience = 10 * time.Second

// lock is the known state of a volume's lock.
type lock struct {
	pending int // calls under way
	// A call ended without an answer of the driver, which may still be working on it.
	doubt bool
	since time.Duration // time of the first ABORTED while no other call was in progress; 0 for none
}

// lockOf returns the lock of the volume that a call names, with the volume's id; nil if the call
// names none.
func (w *Watch) lockOf(call *trace.Event) (*lock, string) {
	about, ok := call.Request.(interface{ GetVolumeId() string })
	if !ok {
		return nil, ""
	}
	return &w.of(call.Driver, about.GetVolumeId()).lock, about.GetVolumeId()
}

func (w *Watch) lockBegan(call *trace.Event) {
	if l, _ := w.lockOf(call); l != nil {
		l.pending++
	}
}

func (w *Watch) lockEnded(call *trace.Event) {
	l, id := w.lockOf(call)
	if l == nil {
		return
	}
	l.pending--
	switch {
	case call.Code == "DeadlineExceeded", call.Code == "Canceled":
		l.doubt = true
	case call.Injected != "": // the fault's doing
	case call.Code != "Aborted":
		l.since, l.doubt = 0, false
	case l.pending > 0 || l.doubt:
	case l.since == 0:
		l.since = call.At + 1
	case call.At-l.since >= lockPatience && !w.MayWork(call):
		w.OnBreach(call, contract.Broken(call.Method, contract.KeepsLock, verdict.Say("volume %s is locked still", id)))
	}
}
