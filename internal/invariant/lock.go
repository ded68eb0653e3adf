package invariant

import (
	"fmt"
	"time"

	"github.com/csisim/csisim/internal/judge/contract"
	"github.com/csisim/csisim/internal/world/trace"
)

// keepsLock is how a breach is worded.
const keepsLock = "is answered with ABORTED though no call is under way"

var lockEnds = &Invariant{
	Name: "locks", Holds: "a lock ends with its call: ABORTED is answered while another call for the volume is under way, and clears",
	Reason: "callers repeat for ever, and only a restart of the driver helps", Rules: []string{"CSI spec: Error Scheme, ABORTED"}, Blame: Driver, Rank: Breach,
	breaks: has(" " + keepsLock + ": "),
}

// lockPatience is how long, in virtual time, a volume may be said to be in use without a call: a driver may end later than its answer.
const lockPatience = 10 * time.Second

// lock is what is known of the lock of a volume.
type lock struct {
	pending int           // calls under way
	doubt   bool          // a call ended without an answer of the driver, which may still work on it
	since   time.Duration // of the first ABORTED without another call, 0 for none
}

// lockOf is that of the volume that a call is about; nil if it is about none.
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
	case call.At-l.since >= lockPatience:
		w.OnBreach(call, contract.Violation{Method: call.Method, Rule: keepsLock, Detail: fmt.Sprintf("volume %s is locked still", id)})
	}
}
