// Package fault describes faults between a caller and a driver. It decides for each call whether a
// fault applies.
package fault

import (
	"path"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
)

// Fault is a fault and the calls that it affects. Empty filters match all.
type Fault struct {
	// Name identifies the fault in reports and in requests to clear it.
	Name string
	// Call is the method, such as "NodeStageVolume"; * matches any letters.
	Call string
	// Driver, Node, From and Volume restrict the calls: the driver's name, the called node ("" for
	// any), the caller ("csi-attacher"), and the volume id. For CreateVolume, Volume is the
	// requested name.
	Driver, Node, From, Volume string
	// LargerThan restricts the fault to calls that require more bytes; 0 means no limit. With a
	// limit, calls without a required size are not affected.
	LargerThan int64
	// After lets this many matching calls pass first.
	After int
	// Times is the number of calls affected; 0 is all until the fault is cleared.
	Times int

	// Effect is the effect on the call.
	Effect Effect
	// Code and Message are the error that the caller receives with Answer and LoseAnswer.
	Code    codes.Code
	Message string
	// Response is the response, as JSON, that the caller receives with Instead.
	Response []byte
	// Delay is the virtual time for which HoldRequest and HoldAnswer hold the call; 0 means until
	// the fault is cleared.
	Delay time.Duration
	// Victim is the component that Kill kills at a moment of the call. It is restarted after
	// RestartAfter of virtual time; 0 leaves it down.
	Victim       Victim
	At           Moment
	RestartAfter time.Duration
	// RestartAs is the release that starts after RestartAfter if Victim is Driver: a release of the
	// driver's program, or NextRelease. Default: the release that was killed.
	RestartAs string
	// Changes counts changes of files by a driver's program. Just before the next change, AtWork
	// kills the victim, TimeOut lets the deadline pass, and Stall stops the program. Default 1.
	// Creating or truncating a file is one change, and writing to it is another. Renaming,
	// removing, mounting and unmounting are also changes. A call with fewer changes ends first.
	Changes int
	// System is a system call. FailSystemCall makes it fail with the error Fails, such as "EBUSY";
	// Kill kills the victim before it. With FailSystemCall, Times is the number of failing system
	// calls. A CSI call that does not make this system call is not affected.
	System SystemCall
	Fails  string
	// Request is the HTTP request of the driver's program that FailRequest makes fail. Fails names
	// the failure: "HTTP 500", "reset". Times is the number of failing requests. A CSI call that
	// does not make this request is not affected.
	Request Request
	// Action is the action with Meanwhile.
	Action Action

	seen, fired int
	cleared     bool
	onClear     []func()
}

// NextRelease is the release after the current one. The names of the other releases define the
// order; the first installed release is last.
const NextRelease = "next release"

// Cleared reports whether the fault is no longer in force.
func (f *Fault) Cleared() bool { return f.cleared }

// OnClear registers a function that is called when the fault is cleared.
func (f *Fault) OnClear(what func()) { f.onClear = append(f.onClear, what) }

func (f *Fault) clear() {
	f.cleared = true
	for _, what := range f.onClear {
		what()
	}
}

// Effect is the kind of fault.
type Effect string

const (
	// Answer: the driver does not receive the call, the caller receives Code.
	Answer Effect = "answer"
	// Instead: the driver does not receive the call, the caller receives Response.
	Instead Effect = "instead"
	// LoseAnswer: the driver executes the call, the caller receives Code (default Unavailable).
	LoseAnswer Effect = "lose-answer"
	// HoldRequest: the call reaches the driver after Delay, even if its caller has given up.
	HoldRequest Effect = "hold-request"
	// HoldAnswer: the driver acts immediately, and its answer arrives after Delay.
	HoldAnswer Effect = "hold-answer"
	// LateAnswer: the driver acts immediately, and its answer arrives after the caller has given
	// up.
	LateAnswer Effect = "late-answer"
	// TimeOut: the deadline of the call expires while the driver works on it, between two changes
	// of files (Changes) if csisim can observe them. This ends the call's context. The driver may
	// finish its work, but its answer is lost.
	TimeOut Effect = "time-out"
	// Stall: the driver's program stops during the call, between two changes of files (Changes). It
	// continues when its caller has given up and other calls have arrived. A driver without
	// observable changes acts immediately, and its answer is late.
	Stall Effect = "stall"
	// LateEffect: the driver receives the call and acts only after the caller has given up.
	LateEffect Effect = "late-effect"
	// Hang: the driver does not receive the call, and the caller gets no answer.
	Hang Effect = "hang"
	// Repeat: after an OK answer the driver immediately receives the same call again. The call must
	// change nothing and return the same answer. It affects only calls that have an effect; the
	// caller receives the first answer.
	Repeat Effect = "repeat"
	// Overlap: the driver receives the same call twice at once and may answer one of them with
	// ABORTED. The effect must equal the effect of one call. It affects only calls that have an
	// effect; the caller receives one answer.
	Overlap Effect = "overlap"
	// Contradict: after an OK answer the driver immediately receives a second call that contradicts
	// the first, and must reject it. The second call attaches a single-node volume to another node,
	// creates a larger volume of the same name, or publishes a volume for a single writer at
	// another path. The caller does not notice it.
	Contradict Effect = "contradict"
	// Fill: after an OK answer, csisim writes a file to the volume and calls the driver's program
	// again, with the file and without it. It affects only NodeGetVolumeStats; the caller receives
	// the first answer.
	Fill Effect = "fill"
	// InUse: the mounts of a driver's program are in use during the call. The first attempt to
	// unmount a mount fails with EBUSY, unless the driver detaches it (MNT_DETACH).
	InUse Effect = "in-use"
	// FailSystemCall: a system call of the driver's program fails without taking effect.
	FailSystemCall Effect = "fail-system-call"
	// FailRequest: a request of the driver's program to a stand-in for its service fails.
	FailRequest Effect = "fail-request"
	// FailMounted: file systems that are mounted at the call's paths fail with the error Fails,
	// until they are unmounted. They fail while a driver's program works on the call.
	FailMounted Effect = "fail-mounted"
	// Kill: the victim is killed during the call. If the victim is the driver, the caller's
	// connection is lost. Otherwise the call continues, even if its caller is the victim.
	Kill Effect = "kill"
	// Meanwhile: Action happens during the call, which continues normally.
	Meanwhile Effect = "meanwhile"
)

// Site describes a call.
type Site struct {
	Method             string // "Node/NodeStageVolume"
	Driver, Node, From string
	Volume             string
	Bytes              int64 // the bytes that the call requires
}

// Matches reports whether the filters of the fault select the call.
func (f *Fault) Matches(s Site) bool {
	_, short, _ := strings.Cut(s.Method, "/")
	return (matches(f.Call, short) || matches(f.Call, s.Method)) &&
		(f.Driver == "" || f.Driver == s.Driver) && (f.Node == "" || f.Node == s.Node) &&
		(f.From == "" || f.From == s.From || strings.HasPrefix(s.From, f.From+"/")) && (f.LargerThan == 0 || s.Bytes > f.LargerThan) && (f.Volume == "" || matches(f.Volume, s.Volume))
}

func matches(pattern, text string) bool {
	ok, err := path.Match(pattern, text)
	return err == nil && ok
}
